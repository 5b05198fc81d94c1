//! The laws of the algebra against enumeration: the digits of inverse, division, composition, complement and common
//! factors are compared with the cells of `map`, position by position.

use std::collections::BTreeMap;
use visa_loops::Stride;

use proptest::prelude::*;
use proptest::sample::select;
use visa_algebra::{
    Axes, AxisId, Cell, Digit, Digits, DivideError, Expr, Gathers, Index, Movement, PadKind, common,
    complement, compose, digits, divide, divide_exact, inverse, map, place, place_expr,
};

const SIZES: [(&str, u64); 3] = [("A", 12), ("B", 6), ("K", 7)];
const KINDS: [PadKind; 3] = [PadKind::Bottom, PadKind::Zero, PadKind::Top];

fn axes() -> Axes {
    let mut axes = Axes::new();
    for (name, size) in SIZES {
        axes.declare(name, size).unwrap();
    }
    axes
}

fn divisors(n: u64) -> Vec<u64> {
    (1..=n).filter(|d| n.is_multiple_of(*d)).collect()
}

/// A factor of an axis: block and step, perhaps a slice of it, perhaps padded. K is padded to 8 first.
fn term(names: &'static [(&'static str, u64)]) -> impl Strategy<Value = Expr> {
    (select(names), any::<[u8; 5]>(), select(KINDS.to_vec())).prop_map(|((name, size), picks, kind)| {
        let pick = |at: usize, from: &[u64]| from[usize::from(picks[at]) % from.len()];
        let (axis, size) = match size {
            7 => (Expr::axis(name).pad(8, PadKind::Top), 8),
            size => (Expr::axis(name), size),
        };
        let block = pick(0, &divisors(size));
        let step = pick(1, &divisors(block));
        let mut term = axis.modulo(block).stride(step);
        let mut count = block / step;
        if picks[2] % 4 == 0 {
            let from = u64::from(picks[2] / 4) % count;
            term = term.slice(from);
            count -= from;
        }
        if picks[3] % 5 == 0 {
            count = 1 + u64::from(picks[3] / 5) % count;
            term = term.resize(count);
        }
        if picks[4] % 3 == 0 { term.pad(count * (1 + u64::from(picks[4]) % 3), kind) } else { term }
    })
}

fn pair(names: &'static [(&'static str, u64)]) -> impl Strategy<Value = Expr> {
    let term = prop_oneof![9 => term(names), 1 => (1u64..3).prop_map(Expr::Literal)];
    prop::collection::vec(term, 1..5).prop_map(Expr::pair)
}

fn cells(expr: &Expr, axes: &Axes) -> Vec<Cell> {
    (0..expr.size(axes).unwrap()).map(|i| map(expr, axes, i).unwrap()).collect()
}

fn cells_of(digits: &Digits) -> Vec<Cell> {
    (0..digits.size()).map(|i| digits.cell(i).unwrap()).collect()
}

/// Where each index is held.
fn places(cells: &[Cell]) -> BTreeMap<&Index, Vec<u64>> {
    let mut places: BTreeMap<&Index, Vec<u64>> = BTreeMap::new();
    for (cell, at) in cells.iter().zip(0..) {
        if let Cell::Live(index) = cell {
            places.entry(index).or_default().push(at);
        }
    }
    places
}

/// Every index of these axes.
fn indices(axes: &[(AxisId, u64)]) -> Vec<Index> {
    axes.iter().fold(vec![Index::new()], |all, &(axis, size)| {
        let along = |index: &Index| {
            let index = index.clone();
            (0..size).map(move |at| index.iter().chain([(axis, at)]).collect::<Index>())
        };
        all.iter().flat_map(along).collect()
    })
}

/// The position that the division reads for stream position `at`.
fn read_at(division: &visa_algebra::Division, mut at: u64) -> i64 {
    let mut address = division.base;
    for step in &division.steps {
        match &step.movement {
            Movement::By(Stride::Fixed(stride)) => address += stride * (at % step.extent).cast_signed(),
            Movement::By(Stride::Table(table)) => {
                address += table.get((at % step.extent) as usize).copied().unwrap_or_default()
            }
            Movement::Broadcast | Movement::Padding => {}
        }
        at /= step.extent;
    }
    address
}

