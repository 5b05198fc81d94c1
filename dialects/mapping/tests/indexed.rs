//! Gathers and scatters against enumeration: the loops are walked element by element, and what each step names in
//! table, index and rows is looked up in the mappings.

use std::collections::BTreeSet;
use visa_machine::Machine;
use visa_mapping::{Axes, Cell, HBM, Index, Indexed, Map, Operand, Tensor, gather, parse_tensor, scatter};
use visa_support::Random;

const AXES: [(&str, u64); 5] = [("V", 7), ("B", 2), ("T", 3), ("U", 4), ("D", 6)];

fn axes() -> Axes {
    let mut axes = Axes::new();
    AXES.iter().for_each(|(name, size)| axes.declare(name, *size).unwrap());
    axes
}

fn tensor(dtype: &str, element: &str) -> Tensor {
    let parsed = parse_tensor(&HBM, &format!("{dtype}, [1], [{element}]")).unwrap().into_any();
    parsed.downcast_ref::<Tensor>().unwrap().clone()
}

/// The index that an element at a byte of a tensor has.
fn held(tensor: &Tensor, byte: i64) -> Index {
    let map = Map::new(&tensor.maps[1], &axes()).unwrap();
    let (byte, size) = (u64::try_from(byte).unwrap(), tensor.dtype.align());
    assert_eq!(byte % size, 0);
    match map.cell(byte / size) {
        Some(Cell::Live(index)) => index,
        other => panic!("byte {byte} of {tensor} is {other:?}"),
    }
}

/// What each step reads, writes and takes as its index.
fn walk(plan: &Indexed, size: u64) -> Vec<[i64; 3]> {
    let (element, loops) = plan.loops.split_last().unwrap();
    assert_eq!((element.limit, element.write), (size, 1));
    let rows = plan.rows.iter().map(|row| (&row.step, row.index));
    let mut all = vec![[plan.read_base, plan.write_base, plan.index_base]];
    for (step, index) in rows.chain(loops.iter().map(|step| (step, 0))) {
        let moved = [step.read.fixed().unwrap(), step.write, index];
        let each = |at: &[i64; 3]| {
            let start = *at;
            (0..i64::try_from(step.limit).unwrap())
                .map(move |times| [0, 1, 2].map(|side| start[side] + times * moved[side]))
        };
        all = all.iter().flat_map(each).collect();
    }
    all
}

/// The digits of these axes in any order, some of them split, some padded.
fn layout(random: &mut Random, names: &[&str]) -> String {
    let mut digits: Vec<String> = Vec::new();
    for &name in names {
        match (name, random.below(4)) {
            ("D", 0) => digits.extend(["D / 3".to_owned(), "D % 3".to_owned()]),
            ("D", 1) => digits.extend(["D / 2".to_owned(), "D % 2".to_owned()]),
            ("U", 0) => digits.extend(["U / 2".to_owned(), "U % 2".to_owned()]),
            (_, 3) => digits.push(format!("{name} # 9")),
            _ => digits.push(name.to_owned()),
        }
    }
    random.shuffle(&mut digits);
    digits.join(", ")
}

/// Coordinates along an axis.
fn at(index: &Index, name: &str) -> u64 {
    index.get(axes().id(name).unwrap())
}

fn has(tensor: &Tensor, name: &str) -> bool {
    tensor.axis_names(&axes()).iter().any(|own| **own == *name)
}

/// Whether two tensors say the same of an axis that both have.
fn agree(name: &str, sides: &[(&Tensor, &Index)]) -> Option<u64> {
    let own: BTreeSet<u64> =
        sides.iter().filter(|(tensor, _)| has(tensor, name)).map(|(_, index)| at(index, name)).collect();
    assert!(own.len() <= 1, "{name} is {own:?} in {sides:?}");
    own.first().copied()
}

fn free<'a>(tensor: &Tensor, axes: &'a Axes) -> impl Fn(visa_mapping::AxisId) -> bool + use<'a> {
    let own = tensor.axis_names(axes);
    move |axis| own.iter().all(|name| **name != *axes.name(axis))
}

