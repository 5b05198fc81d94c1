//! The evaluator against the mappings themselves, written out position by position: a tensor holds at each position of
//! its mapping the element of the argument that the book specifies (book 03). The enumerator below is written from the
//! book's definitions; it shares no code with the evaluator, the lowering, or the crates' cells and digits. It reads
//! the expressions with the crate's parser, no more.

use std::collections::{BTreeMap, BTreeSet};

use super::support::{Random, arguments, bytes_i32, context, read};
use visa_algebra::{Expr, PadKind, Side};
use visa_reference::{LogicalResult, Options, evaluate};

/// A tensor index: coordinates by axis; an axis that is named has one, which may be 0.
type Index = BTreeMap<String, u64>;

/// The content of a position: the indices of one element, or padding if there are none.
type Cell = BTreeSet<Index>;

/// The declarations of a kernel.
struct World {
    sizes: BTreeMap<&'static str, u64>,
    /// A skewed axis, of which, by which.
    skewed: Vec<[&'static str; 3]>,
    aliases: BTreeMap<&'static str, &'static str>,
}

impl World {
    fn new() -> Self {
        Self {
            sizes: [("A", 4), ("B", 5), ("C", 6), ("D", 2), ("S", 5), ("T", 6)].into(),
            skewed: vec![["S", "B", "A"], ["T", "C", "D"]],
            aliases: [("L", "[C / 2, D]"), ("M", "[C # 8]")].into(),
        }
    }

    /// The kernel's first lines; `z` is an axis of that many positions.
    fn declarations(&self, z: usize) -> String {
        let plain = |name: &str| self.skewed.iter().all(|[skewed, ..]| *skewed != name);
        let mut sizes: Vec<String> = self
            .sizes
            .iter()
            .filter(|(name, _)| plain(name))
            .map(|(name, size)| format!("{name} = {size}"))
            .collect();
        sizes.push(format!("Z = {z}"));
        sizes.extend(self.skewed.iter().map(|[skewed, of, by]| format!("{skewed} = {of} - {by}")));
        let aliases: String =
            self.aliases.iter().map(|(name, map)| format!("tm.alias @{name}, map {map}\n")).collect();
        format!("tm.axes [{}]\n{aliases}", sizes.join(", "))
    }

    /// The positions of a mapping (book 03, "Constructors").
    fn cells(&self, map: &Expr) -> Vec<Cell> {
        let padding = |count: usize| vec![Cell::new(); count];
        match map {
            Expr::Axis(name) => {
                let at = |i: u64| Cell::from([Index::from([(name.to_string(), i)])]);
                (0..self.sizes[&**name]).map(at).collect()
            }
            Expr::Literal(n) => vec![Cell::from([Index::new()]); *n as usize],
            Expr::Alias(name) => self.cells(&Expr::parse(self.aliases[&**name]).unwrap()),
            Expr::Pair(terms) => terms.iter().fold(vec![Cell::from([Index::new()])], |major, term| {
                let minor = self.cells(term);
                major.iter().flat_map(|major| minor.iter().map(|minor| self.union(major, minor))).collect()
            }),
            Expr::Pad { inner, size, side, .. } => {
                let inner = self.cells(inner);
                let more = padding(*size as usize - inner.len());
                match side {
                    Side::High => [inner, more].concat(),
                    Side::Low => [more, inner].concat(),
                }
            }
            Expr::Resize { inner, size: n } | Expr::Modulo { inner, n } => {
                self.cells(inner).into_iter().take(*n as usize).collect()
            }
            Expr::Stride { inner, n } => self.cells(inner).into_iter().step_by(*n as usize).collect(),
            Expr::Slice { inner, offset } => self.cells(inner).into_iter().skip(*offset as usize).collect(),
            Expr::Gather { inner, table } => {
                let inner = self.cells(inner);
                table.iter().map(|&at| inner[at as usize].clone()).collect()
            }
            Expr::Slide(terms) => {
                let terms: Vec<_> =
                    terms.iter().map(|(term, stride)| (self.cells(term), *stride as usize)).collect();
                self.sums(&terms)
            }
            // `e1 * e2` is `$(e1 : size(e2), e2 : 1)`.
            Expr::Outer(terms) => terms.iter().fold(vec![Cell::from([Index::new()])], |major, term| {
                let minor = self.cells(term);
                let size = minor.len();
                self.sums(&[(major, size), (minor, 1)])
            }),
        }
    }