/// A term of which a table picks some positions, perhaps split or padded afterwards.
fn gathered(names: &'static [(&'static str, u64)]) -> impl Strategy<Value = Expr> {
    (term(names), prop::collection::vec(any::<u64>(), 1..7), 0..5).prop_map(|(inner, picks, what)| {
        let size = inner.size(&axes()).unwrap();
        let table: Vec<u64> = picks.iter().map(|pick| pick % size).collect();
        let count = table.len() as u64;
        let term = inner.gather(table);
        match what {
            0 if count.is_multiple_of(2) => term.stride(2),
            1 if count.is_multiple_of(2) => term.modulo(2),
            2 => term.pad(count + 2, PadKind::Top),
            3 if count > 1 => term.slice(1),
            _ => term,
        }
    })
}

/// Streams with one or two gathered terms among others.
fn gathering() -> impl Strategy<Value = Expr> {
    let one = prop_oneof![2 => gathered(&SIZES), 1 => term(&SIZES)];
    prop::collection::vec(one, 1..4).prop_map(Expr::pair)
}

/// Buffers that hold all three axes, in many orders and radices.
const WHOLE: [&str; 8] = [
    "[A, B, K]",
    "[K, A % 4, B, A / 4]",
    "[B % 3, A # 16, K # 8, B / 3]",
    "[A / 6, A % 2, K, A / 2 % 3, B]",
    "[B, A % 3, K, A / 3 # 5]",
    "[A, $(B:1, K:6)]",
    "[A, B # 9 {left}, K]",
    "[K # 8 % 4, B / 2, A, B % 2, K # 8 / 4]",
];

/// The division of a stream with gathered terms by a buffer; `None` where a term picks no element.
fn gather(stream: &Expr, buffer: &Expr, axes: &Axes) -> Option<Result<visa_algebra::Division, DivideError>> {
    let mut gathers = Gathers::new(axes);
    let (stream, buffer) = (gathers.stream(stream).ok()?, gathers.buffer(buffer).ok()?);
    let order = place(&digits(&stream, gathers.axes()).ok()?, 1);
    let held = place_expr(&buffer, gathers.axes(), 1).ok()?;
    Some(gathers.divide(&order, &held, &|_| false))
}