#[test]
fn every_step_of_a_gather_is_of_one_index_and_one_place_of_a_row() {
    let (mut random, axes, machine) = (Random(41), axes(), Machine::rngd());
    let (mut planned, mut in_common) = (0, 0);
    for _ in 0..1_500 {
        let common = random.below(2) == 0;
        let of_table: &[&str] = if random.below(2) == 0 || common { &["V", "B", "D"] } else { &["V", "D"] };
        let of_index: &[&str] = if common { &["B", "T", "U"] } else { &["T", "U"] };
        let of_result: Vec<&str> = AXES.iter().map(|(name, _)| *name).filter(|name| *name != "V").collect();
        let of_result: Vec<&str> =
            of_result.into_iter().filter(|name| of_table.contains(name) || of_index.contains(name)).collect();
        let table = tensor("bf16", &layout(&mut random, of_table));
        let index = tensor("i32", &layout(&mut random, of_index));
        let result = tensor("bf16", &layout(&mut random, &of_result));
        let (of_table, of_index) = (free(&table, &axes), free(&index, &axes));
        let [first, second] =
            [Operand { tensor: &table, free: &of_table }, Operand { tensor: &index, free: &of_index }];
        let along = axes.id("V").unwrap();
        let Ok(plan) = gather(first, second, &result, along, &axes, &machine) else { continue };
        let mut written = BTreeSet::new();
        for [read, write, by] in walk(&plan, 2) {
            assert!(written.insert(write), "{result}: byte {write} is written twice");
            let [row, chosen, made] = [held(&table, read), held(&index, by), held(&result, write)];
            assert_eq!(at(&row, "V"), 0);
            let second = held(&table, read + plan.distance);
            assert_eq!((at(&second, "V"), at(&second, "D")), (1, at(&row, "D")));
            for (name, _) in &AXES[1..] {
                agree(name, &[(&table, &row), (&index, &chosen), (&result, &made)]);
            }
        }
        let all: u64 =
            AXES[1..].iter().filter(|(name, _)| has(&result, name)).map(|(_, size)| size).product();
        assert_eq!((written.len() as u64, plan.count), (all, 7), "{table}, {index} -> {result}");
        planned += 1;
        in_common += u64::from(common);
    }
    assert!(planned > 500 && in_common > 150, "{planned} have loops, {in_common} an axis in common");
}

#[test]
fn every_step_of_a_scatter_is_of_one_index_and_one_place_of_a_row() {
    let (mut random, axes, machine) = (Random(43), axes(), Machine::rngd());
    let (mut planned, mut lacking) = (0, 0);
    for _ in 0..1_500 {
        let common = random.below(2) == 0;
        let (of_table, of_index): (&[&str], &[&str]) =
            if common { (&["V", "B", "D"], &["B", "T", "U"]) } else { (&["V", "D"], &["T", "U"]) };
        let lacks = random.below(3) == 0;
        let of_rows: &[&str] = match (common, lacks) {
            (true, true) => &["B", "T", "D"],
            (true, false) => &["B", "T", "U", "D"],
            (false, true) => &["T", "D"],
            (false, false) => &["T", "U", "D"],
        };
        let table = tensor("f32", &layout(&mut random, of_table));
        let index = tensor("i32", &layout(&mut random, of_index));
        let rows = tensor("f32", &layout(&mut random, of_rows));
        let (of_rows, of_index) = (free(&rows, &axes), free(&index, &axes));
        let [first, second] =
            [Operand { tensor: &rows, free: &of_rows }, Operand { tensor: &index, free: &of_index }];
        let along = axes.id("V").unwrap();
        let Ok(plan) = scatter(first, second, &table, along, &axes, &machine) else { continue };
        let mut seen = BTreeSet::new();
        for [read, write, by] in walk(&plan, 4) {
            let [given, chosen, made] = [held(&rows, read), held(&index, by), held(&table, write)];
            assert_eq!(at(&made, "V"), 0);
            assert_eq!(at(&held(&table, write + plan.distance), "V"), 1);
            let sides = [(&rows, &given), (&index, &chosen), (&table, &made)];
            let place: Vec<_> = AXES[1..].iter().map(|(name, _)| agree(name, &sides)).collect();
            assert!(seen.insert(place), "{rows}, {index}: visited twice");
        }
        let all: u64 = if common { 2 * 3 * 4 * 6 } else { 3 * 4 * 6 };
        assert_eq!((seen.len() as u64, plan.count), (all, 7), "{rows}, {index} -> {table}");
        planned += 1;
        lacking += u64::from(lacks);
    }
    assert!(planned > 500 && lacking > 100, "{planned} have loops, {lacking} rows without an axis");
}

/// Rows are counted up to the padding after them.
#[test]
fn the_rows_of_a_table() {
    let (axes, machine) = (axes(), Machine::rngd());
    let found = |element: &str| {
        let (table, index) = (tensor("i8", element), tensor("i32", "T"));
        let result = tensor("i8", "T, D");
        let (of_table, of_index) = (free(&table, &axes), free(&index, &axes));
        let along = axes.id("V").unwrap();
        let [first, second] =
            [Operand { tensor: &table, free: &of_table }, Operand { tensor: &index, free: &of_index }];
        let plan = gather(first, second, &result, along, &axes, &machine);
        plan.map(|plan| (plan.distance, plan.count)).map_err(|error| error.to_string())
    };
    assert_eq!(found("V, D"), Ok((6, 7)));
    assert_eq!(found("V # 20, D # 8"), Ok((8, 7)));
    assert_eq!(found("V = 5, D"), Ok((6, 5)));
    assert_eq!(found("D, V"), Ok((1, 7)));
    assert_eq!(found("D / 3, V # 8, D % 3"), Ok((3, 7)));
    assert_eq!(found("V # 8 / 4, D, V # 8 % 4").unwrap_err().matches("V is in 2 parts").count(), 1);
    assert_eq!(found("V @ 2, D").unwrap_err().matches("the first is 2, expected 0").count(), 1);
}