    /// The positions of terms with their strides (book 03, "Sliding").
    fn sums(&self, terms: &[(Vec<Cell>, usize)]) -> Vec<Cell> {
        terms.iter().fold(vec![Cell::from([Index::new()])], |all, (term, stride)| {
            let mut sums = vec![Cell::new(); all.len() + (term.len() - 1) * stride];
            for (at, cell) in all.iter().enumerate() {
                for (step, own) in term.iter().enumerate() {
                    sums[at + step * stride].extend(self.union(cell, own));
                }
            }
            sums
        })
    }

    /// Both together; a coordinate past the end of its axis names nothing.
    fn union(&self, left: &Cell, right: &Cell) -> Cell {
        let both = |left: &Index, right: &Index| {
            let mut sum = left.clone();
            right.iter().for_each(|(axis, at)| *sum.entry(axis.clone()).or_default() += at);
            sum.iter().all(|(axis, at)| *at < self.sizes[&**axis]).then_some(sum)
        };
        left.iter().flat_map(|left| right.iter().filter_map(move |right| both(left, right))).collect()
    }

    /// Coordinates along A, B, C and D of the element that an index names (book 03, "Skewed Axis"); an axis that is
    /// not named is at 0.
    fn element(&self, index: &Index) -> [u64; 4] {
        let at = |axis: &str| index.get(axis).copied().unwrap_or(0);
        let plain = |axis: &str| {
            let own = self.skewed.iter().find(|[skewed, of, _]| *of == axis && index.contains_key(*skewed));
            own.map_or(at(axis), |[skewed, _, by]| (at(skewed) + at(by)) % self.sizes[axis])
        };
        ["A", "B", "C", "D"].map(plain)
    }

    /// The number of that element in an array `[A, B, C, D]`.
    fn number(&self, [a, b, c, d]: [u64; 4]) -> usize {
        let size = |axis: &str| self.sizes[axis];
        (((a * size("B") + b) * size("C") + c) * size("D") + d) as usize
    }

    /// The elements that a position holds, in the array.
    fn held(&self, cell: &Cell) -> BTreeSet<usize> {
        cell.iter().map(|index| self.number(self.element(index))).collect()
    }

    fn elements(&self) -> usize {
        ["A", "B", "C", "D"].iter().map(|axis| self.sizes[axis] as usize).product()
    }
}

/// Random mappings, every constructor among them.
struct Maker<'a> {
    world: &'a World,
    random: Random,
    /// The axes that it may name.
    names: Vec<&'static str>,
}

/// Most positions of a mapping.
const LARGEST: usize = 160;

impl Maker<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.random.next() as usize % end
    }

    fn atom(&mut self) -> Expr {
        match self.below(8) {
            0 => Expr::Literal(1 + self.below(3) as u64),
            1 => Expr::parse(["[{L}]", "[{M}]"][self.below(2)]).unwrap(),
            _ => {
                let at = self.below(self.names.len());
                Expr::axis(self.names[at])
            }
        }
    }

    /// An operator on a mapping, if it has one of that kind.
    fn operator(&mut self, inner: Expr) -> Expr {
        let size = self.world.cells(&inner).len();
        let divisors: Vec<u64> = (1..=size as u64).filter(|n| (size as u64).is_multiple_of(*n)).collect();
        let divisor = divisors[self.below(divisors.len())];
        let (less, more) = (1 + self.below(size) as u64, (size + self.below(4)) as u64);
        let kind = [PadKind::Top, PadKind::Zero, PadKind::Bottom][self.below(3)];
        match self.below(8) {
            0 => inner.pad(more, kind),
            1 => inner.pad_left(more, kind),
            2 | 3 => inner.resize(less),
            4 => inner.stride(divisor),
            5 => inner.modulo(divisor),
            6 => inner.slice(less - 1),
            _ => {
                let table: Vec<u64> = (0..1 + self.below(4)).map(|_| self.below(size) as u64).collect();
                inner.gather(table)
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Expr {
        let made = match self.below(6) {
            0 | 1 if depth > 0 => {
                let terms: Vec<Expr> = (0..2 + self.below(2)).map(|_| self.mapping(depth - 1)).collect();
                if self.below(4) == 0 { Expr::Outer(terms) } else { Expr::Pair(terms) }
            }
            2 | 3 if depth > 0 => {
                let inner = self.mapping(depth - 1);
                self.operator(inner)
            }
            4 if depth > 0 && self.below(3) == 0 => {
                let (one, two) = (self.mapping(0), self.mapping(0));
                Expr::Slide(vec![(one, 1 + self.below(6) as u64), (two, 1 + self.below(3) as u64)])
            }
            _ => self.atom(),
        };
        match self.world.cells(&made).len() {
            1..=LARGEST => made,
            _ => self.atom(),
        }
    }
}

/// The array that is asked for, of a kernel that need not verify; `None` where the evaluator refuses it.
fn evaluated(text: &str, x: &[i32]) -> Option<LogicalResult> {
    let ctx = context();
    let module = read(&ctx, text);
    let results = evaluate(&ctx, &module, None, &arguments([("x", bytes_i32(x))]).into(), Options::default());
    results.ok().map(|mut results| results.remove(0))
}

/// The result at each position, if it is defined.
fn found(result: &LogicalResult) -> Vec<Option<i32>> {
    let defined = |at: usize| result.defined.as_ref().is_none_or(|defined| defined[at]);
    let values = result.bytes.chunks(4).map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap()));
    values.enumerate().map(|(at, value)| defined(at).then_some(value)).collect()
}

