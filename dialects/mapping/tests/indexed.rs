//! Gathers and scatters against enumeration: the loops are walked element by element, and the indices of each step in
//! table, index and rows are looked up in the mappings.

use std::collections::BTreeSet;
use visa_algebra::{Axes, AxisId, Cell, Index, Map};
use visa_machine::Machine;
use visa_mapping::{HBM, Indexed, Operand, Tensor, gather, parse_tensor, scatter};
use visa_support::Random;

const AXES: [(&str, u64); 5] = [("V", 7), ("B", 2), ("T", 3), ("U", 4), ("D", 6)];

fn axes() -> Axes {
    let mut axes = Axes::new();
    for (name, size) in AXES {
        axes.declare(name, size).unwrap();
    }
    axes
}

/// A tensor in HBM, with the index of each of its positions that has one.
struct Held<'a> {
    tensor: Tensor,
    cells: Vec<Option<Index>>,
    axes: &'a Axes,
}

impl<'a> Held<'a> {
    fn new(dtype: &str, element: &str, axes: &'a Axes) -> Self {
        let parsed = parse_tensor(&HBM, &format!("{dtype}, [1], [{element}]")).unwrap().into_any();
        let tensor = parsed.downcast_ref::<Tensor>().unwrap().clone();
        let map = Map::new(&tensor.maps[1], axes).unwrap();
        let cells = (0..map.size()).map(|position| match map.cell(position) {
            Some(Cell::Live(index)) => Some(index),
            Some(Cell::Pad(_) | Cell::Shared(_)) | None => None,
        });
        Self { cells: cells.collect(), tensor, axes }
    }

    /// The index that the element at a byte has.
    fn at(&self, byte: i64) -> &Index {
        let (byte, size) = (usize::try_from(byte).unwrap(), self.tensor.dtype.align() as usize);
        assert_eq!(byte % size, 0);
        self.cells[byte / size]
            .as_ref()
            .unwrap_or_else(|| panic!("byte {byte} of {} is padding", self.tensor))
    }

    fn has(&self, name: &str) -> bool {
        self.tensor.axis_names(self.axes).iter().any(|own| **own == *name)
    }

    /// The axes that it does not have.
    fn free(&self) -> impl Fn(AxisId) -> bool + use<'a> {
        let (own, axes) = (self.tensor.axis_names(self.axes), self.axes);
        move |axis| own.iter().all(|name| **name != *axes.name(axis))
    }
}