/// f(g(i).P), from the cells of both.
fn composed(f: &[Cell], g: &[Cell], p: AxisId, axes: &Axes) -> Vec<Cell> {
    let sum = |index: &Index| {
        let Cell::Live(inner) = &f[index.get(p) as usize] else { return f[index.get(p) as usize].clone() };
        let mut sum: Index = index.iter().filter(|(axis, _)| *axis != p).collect();
        sum.add_index(inner);
        let inside = sum.iter().all(|(axis, at)| at < axes.size(axis));
        if inside { Cell::Live(sum) } else { Cell::Pad(PadKind::Top) }
    };
    g.iter().map(|cell| if let Cell::Live(index) = cell { sum(index) } else { cell.clone() }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_inverse_finds_what_is_held(expr in pair(&SIZES)) {
        let axes = axes();
        let Ok(form) = digits(&expr, &axes) else { return Ok(()) };
        let cells = cells(&expr, &axes);
        let (inverse, places) = (inverse(&form), places(&cells));
        let all: Vec<_> = axes.iter().map(|(id, _, size)| (id, size)).collect();
        for index in indices(&all) {
            let found = inverse.position(&index);
            match places.get(&index).map(Vec::as_slice) {
                None => prop_assert_eq!(found, None, "{} at {:?}", expr, index),
                Some([only]) => prop_assert_eq!(found, Some(*only), "{} at {:?}", expr, index),
                Some(several) => {
                    prop_assert!(found.is_some_and(|at| several.contains(&at)), "{} at {:?}", expr, index);
                }
            }
        }
        // Any mapping that has a placement agrees with its digits.
        prop_assert_eq!(place_expr(&expr, &axes, 1), Ok(place(&form, 1)));
    }

    #[test]
    fn division_reads_each_index_where_it_is((stream, buffer) in (pair(&SIZES), pair(&SIZES))) {
        let axes = axes();
        let (Ok(s), Ok(b)) = (digits(&stream, &axes), digits(&buffer, &axes)) else { return Ok(()) };
        let (asked, held) = (cells(&stream, &axes), cells(&buffer, &axes));
        let division = match divide(&place(&s, 1), &place(&b, 1), &|_| false, &axes) {
            Ok(division) => division,
            Err(DivideError::Missing { wanted }) => {
                let places = places(&held);
                let missing = |cell: &Cell| matches!(cell, Cell::Live(index) if !places.contains_key(index));
                // With offsets on both sides, the elements that one digit of the stream counts may be held by several
                // of the buffer together.
                let offsets = !b.offset().is_empty() && !s.offset().is_empty() && s.iter().count() > 1;
                let plain = !offsets && common(&b, &b, &axes).is_ok() && common(&s, &s, &axes).is_ok();
                prop_assert!(!plain || asked.iter().any(missing), "{} from {}: {}", stream, buffer, wanted);
                return Ok(());
            }
            Err(DivideError::Inexact { why }) => return Err(TestCaseError::fail(why)),
            Err(_) => return Ok(()),
        };
        let mut read = vec![0_u64; held.len()];
        for (cell, at) in asked.iter().zip(0..) {
            let Cell::Live(_) = cell else { continue };
            let from = read_at(&division, at) as usize;
            prop_assert_eq!(held.get(from), Some(cell), "{} from {} at {}", stream, buffer, at);
            read[from] += 1;
        }
        let once = held.iter().zip(&read).all(|(cell, count)| *count == u64::from(matches!(cell, Cell::Live(_))));
        let exact = divide_exact(&place(&s, 1), &place(&b, 1), &|_| false, &axes);
        prop_assert_eq!(exact.is_ok(), once, "{} from {}: {:?}", stream, buffer, read);
        prop_assert_eq!(exact.is_ok(), division.relaxed.is_none());
    }

    #[test]
    fn gathered_terms_read_each_index_where_it_is((stream, whole) in (gathering(), select(WHOLE.to_vec()))) {
        let axes = axes();
        let buffer = Expr::parse(whole).unwrap();
        let Some(Ok(division)) = gather(&stream, &buffer, &axes) else { return Ok(()) };
        let held = place_expr(&buffer, &axes, 1).unwrap();
        for (cell, at) in cells(&stream, &axes).iter().zip(0..) {
            let Cell::Live(index) = cell else { continue };
            prop_assert_eq!(Some(read_at(&division, at)), held.address(index), "{} from {} at {}", stream, whole, at);
        }
    }

    #[test]
    fn a_table_of_each_axis_can_always_be_read(
        tables in prop::collection::vec(prop::collection::vec(any::<u64>(), 1..9), 3),
        whole in select(WHOLE.to_vec()),
    ) {
        let axes = axes();
        let pick = |(table, (name, size)): (&Vec<u64>, (&str, u64))| {
            Expr::axis(name).gather(table.iter().map(|pick| pick % size).collect::<Vec<_>>())
        };
        let stream = Expr::pair(tables.iter().zip(SIZES).map(pick));
        let buffer = Expr::parse(whole).unwrap();
        let division = gather(&stream, &buffer, &axes).expect("whole axes hold elements");
        let division = division.map_err(|error| TestCaseError::fail(format!("{stream} from {whole}: {error}")))?;
        let held = place_expr(&buffer, &axes, 1).unwrap();
        for (cell, at) in cells(&stream, &axes).iter().zip(0..) {
            let Cell::Live(index) = cell else { continue };
            prop_assert_eq!(Some(read_at(&division, at)), held.address(index), "{} from {} at {}", stream, whole, at);
        }
    }

    #[test]
    fn a_mapping_divides_itself_exactly(expr in pair(&SIZES)) {
        let axes = axes();
        let Ok(form) = digits(&expr, &axes) else { return Ok(()) };
        let own = place(&form, 1);
        let distinct = common(&form, &form, &axes).is_ok() && form.iter().all(|d| d.axis.is_some() || d.live == 1);
        let result = divide_exact(&own, &own, &|_| false, &axes);
        prop_assert!(!distinct || result.is_ok(), "{}: {:?}", expr, result);
        prop_assert!(result.is_err() || result.is_ok_and(|division| division.base == 0));
    }

    #[test]
    fn composition_is_substitution(
        (f, kind, g) in (pair(&SIZES), select(KINDS.to_vec()), pair(&[("P", 24), ("P", 24), ("T", 2)])),
    ) {
        let mut axes = axes();
        let Ok(inner) = digits(&f, &axes) else { return Ok(()) };
        let f = if inner.size() < 24 { f.pad(24, kind) } else { f.resize(24) };
        let p = axes.declare("P", 24).unwrap();
        axes.declare("T", 2).unwrap();
        let (Ok(inner), Ok(outer)) = (digits(&f, &axes), digits(&g, &axes)) else { return Ok(()) };
        let whole = digits(&Expr::axis("P"), &axes).unwrap();
        prop_assert_eq!(compose(&inner, &whole, p, &axes), Ok(inner.clone()), "{}", f);
        for n in divisors(24) {
            for (part, same) in [
                (Expr::axis("P").stride(n), f.clone().stride(n)),
                (Expr::axis("P").modulo(n), f.clone().modulo(n)),
            ] {
                let part = digits(&part, &axes).unwrap();
                if let (Ok(found), Ok(same)) = (compose(&inner, &part, p, &axes), digits(&same, &axes)) {
                    prop_assert_eq!(found, same, "{} by {}", f, n);
                }
            }
        }
        if let Ok(found) = compose(&inner, &outer, p, &axes) {
            let expected = composed(&cells(&f, &axes), &cells(&g, &axes), p, &axes);
            prop_assert_eq!(cells_of(&found), expected, "{} . {}", f, g);
        }
    }

    #[test]
    fn composition_is_associative(
        (f, g, h) in (pair(&SIZES), pair(&[("P", 24)]), pair(&[("Q", 12)])),
    ) {
        let mut axes = axes();
        if digits(&f, &axes).is_err() {
            return Ok(());
        }
        let fit = |e: Expr, n: u64, axes: &Axes| {
            if e.size(axes).unwrap() < n { e.pad(n, PadKind::Top) } else { e.resize(n) }
        };
        let f = fit(f, 24, &axes);
        let (p, q) = (axes.declare("P", 24).unwrap(), axes.declare("Q", 12).unwrap());
        let g = fit(g, 12, &axes);
        let read = |e: &Expr| digits(e, &axes);
        let (Ok(f), Ok(g), Ok(h)) = (read(&f), read(&g), read(&h)) else { return Ok(()) };
        let left = compose(&f, &g, p, &axes).and_then(|fg| compose(&fg, &h, q, &axes));
        let right = compose(&g, &h, q, &axes).and_then(|gh| compose(&f, &gh, p, &axes));
        if let (Ok(left), Ok(right)) = (left, right) {
            prop_assert_eq!(left, right);
        }
    }

    #[test]
    fn the_complement_holds_the_rest_once(expr in pair(&SIZES)) {
        let axes = axes();
        let Ok(form) = digits(&expr, &axes) else { return Ok(()) };
        let Ok(rest) = complement(&form, &axes) else { return Ok(()) };
        let Ok(both) = Digits::concat(&rest, &form) else { return Ok(()) };
        let cells = cells_of(&both);
        let own: Vec<_> = form.axes().into_keys().map(|axis| (axis, axes.size(axis))).collect();
        let places = places(&cells);
        for index in indices(&own) {
            prop_assert_eq!(places.get(&index).map(Vec::len), Some(1), "{} at {:?}", expr, index);
        }
    }

    #[test]
    fn common_factors_divide_and_are_maximal((f, g) in (pair(&SIZES), pair(&SIZES))) {
        let axes = axes();
        let (Ok(f), Ok(g)) = (digits(&f, &axes), digits(&g, &axes)) else { return Ok(()) };
        if let Ok(own) = common(&f, &f, &axes) {
            let full = |digit: &Digit| Digit { extent: digit.live, kind: PadKind::Top, ..*digit };
            let mut expected: Vec<Digit> = f.iter().filter(|digit| digit.axis.is_some()).map(full).collect();
            expected.sort_by_key(|digit| (digit.axis, digit.stride));
            prop_assert_eq!(own, expected);
        }
        let (left, right) = (common(&f, &g, &axes), common(&g, &f, &axes));
        prop_assert_eq!(left.is_ok(), right.is_ok());
        let (Ok(left), Ok(right)) = (left, right) else { return Ok(()) };
        prop_assert_eq!(&left, &right);
        for factor in &left {
            prop_assert!(f.iter().any(|digit| divides(factor, digit)) && g.iter().any(|digit| divides(factor, digit)));
        }
        for (id, _, size) in axes.iter() {
            for (stride, live) in (1..size).flat_map(|stride| (2..=size).map(move |live| (stride, live))) {
                let kind = PadKind::Top;
                let factor = Digit { axis: Some(id), stride, extent: live, live, kind, axis_size: size };
                let of_both = [&f, &g].iter().all(|map| map.iter().any(|digit| divides(&factor, digit)));
                let within = left.iter().any(|common| divides(&factor, common));
                prop_assert_eq!(of_both, within, "{:?} of {:?} and {:?}", factor, f, g);
            }
        }
    }
}

/// Returns true if a digit is `[outer, factor, inner]`.
fn divides(factor: &Digit, digit: &Digit) -> bool {
    let (from, to) = (factor.stride, factor.stride * factor.live);
    let end = digit.stride * digit.live;
    let ends = if end < digit.axis_size {
        end.is_multiple_of(to)
    } else {
        from * (factor.live - 1) < digit.axis_size
    };
    factor.axis == digit.axis && from.is_multiple_of(digit.stride) && from < end && ends
}