/// A path of a mapping: the operations that lead from `%x` to `%y`, which holds it as its element mapping. The mapping
/// is given, whole, and cut in two.
type Path = fn(&Expr, &Expr, &Expr) -> String;

/// By transfers alone.
fn to_hbm(whole: &Expr, _: &Expr, _: &Expr) -> String {
    format!("%y = tm.to_hbm %x at 0, element {whole}")
}

/// Through data memory.
fn through_dm(whole: &Expr, _: &Expr, _: &Expr) -> String {
    format!(
        "%h = tm.to_hbm %x at 0, element [A, B, C, D]
  %d = tm.to_dm %h at 0, cluster [1 # 2], slice [1 # 256], element {whole}
  %y = tm.to_hbm %d at 0, element {whole}"
    )
}

/// As a stream, its major part in time and its minor part in the packet.
fn streamed(whole: &Expr, time: &Expr, packet: &Expr) -> String {
    format!(
        "%h = tm.to_hbm %x at 0, element [A, B, C, D]
  %d = tm.to_dm %h at 0, cluster [1 # 2], slice [1 # 256], element [A, B, C, D]
  %b = stream.begin main %d
  %f = stream.fetch %b time {time}, packet {packet}
  %c = stream.collect %f time {time}, packet {packet}
  %t = stream.commit %c at 0, element {whole}
  %y = tm.to_hbm %t at 0, element {whole}"
    )
}

/// A view of a tensor that holds the mapping.
fn viewed(whole: &Expr, _: &Expr, _: &Expr) -> String {
    format!("%h = tm.to_hbm %x at 0, element [1, {whole}]\n  %y = tm.slice %h element {whole}")
}

/// Each mapping on each path, its positions as a separate axis: position by position.
#[test]
fn positions_hold_what_the_mapping_says() {
    let world = World::new();
    let mut seen = BTreeMap::new();
    for (names, seed) in
        [(vec!["A", "B", "C", "D"], 1), (vec!["A", "S", "C", "D"], 2), (vec!["A", "S", "T", "D"], 3)]
    {
        let mut maker = Maker { world: &world, random: Random::new(seed), names };
        let x = maker.random.i32s(world.elements());
        for _ in 0..150 {
            let (time, packet) = (maker.mapping(2), maker.mapping(1));
            let whole = Expr::Pair(vec![time.clone(), packet.clone()]);
            // An alias may name elements that the axes of this round do not.
            let cells = world.cells(&whole);
            for (name, path) in
                [("hbm", to_hbm as Path), ("dm", through_dm), ("stream", streamed), ("view", viewed)]
            {
                if cells.len() > 4 * LARGEST || !is_written(&world, &cells) {
                    continue;
                }
                let text = format!(
                    "{}tm.func @k(%x: !tm.host<i32, [A, B, C, D]>) {{
  {}
  %z = tm.reshape %y element [Z]
  %r = tm.to_host %z element [Z]
  tm.return %r
}}",
                    world.declarations(cells.len()),
                    path(&whole, &time, &packet)
                );
                let Some(result) = evaluated(&text, &x) else { continue };
                *seen.entry(name).or_insert(0) += 1;
                // Refusing the elements that padding becomes under another axis is up to the verifier.
                for (at, (cell, found)) in cells.iter().zip(found(&result)).enumerate() {
                    if let Some(element) = single(&world, cell) {
                        assert_eq!(found, Some(x[element]), "{at}: {text}");
                    }
                }
            }
        }
    }
    // A ragged mapping has no meaning here; most mappings have.
    assert!(seen.len() == 4 && seen.values().all(|&count| count > 150), "{seen:?}");
}