/// The coordinates along each axis but V of the elements of several tensors at the same step; they agree on it.
fn agreed(sides: &[(&Held<'_>, &Index)], ids: &[AxisId]) -> Vec<Option<u64>> {
    let along = |(id, (name, _)): (&AxisId, &(&str, u64))| {
        let own = sides.iter().filter(|(side, _)| side.has(name)).map(|(_, index)| index.get(*id));
        let own: BTreeSet<u64> = own.collect();
        assert!(own.len() <= 1, "{name} is {own:?}");
        own.first().copied()
    };
    ids.iter().zip(&AXES).skip(1).map(along).collect()
}

/// The addresses that each step reads, writes and takes as its index.
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

/// As many random layouts as are tried in each direction.
const CASES: u64 = 400;

#[test]
fn every_step_of_a_gather_is_of_one_index_and_one_place_of_a_row() {
    let (mut random, axes, machine) = (Random(41), axes(), Machine::rngd());
    let ids = AXES.map(|(name, _)| axes.id(name).unwrap());
    let (mut planned, mut in_common) = (0, 0);
    for _ in 0..CASES {
        let common = random.below(2) == 0;
        let of_table: &[&str] = if common || random.below(2) == 0 { &["V", "B", "D"] } else { &["V", "D"] };
        let of_index: &[&str] = if common { &["B", "T", "U"] } else { &["T", "U"] };
        let own = |name: &&str| *name != "V" && (of_table.contains(name) || of_index.contains(name));
        let of_result: Vec<&str> = AXES.iter().map(|(name, _)| *name).filter(own).collect();
        let table = Held::new("bf16", &layout(&mut random, of_table), &axes);
        let index = Held::new("i32", &layout(&mut random, of_index), &axes);
        let result = Held::new("bf16", &layout(&mut random, &of_result), &axes);
        let (of_table, of_index) = (table.free(), index.free());
        let from = Operand { tensor: &table.tensor, free: &of_table };
        let by = Operand { tensor: &index.tensor, free: &of_index };
        let Ok(plan) = gather(from, by, &result.tensor, ids[0], &axes, &machine) else { continue };
        let mut written = BTreeSet::new();
        for [read, write, by] in walk(&plan, 2) {
            assert!(written.insert(write), "{}: byte {write} is written twice", result.tensor);
            let row = table.at(read);
            assert_eq!((row.get(ids[0]), table.at(read + plan.distance).get(ids[0])), (0, 1));
            agreed(&[(&table, row), (&index, index.at(by)), (&result, result.at(write))], &ids);
        }
        let all = result.cells.iter().flatten().count();
        assert_eq!((written.len(), plan.count), (all, 7), "{} of {}", result.tensor, table.tensor);
        planned += 1;
        in_common += u64::from(common);
    }
    assert!(planned > 100 && in_common > 30, "{planned} have loops, {in_common} an axis in common");
}

#[test]
fn every_step_of_a_scatter_is_of_one_index_and_one_place_of_a_row() {
    let (mut random, axes, machine) = (Random(43), axes(), Machine::rngd());
    let ids = AXES.map(|(name, _)| axes.id(name).unwrap());
    let (mut planned, mut lacking) = (0, 0);
    for _ in 0..CASES {
        let (common, lacks) = (random.below(2) == 0, random.below(3) == 0);
        let (of_table, of_index): (&[&str], &[&str]) =
            if common { (&["V", "B", "D"], &["B", "T", "U"]) } else { (&["V", "D"], &["T", "U"]) };
        let of_rows: &[&str] = match (common, lacks) {
            (true, true) => &["B", "T", "D"],
            (true, false) => &["B", "T", "U", "D"],
            (false, true) => &["T", "D"],
            (false, false) => &["T", "U", "D"],
        };
        let table = Held::new("f32", &layout(&mut random, of_table), &axes);
        let index = Held::new("i32", &layout(&mut random, of_index), &axes);
        let rows = Held::new("f32", &layout(&mut random, of_rows), &axes);
        let (of_rows, of_index) = (rows.free(), index.free());
        let from = Operand { tensor: &rows.tensor, free: &of_rows };
        let by = Operand { tensor: &index.tensor, free: &of_index };
        let Ok(plan) = scatter(from, by, &table.tensor, ids[0], &axes, &machine) else { continue };
        let mut seen = BTreeSet::new();
        for [read, write, by] in walk(&plan, 4) {
            let made = table.at(write);
            assert_eq!((made.get(ids[0]), table.at(write + plan.distance).get(ids[0])), (0, 1));
            let place = agreed(&[(&rows, rows.at(read)), (&index, index.at(by)), (&table, made)], &ids);
            assert!(seen.insert(place), "{}: visited twice", rows.tensor);
        }
        let all = if common { 2 * 3 * 4 * 6 } else { 3 * 4 * 6 };
        assert_eq!((seen.len(), plan.count), (all, 7), "{} into {}", rows.tensor, table.tensor);
        planned += 1;
        lacking += u64::from(lacks);
    }
    assert!(planned > 100 && lacking > 25, "{planned} have loops, {lacking} rows without an axis");
}

/// Rows are counted up to the padding after them.
#[test]
fn the_rows_of_a_table() {
    let (axes, machine) = (axes(), Machine::rngd());
    let found = |element: &str| {
        let (table, index) = (Held::new("i8", element, &axes), Held::new("i32", "T", &axes));
        let result = Held::new("i8", "T, D", &axes);
        let (of_table, of_index) = (table.free(), index.free());
        let from = Operand { tensor: &table.tensor, free: &of_table };
        let by = Operand { tensor: &index.tensor, free: &of_index };
        let plan = gather(from, by, &result.tensor, axes.id("V").unwrap(), &axes, &machine);
        plan.map(|plan| (plan.distance, plan.count)).map_err(|error| error.to_string())
    };
    assert_eq!(found("V, D"), Ok((6, 7)));
    assert_eq!(found("V # 20, D # 8"), Ok((8, 7)));
    assert_eq!(found("V = 5, D"), Ok((6, 5)));
    assert_eq!(found("D, V"), Ok((1, 7)));
    assert_eq!(found("D / 3, V # 8, D % 3"), Ok((3, 7)));
    assert!(found("V # 8 / 4, D, V # 8 % 4").unwrap_err().contains("V is in 2 parts"));
    assert!(found("V @ 2, D").unwrap_err().contains("the first is 2, expected 0"));
}