/// Returns true if the tensor may be written so (book 03): a skewed axis next to the one that is subtracted, and not
/// next to the one that it stands for.
fn is_written(world: &World, cells: &[Cell]) -> bool {
    let skewed = |index: &Index, [skewed, of, by]: &[&str; 3]| {
        !index.contains_key(*skewed) || index.contains_key(*by) && !index.contains_key(*of)
    };
    cells.iter().flatten().all(|index| world.skewed.iter().all(|own| skewed(index, own)))
}

/// The element that a position holds. Of several indices nothing is known: they stand for one element only in a
/// window.
fn single(world: &World, cell: &Cell) -> Option<usize> {
    match cell.len() {
        1 => world.held(cell).first().copied(),
        _ => None,
    }
}

/// The elements of the array that a mapping holds, and no others, come out where the array is requested again.
#[test]
fn what_is_held_is_defined_and_nothing_else() {
    let world = World::new();
    let mut seen = 0;
    for (names, seed) in
        [(vec!["A", "B", "C", "D"], 4), (vec!["A", "S", "C", "D"], 5), (vec!["A", "S", "T", "D"], 6)]
    {
        let mut maker = Maker { world: &world, random: Random::new(seed), names };
        let x = maker.random.i32s(world.elements());
        for _ in 0..200 {
            let map = maker.mapping(3);
            let cells = world.cells(&map);
            if cells.iter().any(|cell| cell.len() > 1) || !is_written(&world, &cells) {
                continue;
            }
            if cells.iter().all(|cell| cell.is_empty()) {
                continue;
            }
            let text = format!(
                "{}tm.func @k(%x: !tm.host<i32, [A, B, C, D]>) {{
  %h = tm.to_hbm %x at 0, element [A, B, C, D]
  %d = tm.to_dm %h at 0, cluster [1 # 2], slice [1 # 256], element {map}
  %y = tm.to_hbm %d at 0, element [A, B, C, D]
  %r = tm.to_host %y element [A, B, C, D]
  tm.return %r
}}",
                world.declarations(1)
            );
            let Some(result) = evaluated(&text, &x) else { continue };
            seen += 1;
            let held: BTreeSet<usize> = cells.iter().flat_map(|cell| world.held(cell)).collect();
            // Along an axis that the mapping does not name, the tensor is the same everywhere: as at 0.
            let named: BTreeSet<&String> = cells.iter().flatten().flat_map(|index| index.keys()).collect();
            let stays = |axis: &str| {
                let skewed = world
                    .skewed
                    .iter()
                    .find(|[_, of, _]| *of == axis)
                    .is_some_and(|[skewed, ..]| named.contains(&skewed.to_string()));
                named.contains(&axis.to_owned()) || skewed
            };
            let sizes = ["A", "B", "C", "D"].map(|axis| world.sizes[axis]);
            let expected = (0..world.elements()).map(|at| {
                let mut left = at as u64;
                let mut index = [0; 4];
                for (own, size) in index.iter_mut().zip(sizes).rev() {
                    *own = left % size;
                    left /= size;
                }
                for (own, axis) in index.iter_mut().zip(["A", "B", "C", "D"]) {
                    *own = if stays(axis) { *own } else { 0 };
                }
                let at = world.number(index);
                held.contains(&at).then(|| x[at])
            });
            assert_eq!(found(&result), expected.collect::<Vec<_>>(), "{text}");
        }
    }
    assert!(seen > 250, "{seen}");
}

/// A window: each of the indices that a position holds names the element that the source has there.
#[test]
fn windows_hold_an_element_under_several_indices() {
    let world = World::new();
    // Positions of the window, on 6 of C: 1 + (4 - 1) * 1 + (2 - 1) * 2.
    for map in ["[$(A:1, D:2)]", "[$(D:2, A:1)]", "[$(A # 4:1, D:2)]"] {
        let cells = world.cells(&Expr::parse(map).unwrap());
        let x = Random::new(7).i32s(6);
        let text = format!(
            "{}tm.func @k(%x: !tm.hbm<i32, [1], [C]>) at [0] {{
  %w = tm.window %x element {map}
  %r = tm.to_host %w element [A, D]
  tm.return %r
}}",
            world.declarations(1)
        );
        let result = evaluated(&text, &x).unwrap();
        let mut expected = vec![None; 8];
        for (at, index) in
            cells.iter().enumerate().flat_map(|(at, cell)| cell.iter().map(move |index| (at, index)))
        {
            expected[(index["A"] * 2 + index["D"]) as usize] = Some(x[at]);
        }
        assert_eq!(found(&result), expected, "{map}");
    }
}

/// A stream that is written into a part of a tensor: the part is the stream's, the rest stays.
#[test]
fn a_part_that_is_written_changes_nothing_else() {
    let world = World::new();
    let (x, y) = (Random::new(10).i32s(world.elements()), Random::new(11).i32s(world.elements()));
    for part in [
        "[A, B, C, D]",
        "[A @ 1 = 2, B, C, D]",
        "[A, B @ 3 = 2, C, D]",
        "[A @ 3 = 1, B = 2, C @ 2 = 4, D]",
        "[A, B, C @ 5 = 1, D @ 1 = 1]",
        "[C @ 1 = 3, A, D, B = 4]",
    ] {
        let text = format!(
            "{}tm.func @k(%x: !tm.hbm<i32, [1], [A, B, C, D]>, %y: !tm.hbm<i32, [1], [A, B, C, D]>) at [0, 65536] \
             {{
  %d = tm.to_dm %x at 0, cluster [1 # 2], slice [1 # 256], element [A, B, C, D]
  %w = tm.to_dm %y at 4096, cluster [1 # 2], slice [1 # 256], element [A, B, C, D]
  %b = stream.begin main %d
  %f = stream.fetch %b time {part}, packet [1]
  %c = stream.collect %f time {part}, packet [1 # 8]
  %z = stream.commit_view %c, %w element {part}
  %h = tm.to_hbm %z at 131072, element [A, B, C, D]
  %r = tm.to_host %h element [A, B, C, D]
  tm.return %r
}}",
            world.declarations(1)
        );
        let cells = world.cells(&Expr::parse(part).unwrap());
        let written: BTreeSet<usize> = cells.iter().flat_map(|cell| world.held(cell)).collect();
        let expected: Vec<Option<i32>> =
            (0..x.len()).map(|at| Some(if written.contains(&at) { x[at] } else { y[at] })).collect();
        let given = [("x", bytes_i32(&x)), ("y", bytes_i32(&y))];
        assert_eq!(of_arguments(&text, given), expected, "{text}");
    }
}

/// A number that is written into a part of a tensor, and of one that is the same everywhere.
#[test]
fn a_part_that_is_filled_changes_nothing_else() {
    let world = World::new();
    let (x, y) = (Random::new(12).i32s(world.elements()), Random::new(13).i32s(world.elements()));
    for (part, whole) in [
        ("[A, B, C, D]", false),
        ("[A @ 1 = 2, B, C, D]", false),
        ("[A, B @ 3 = 2 # 5, C, D]", true),
        ("[A @ 3 = 1, B = 2 # 5, C @ 2 = 4 # 6, D]", false),
        ("[A, B, C @ 5 = 1 # 6, D @ 1 = 1 # 2]", true),
        ("[A = 3, B, C = 1 # 6, D = 1 # 2]", true),
    ] {
        let made = match whole {
            true => "stream.fill 3, at 0, dtype i32, cluster [1 # 2], slice [1 # 256], element [A, B, C, D]",
            false => "tm.to_dm %x at 0, cluster [1 # 2], slice [1 # 256], element [A, B, C, D]",
        };
        let text = format!(
            "{}tm.func @k(%x: !tm.hbm<i32, [1], [A, B, C, D]>, %y: !tm.hbm<i32, [1], [A, B, C, D]>) at [0, 65536] \
             {{
  %w = {made}
  %z = stream.fill_view %w value -7, element {part}
  %h = tm.to_hbm %z at 131072, element [A, B, C, D]
  %r = tm.to_host %h element [A, B, C, D]
  tm.return %r
}}",
            world.declarations(1)
        );
        let cells = world.cells(&Expr::parse(part).unwrap());
        let written: BTreeSet<usize> = cells.iter().flat_map(|cell| world.held(cell)).collect();
        let other = |at: usize| if whole { 3 } else { x[at] };
        let expected: Vec<Option<i32>> =
            (0..x.len()).map(|at| Some(if written.contains(&at) { -7 } else { other(at) })).collect();
        let given = [("x", bytes_i32(&x)), ("y", bytes_i32(&y))];
        assert_eq!(of_arguments(&text, given), expected, "{text}");
    }
}

/// A part of a tensor that is the same along an axis: the result differs along it.
#[test]
fn a_part_of_copies_differs_from_the_others() {
    let text = "tm.axes [A = 4, B = 5]
tm.func @k(%x: !tm.hbm<i32, [1], [B]>) at [0] {
  %w = tm.to_dm %x at 0, cluster [1 # 2], slice [1 # 256], element [A, B # 6]
  %z = stream.fill_view %w value 9, element [A @ 2 = 1, B # 6]
  %r = tm.to_hbm %z at 65536, element [A, B]
  tm.return %r
}";
    let (ctx, x) = (context(), vec![1, 2, 3, 4, 5]);
    let module = read(&ctx, text);
    let results =
        evaluate(&ctx, &module, None, &arguments([("x", bytes_i32(&x))]).into(), Options::default());
    let expected: Vec<Option<i32>> =
        (0..4).flat_map(|a| x.iter().map(move |&x| Some(if a == 2 { 9 } else { x }))).collect();
    assert_eq!(found(&results.unwrap().remove(0)), expected);
}

/// Book 32's ChipShuffle: the content of chip `by`[i] moves to chip i.
#[test]
fn chips_get_what_the_list_says() {
    let world = World::new();
    let x = Random::new(14).i32s(world.elements());
    for (chip, element, by) in [
        ("[A]", "[B, C, D]", [1, 2, 3, 0]),
        ("[A]", "[D, C, B]", [2, 0, 3, 1]),
        ("[A / 2, D]", "[A % 2, B, C]", [3, 1, 0, 2]),
        ("[A % 2, D]", "[B, A / 2, C]", [2, 3, 1, 0]),
        ("[D, A % 2]", "[C, B, A / 2]", [1, 2, 3, 0]),
        ("[C / 2 # 4]", "[A, B, C % 2, D]", [1, 2, 0, 3]),
        ("[D, 2]", "[A, B, C]", [3, 2, 1, 0]),
        ("[4]", "[A, B, C, D]", [3, 1, 0, 2]),
        ("[1 # 4]", "[A, B, C, D]", [0, 2, 1, 3]),
    ] {
        let text = format!(
            "{}tm.func @k(%x: !tm.host<i32, [A, B, C, D]>) chips 4 {{
  %h = tm.to_hbm %x at 0, chip {chip}, element {element}
  %s = tm.chip_shuffle %h by {by:?}, at 65536
  %r = tm.to_host %s element [A, B, C, D]
  tm.return %r
}}",
            world.declarations(1)
        );
        let [chips, rest] = [chip, element].map(|map| world.cells(&Expr::parse(map).unwrap()));
        let mut expected = vec![None; x.len()];
        for (to, &from) in by.iter().enumerate() {
            for cell in &rest {
                let [to, from] = [to, from].map(|at: usize| world.held(&world.union(&chips[at], cell)));
                to.into_iter().zip(from).for_each(|(to, from)| expected[to] = Some(x[from]));
            }
        }
        assert_eq!(found(&evaluated(&text, &x).unwrap()), expected, "{text}");
    }
}

/// Two tensors as one stream: at each place the first where the axis of the two is 0, the second where it is 1.
#[test]
fn interleaved_streams_hold_both_tensors() {
    let world = World::new();
    let (x, y) = (Random::new(12).i32s(world.elements()), Random::new(13).i32s(world.elements()));
    for (time, packet) in [
        ("A, I", "B, C, D"),
        ("I", "A, B, C, D"),
        ("C, A, I", "B, D"),
        ("A @ 1 = 2, C / 2, I", "C % 2, D, B = 3"),
    ] {
        let whole = format!("[{time}, {packet}]");
        // The axis of the two is last in time; it is none of the enumerator's.
        let major = world.cells(
            &Expr::parse(&format!("[{}]", time.trim_end_matches('I').trim_end_matches(", ")))
                .unwrap_or(Expr::Literal(1)),
        );
        let minor = world.cells(&Expr::parse(&format!("[{packet}]")).unwrap());
        let count = major.len() * 2 * minor.len();
        let declarations = world.declarations(count).replacen("tm.axes [", "tm.axes [I = 2, ", 1);
        let text = format!(
            "{declarations}tm.func @k(%x: !tm.hbm<i32, [1], [A, B, C, D]>, %y: !tm.hbm<i32, [1], [A, B, C, D]>) \
             at [0, 65536] {{
  %d = tm.to_dm %x at 0, cluster [1 # 2], slice [1 # 256], element [A, B, C, D]
  %w = tm.to_dm %y at 4096, cluster [1 # 2], slice [1 # 256], element [A, B, C, D]
  %b = stream.begin_interleaved main %d, %w axis [I]
  %f = stream.fetch %b time [{time}], packet [{packet}]
  %c = stream.collect %f time [{time}], packet [{packet}]
  %z = stream.commit %c at 8192, element {whole}
  %h = tm.to_hbm %z at 131072, element {whole}
  %s = tm.reshape %h element [Z]
  %r = tm.to_host %s element [Z]
  tm.return %r
}}"
        );
        let both = |major: &Cell, from: &[i32]| -> Vec<Option<i32>> {
            minor.iter().map(|minor| single(&world, &world.union(major, minor)).map(|at| from[at])).collect()
        };
        let expected: Vec<Option<i32>> =
            major.iter().flat_map(|cell| [both(cell, &x), both(cell, &y)].concat()).collect();
        let given = [("x", bytes_i32(&x)), ("y", bytes_i32(&y))];
        assert_eq!(of_arguments(&text, given), expected, "{text}");
    }
}

/// The result of a kernel of these arguments.
fn of_arguments(text: &str, given: [(&str, Vec<u8>); 2]) -> Vec<Option<i32>> {
    let ctx = context();
    let module = read(&ctx, text);
    let results = evaluate(&ctx, &module, None, &arguments(given).into(), Options::default());
    found(&results.unwrap_or_else(|error| panic!("{error:?}\n{text}")).remove(0))
}

/// The skewed axis next to the axis that is subtracted, on each of the dimensions that may hold that: a part of each
/// diagonal.
#[test]
fn diagonals_of_chips_clusters_and_slices() {
    let world = World::new();
    let x = Random::new(8).i32s(world.elements());
    for (chip, cluster, slice) in [
        ("[A]", "[1 # 2]", "[1 # 256]"),
        ("[1]", "[A / 2]", "[A % 2 # 256]"),
        ("[1]", "[1 # 2]", "[A # 256]"),
        ("[A / 2]", "[A % 2]", "[1 # 256]"),
    ] {
        for part in ["S = 1", "S @ 3 = 1", "S @ 1 % 2", "S", "S @ (4, 0, 2)"] {
            let count = world.cells(&Expr::parse(&format!("[A, {part}, D]")).unwrap()).len();
            let text = format!(
                "{}tm.func @k(%x: !tm.host<i32, [A, B, C, D]>) {{
  %h = tm.to_hbm %x at 0, chip {chip}, element [A, B, C, D]
  %d = tm.to_dm %h at 0, cluster {cluster}, slice {slice}, element [B, C, D]
  %b = stream.begin sub %d
  %f = stream.fetch %b time [{part}], packet [D]
  %c = stream.collect %f time [{part}], packet [D]
  %t = stream.commit %c at 0, element [{part}, D]
  %y = tm.to_hbm %t at 0, element [A, {part}, D]
  %o = tm.to_host %y element [A, {part}, D]
  %q = tm.to_hbm %o at 0, element [A, {part}, D]
  %z = tm.reshape %q element [Z]
  %r = tm.to_host %z element [Z]
  tm.return %r
}}",
                world.declarations(count)
            );
            let result = evaluated(&text, &x).unwrap_or_else(|| panic!("{text}"));
            let cells = world.cells(&Expr::parse(&format!("[A, {part}, D]")).unwrap());
            let expected: Vec<Option<i32>> =
                cells.iter().map(|cell| single(&world, cell).map(|at| x[at])).collect();
            assert_eq!(found(&result), expected, "{text}");
        }
    }
}

/// A tile counts from its first element, along a skewed axis as along any other.
#[test]
fn tiles_count_from_their_first_element() {
    let world = World::new();
    let x = Random::new(9).i32s(world.elements());
    let at = |a: u64, b: u64, c: u64| Some(x[world.number([a, b, c, 0])]);
    for index in 0..5 {
        let tile = |operations: &str| {
            let text = format!(
                "{}tm.func @k(%x: !tm.host<i32, [A, B, C, D]>) {{
  %h = tm.to_hbm %x at 0, element [A, B, C]
  {operations}
  tm.return %r
}}",
                world.declarations(1)
            );
            found(&evaluated(&text, &x).unwrap_or_else(|| panic!("{text}")))
        };
        if index < 2 {
            let part = format!(
                "%t = tm.tile %h along [C / 2], size 2, index {index}, element [A, B, C / 2 = 2 # 3, C % 2]"
            );
            let found = tile(&format!("{part}\n  %r = tm.to_host %t element [C = 4, A, B]"));
            let all =
                (0..4).flat_map(|c| (0..4).flat_map(move |a| (0..5).map(move |b| (a, b, c + 2 * index))));
            assert_eq!(found, all.map(|(a, b, c)| at(a, b, c)).collect::<Vec<_>>(), "{index}");
        }
        let turned = "%s = tm.to_host %h element [A, S, C]\n  %g = tm.to_hbm %s at 0, element [A, S, C]";
        let part = format!("%t = tm.tile %g along [S], size 1, index {index}, element [A, S = 1 # 5, C]");
        let found = tile(&format!("{turned}\n  {part}\n  %r = tm.to_host %t element [A, S = 1, C]"));
        let all = (0..4).flat_map(|a| (0..6).map(move |c| (a, (a + index) % 5, c)));
        assert_eq!(found, all.map(|(a, b, c)| at(a, b, c)).collect::<Vec<_>>(), "{index}");
    }
}

/// The random mappings of these tests have every constructor.
#[test]
fn every_constructor_is_made() {
    fn name(map: &Expr, seen: &mut BTreeMap<&str, usize>) {
        let own = match map {
            Expr::Axis(name) if **name == *"S" || **name == *"T" => "skewed",
            Expr::Axis(_) => "axis",
            Expr::Alias(_) => "alias",
            Expr::Literal(_) => "literal",
            Expr::Pair(_) => "pair",
            Expr::Pad { kind: PadKind::Top, side: Side::High, .. } => "padding",
            Expr::Pad { kind: PadKind::Zero, side: Side::High, .. } => "zeros",
            Expr::Pad { kind: PadKind::Bottom, side: Side::High, .. } => "not written",
            Expr::Pad { side: Side::Low, .. } => "padding on the left",
            Expr::Resize { .. } => "resize",
            Expr::Stride { .. } => "stride",
            Expr::Modulo { .. } => "modulo",
            Expr::Slice { .. } => "slice",
            Expr::Gather { .. } => "table",
            Expr::Slide(_) => "sliding",
            Expr::Outer(_) => "outer sum",
        };
        *seen.entry(own).or_default() += 1;
        map.children().into_iter().for_each(|child| name(child, seen));
    }
    let world = World::new();
    let mut maker = Maker { world: &world, random: Random::new(2), names: vec!["A", "S", "C", "D"] };
    let mut seen = BTreeMap::new();
    (0..900).for_each(|_| name(&maker.mapping(2), &mut seen));
    assert!(seen.len() == 16 && seen.values().all(|&count| count > 3), "{seen:?}");
}
