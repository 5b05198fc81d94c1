//! The algebra against enumeration: every fast path is compared with lists of cells that are built
//! straight from the definitions, by code that shares nothing with the crate.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use proptest::sample::select;
use visa_algebra::{
    Axes, Cell, Digits, DigitsError, Equality, Expr, Index, PadKind, Side, digits, equal, map, normalize,
};

/// Largest size that the oracle spells out.
const LARGEST: u64 = 4096;

/// An event of a position on the way from the major to the minor side.
#[derive(Clone, Debug, PartialEq)]
enum Event {
    Step(String, u64),
    Pad(PadKind),
    /// A part of a mapping that several parts share, by its text, at a position of that mapping.
    Part(String, u64),
}

/// All positions of a mapping as lists of events; `None` when a size rule is broken or the list is long. Parts of
/// the mappings whose texts are `shared` are left to [`settle`].
fn spelled(expr: &Expr, axes: &Axes, shared: &[String]) -> Option<Vec<Vec<Event>>> {
    if let Some((base, step, size)) = part(expr, axes)
        && let text = tidy(&base, axes)?.to_string()
        && shared.contains(&text)
    {
        return Some((0..size).map(|i| vec![Event::Part(text.clone(), i * step)]).collect());
    }
    let spelled = |expr: &Expr, axes: &Axes| spelled(expr, axes, shared);
    Some(match expr {
        Expr::Axis(name) => {
            let size = axes.size(axes.id(name)?);
            (0..size).map(|i| vec![Event::Step(name.to_string(), i)]).collect()
        }
        Expr::Literal(n) => vec![vec![]; usize::try_from(*n).ok().filter(|n| *n > 0)?],
        Expr::Pair(terms) => {
            let mut all = vec![vec![]];
            for term in terms {
                let term = spelled(term, axes)?;
                if (all.len() * term.len()) as u64 > LARGEST {
                    return None;
                }
                all = all
                    .iter()
                    .flat_map(|major| term.iter().map(move |minor| [&major[..], minor].concat()))
                    .collect();
            }
            all
        }
        // The definition: `E * F` is `$(E:|F|, F:1)`, and so on from the left. Each position is reached once.
        Expr::Outer(terms) => {
            let mut all = vec![vec![]];
            for term in terms {
                let term = spelled(term, axes)?;
                let size = 1 + (all.len() - 1) * term.len() + term.len() - 1;
                if size as u64 > LARGEST {
                    return None;
                }
                let mut sums = vec![None; size];
                for ((i, major), (j, minor)) in all
                    .iter()
                    .enumerate()
                    .flat_map(|major| term.iter().enumerate().map(move |minor| (major, minor)))
                {
                    let reached = sums[i * term.len() + j].replace([&major[..], minor].concat());
                    assert_eq!(reached, None, "{expr} reaches a position twice");
                }
                all = sums.into_iter().collect::<Option<_>>()?;
            }
            all
        }
        Expr::Alias(name) => spelled(axes.alias(name).ok()?, axes)?,
        Expr::Pad { inner, size, kind, side } => {
            let mut all = spelled(inner, axes)?;
            if *size < all.len() as u64 || *size > LARGEST {
                return None;
            }
            let more = *size as usize - all.len();
            let padding = vec![vec![Event::Pad(*kind)]; more];
            match side {
                Side::High => all.extend(padding),
                Side::Low => all = [padding, all].concat(),
            }
            all
        }
        Expr::Slice { inner, offset } => {
            let all = spelled(inner, axes)?;
            if *offset >= all.len() as u64 {
                return None;
            }
            all[*offset as usize..].to_vec()
        }
        Expr::Gather { inner, table } => {
            let all = spelled(inner, axes)?;
            table.iter().map(|at| all.get(*at as usize).cloned()).collect::<Option<Vec<_>>>()?
        }
        // Only sliding expressions without overlap are a list of single cells; the others have a separate test.
        Expr::Slide(_) => return None,
        Expr::Resize { inner, size } => {
            let mut all = spelled(inner, axes)?;
            if *size == 0 || *size > all.len() as u64 {
                return None;
            }
            all.truncate(*size as usize);
            all
        }
        Expr::Stride { inner, n } | Expr::Modulo { inner, n } => {
            let all = spelled(inner, axes)?;
            if *n == 0 || !(all.len() as u64).is_multiple_of(*n) {
                return None;
            }
            match expr {
                Expr::Stride { .. } => all.into_iter().step_by(*n as usize).collect(),
                _ => all.into_iter().take(*n as usize).collect(),
            }
        }
    })
}

/// A part of a composite: `E / 2 % 3` is E by steps of 2, 3 of them. The whole and a single position are no parts.
fn part(expr: &Expr, axes: &Axes) -> Option<(Expr, u64, u64)> {
    let (base, step, size) = cut(expr, axes)?;
    let composite = !matches!(base, Expr::Axis(_) | Expr::Literal(_)) && !gathers(&base);
    (composite && size > 1 && base.size(axes) != Ok(size)).then_some((base, step, size))
}

fn cut(expr: &Expr, axes: &Axes) -> Option<(Expr, u64, u64)> {
    let (Expr::Stride { inner, n } | Expr::Modulo { inner, n } | Expr::Resize { inner, size: n }) = expr
    else {
        return None;
    };
    let (base, step, size) =
        cut(inner, axes).or_else(|| Some(((**inner).clone(), 1, inner.size(axes).ok()?)))?;
    match expr {
        _ if *n == 0 || size % n > 0 => None,
        Expr::Stride { .. } => Some((base, step * n, size / n)),
        _ => Some((base, step, *n)),
    }
}

/// The selection of a table is not shared.
fn gathers(expr: &Expr) -> bool {
    matches!(expr, Expr::Gather { .. }) || expr.children().into_iter().any(gathers)
}

/// The mapping without terms and operators that do nothing.
fn tidy(expr: &Expr, axes: &Axes) -> Option<Expr> {
    let size = expr.size(axes).ok()?;
    let same = |inner: &Expr| inner.size(axes) == Ok(size);
    let tidied = |inner: &Expr| tidy(inner, axes);
    Some(match expr {
        Expr::Pair(terms) | Expr::Outer(terms) => {
            let terms = terms.iter().map(tidied).collect::<Option<Vec<_>>>()?;
            let flat = |term: Expr| if let Expr::Pair(inner) = term { inner } else { vec![term] };
            Expr::pair(terms.into_iter().flat_map(flat).filter(|term| *term != Expr::Literal(1)))
        }
        Expr::Stride { inner, .. }
        | Expr::Modulo { inner, .. }
        | Expr::Resize { inner, .. }
        | Expr::Pad { inner, .. }
        | Expr::Slice { inner, .. }
            if same(inner) =>
        {
            tidied(inner)?
        }
        _ => expr.map_children(|child| tidied(child).ok_or(())).ok()?,
    })
}

/// Wholes by their text, each with the parts of it that a mapping has: strides and sizes.
type Wholes = BTreeMap<String, (Expr, Vec<(u64, u64)>)>;

/// The parts of composites with their step and size, by the composite's text; within a composite they are counted
/// once.
fn parts(expr: &Expr, axes: &Axes, found: &mut Wholes) {
    let Some((base, step, size)) = part(expr, axes) else {
        return expr.children().into_iter().for_each(|child| parts(child, axes, found));
    };
    let Some(tidied) = tidy(&base, axes) else { return };
    let own = found.entry(tidied.to_string()).or_insert((tidied, Vec::new()));
    own.1.push((step, size));
    if own.1.len() == 1 {
        parts(&base, axes, found);
    }
}

/// The cell of one list of events: the first padding or step past its axis decides. Parts of a shared mapping add
/// up; where the last of them is, its own events at the sum follow.
fn settle(events: &[Event], axes: &Axes, wholes: &BTreeMap<String, Vec<Vec<Event>>>) -> Cell {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    let mut reached: BTreeMap<String, u64> = BTreeMap::new();
    let mut rest: Vec<Event> = events.iter().rev().cloned().collect();
    while let Some(event) = rest.pop() {
        match event {
            Event::Pad(kind) => return Cell::Pad(kind),
            Event::Step(name, by) => {
                let size = axes.size(axes.id(&name).unwrap());
                let sum = sums.entry(name).or_default();
                *sum += by;
                if *sum >= size {
                    return Cell::Pad(PadKind::Top);
                }
            }
            Event::Part(text, at) => {
                let sum = reached.entry(text.clone()).or_default();
                *sum += at;
                let Some(own) = wholes[&text].get(*sum as usize) else { return Cell::Pad(PadKind::Top) };
                if !rest.iter().any(|event| matches!(event, Event::Part(other, _) if *other == text)) {
                    rest.extend(own.iter().rev().cloned());
                }
            }
        }
    }
    let entries: Vec<_> = sums.into_iter().map(|(name, n)| (axes.id(&name).unwrap(), n)).collect();
    Cell::Live(Index::from_iter(entries))
}

fn cells(expr: &Expr, axes: &Axes) -> Option<Vec<Cell>> {
    let mut found = BTreeMap::new();
    parts(expr, axes, &mut found);
    // Where all cuts fall on boundaries of the digits, the parts by themselves add up.
    let even = |base: &Expr, cuts: &[(u64, u64)]| {
        digits(base, axes).is_ok_and(|digits| {
            let falls = |at: u64| digits.split(at).is_ok();
            digits.offset().is_empty() && cuts.iter().all(|(step, size)| falls(*step) && falls(step * size))
        })
    };
    found.retain(|_, (base, cuts)| {
        let composite = !matches!(base, Expr::Axis(_) | Expr::Literal(_));
        composite && cuts.len() > 1 && !even(base, cuts)
    });
    let shared: Vec<String> = found.keys().cloned().collect();
    let wholes = found.into_iter().map(|(text, (base, _))| Some((text, spelled(&base, axes, &shared)?)));
    let wholes = wholes.collect::<Option<BTreeMap<_, _>>>()?;
    Some(spelled(expr, axes, &shared)?.iter().map(|events| settle(events, axes, &wholes)).collect())
}

fn table(sizes: &[u64]) -> Axes {
    let mut axes = Axes::new();
    for (name, size) in ["A", "B", "C"].iter().zip(sizes) {
        axes.declare(name, *size).unwrap();
    }
    axes
}

const KINDS: [PadKind; 3] = [PadKind::Bottom, PadKind::Zero, PadKind::Top];

/// Axes of small sizes, primes among them. In one table of three, C is a skewed axis.
fn some_axes() -> impl Strategy<Value = Axes> {
    let sizes = prop::array::uniform3(select(vec![1u64, 2, 3, 4, 5, 6, 8]));
    (sizes, 0..3).prop_map(|(sizes, skewed)| {
        if skewed > 0 {
            return table(&sizes);
        }
        let mut axes = table(&sizes[..2]);
        axes.declare_skew("C", "B", "A").unwrap();
        axes
    })
}

/// Returns true if the text names a skewed axis, and so is written in it at each live position.
fn is_skewed(expr: &Expr, axes: &Axes) -> bool {
    axes.id("C").is_some_and(|c| axes.skew(c).is_some()) && expr.to_string().contains('C')
}

/// Any expression; about half break a size rule.
fn any_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        6 => select(vec!["A", "B", "C"]).prop_map(Expr::axis),
        1 => (0u64..5).prop_map(Expr::Literal),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(Expr::pair),
            1 => prop::collection::vec(inner.clone(), 1..4).prop_map(Expr::outer),
            2 => (inner.clone(), 1u64..5).prop_map(|(e, n)| e.stride(n)),
            2 => (inner.clone(), 1u64..5).prop_map(|(e, n)| e.modulo(n)),
            2 => (inner.clone(), 1u64..9).prop_map(|(e, n)| e.resize(n)),
            3 => (inner.clone(), 2u64..40, select(KINDS.to_vec())).prop_map(|(e, n, kind)| e.pad(n, kind)),
            1 => (inner.clone(), 2u64..40, select(KINDS.to_vec())).prop_map(|(e, n, kind)| e.pad_left(n, kind)),
            2 => (inner.clone(), 0u64..8).prop_map(|(e, n)| e.slice(n)),
            1 => (inner, prop::collection::vec(0u64..8, 1..5)).prop_map(|(e, table)| e.gather(table)),
        ]
    })
}

/// Expressions that keep the size rules: each operator takes a number that fits its operand.
fn sound_expr(axes: Axes) -> impl Strategy<Value = (Axes, Expr)> {
    (any_expr(), prop::collection::vec(0usize..64, 16)).prop_map(move |(expr, picks)| {
        let mut picks = picks.into_iter().cycle();
        let repaired = repair(&expr, &axes, &mut picks);
        (axes.clone(), repaired)
    })
}

/// The same shape with numbers that the size rules allow.
fn repair(expr: &Expr, axes: &Axes, picks: &mut impl Iterator<Item = usize>) -> Expr {
    let mut sized = |inner: &Expr| {
        let inner = repair(inner, axes, picks);
        let size = inner.size(axes).unwrap();
        let divisors: Vec<u64> = (1..=size.min(64)).filter(|n| size.is_multiple_of(*n)).collect();
        let pick = picks.next().unwrap_or(0);
        (inner, size, divisors[pick % divisors.len()], pick as u64)
    };
    let repaired = match expr {
        Expr::Axis(_) | Expr::Alias(_) | Expr::Slide(_) => expr.clone(),
        Expr::Slice { inner, offset } => {
            let (inner, size, divisor, pick) = sized(inner);
            inner.slice(if pick % 2 == 0 { (size - divisor) % size } else { offset % size })
        }
        Expr::Gather { inner, table } => {
            let (inner, size, _, pick) = sized(inner);
            let start = table[0] % size;
            let up = (start..size).take(table.len());
            inner.gather(match pick % 2 {
                0 => up.collect::<Vec<_>>(),
                _ => table.iter().map(|at| at % size).collect(),
            })
        }
        Expr::Literal(n) => Expr::Literal(*n.max(&1)),
        Expr::Pair(terms) => {
            Expr::pair(terms.iter().map(|term| repair(term, axes, picks)).collect::<Vec<_>>())
        }
        Expr::Outer(terms) => {
            Expr::outer(terms.iter().map(|term| repair(term, axes, picks)).collect::<Vec<_>>())
        }
        Expr::Stride { inner, .. } => {
            let (inner, _, divisor, _) = sized(inner);
            inner.stride(divisor)
        }
        Expr::Modulo { inner, .. } => {
            let (inner, _, divisor, _) = sized(inner);
            inner.modulo(divisor)
        }
        Expr::Resize { inner, .. } => {
            let (inner, size, divisor, pick) = sized(inner);
            inner.resize(if pick % 2 == 0 { divisor } else { 1 + pick % size })
        }
        Expr::Pad { inner, kind, side, .. } => {
            let (inner, size, _, pick) = sized(inner);
            let total = if pick % 3 > 0 { size * (1 + pick % 4) } else { size + pick % 7 };
            match side {
                Side::High => inner.pad(total, *kind),
                Side::Low => inner.pad_left(total, *kind),
            }
        }
    };
    // Keep the lists short.
    match repaired.size(axes) {
        Ok(size) if size <= LARGEST => repaired,
        _ => Expr::axis("A"),
    }
}

fn sound() -> impl Strategy<Value = (Axes, Expr)> {
    some_axes().prop_flat_map(sound_expr)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sizes_are_those_of_the_lists(axes in some_axes(), expr in any_expr()) {
        match (expr.size(&axes), spelled(&expr, &axes, &[])) {
            (Ok(size), Some(list)) => prop_assert_eq!(size, list.len() as u64),
            (Ok(size), None) => prop_assert!(too_long(&expr, &axes), "{} has size {}", expr, size),
            (Err(_), list) => prop_assert!(list.is_none(), "{}", expr),
        }
    }

    #[test]
    fn map_and_digits_are_the_lists((axes, expr) in sound()) {
        let list = cells(&expr, &axes).unwrap();
        for (i, cell) in list.iter().enumerate() {
            prop_assert_eq!(map(&expr, &axes, i as u64), Some(cell.clone()), "{} at {}", expr, i);
        }
        prop_assert_eq!(map(&expr, &axes, list.len() as u64), None);
        let Ok(digits) = digits(&expr, &axes) else { return Ok(()) };
        prop_assert_eq!(digits.size(), list.len() as u64);
        for (i, cell) in list.iter().enumerate() {
            prop_assert_eq!(digits.cell(i as u64), Some(cell.clone()), "{} at {}", expr, i);
        }
        prop_assert_eq!(digits.cell(list.len() as u64), None);
        let live = list.iter().filter(|cell| matches!(cell, Cell::Live(_))).count() as u64;
        prop_assert!(digits.live_count().is_none_or(|count| count == live), "{}", expr);
    }

    #[test]
    fn text_round_trips(expr in any_expr()) {
        prop_assert_eq!(Expr::parse(&expr.to_string()), Ok(expr));
    }

    #[test]
    fn no_text_panics(text in "[\\[\\]AaB0-9/%=#{}!, ']{0,24}") {
        if let Ok(expr) = Expr::parse(&text) {
            prop_assert_eq!(Expr::parse(&expr.to_string()), Ok(expr));
        }
    }

    #[test]
    fn equality_is_that_of_the_lists(
        (axes, a) in sound(),
        b in any_expr(),
        picks in prop::collection::vec(0usize..64, 8),
    ) {
        let b = repair(&b, &axes, &mut picks.into_iter().cycle());
        check_equality(&a, &b, &axes)?;
    }

    #[test]
    fn near_misses_are_told_apart(
        (axes, a) in sound(),
        n in 1u64..6,
        kinds in (select(KINDS.to_vec()), select(KINDS.to_vec())),
    ) {
        let size = a.size(&axes).unwrap();
        check_equality(&a.clone().pad(size * n, kinds.0), &a.clone().pad(size * n, kinds.1), &axes)?;
        let padded = Expr::Literal(n).resize(1).pad(n, kinds.0);
        check_equality(&Expr::pair([Expr::Literal(n), a.clone()]), &Expr::pair([padded, a.clone()]), &axes)?;
        check_equality(&Expr::pair([a.clone(), Expr::axis("A")]), &Expr::pair([Expr::axis("A"), a]), &axes)?;
    }

    #[test]
    fn m6_holds_for_any_expression((axes, e) in sound(), (f, g) in (select(vec!["A", "B"]), select(vec!["B", "C"]))) {
        // The book's mappings start with the empty index; a slice, left padding or skewed axis may not, and then
        // these do not hold.
        prop_assume!(map(&e, &axes, 0) == Some(Cell::Live(Index::new())) && !is_skewed(&e, &axes));
        let (f, g) = (Expr::axis(f), Expr::axis(g).pad(9, PadKind::Zero));
        let size = e.size(&axes).unwrap();
        let one = || Expr::Literal(1);
        let same = |a: Expr, b: &Expr| prop_equal(&a, b, &axes);
        same(Expr::pair([e.clone(), one()]), &e)?;
        same(Expr::pair([one(), e.clone()]), &e)?;
        same(e.clone().stride(1), &e)?;
        same(e.clone().pad(size, PadKind::Zero), &e)?;
        same(e.clone().resize(size), &e)?;
        same(e.clone().modulo(1), &one())?;
        let width = f.size(&axes).unwrap();
        same(Expr::pair([e.clone(), f.clone()]).stride(width), &e)?;
        same(Expr::pair([f.clone(), e.clone()]).modulo(size), &e)?;
        let flat = Expr::pair([e.clone(), f.clone(), g.clone()]);
        same(Expr::pair([Expr::pair([e.clone(), f.clone()]), g.clone()]), &flat)?;
        same(Expr::pair([e.clone(), Expr::pair([f, g])]), &flat)?;
    }

    #[test]
    fn parts_make_up_any_expression((axes, e) in sound(), at in (0usize..64, 0usize..64), n in 1u64..3) {
        let divisors = |size: u64| (1..=size).filter(|n| size.is_multiple_of(*n)).collect::<Vec<_>>();
        let size = e.size(&axes).unwrap();
        let coarse = divisors(size)[at.0 % divisors(size).len()];
        let fine = divisors(coarse)[at.1 % divisors(coarse).len()];
        prop_assume!(!gathers(&e));
        // The cells of E itself: no part of it takes part in the expected cells.
        let whole: Vec<_> = (0..size).map(|i| map(&e, &axes, i)).collect();
        let two = Expr::pair([e.clone().stride(coarse), e.clone().modulo(coarse)]);
        let middle = e.clone().stride(fine).modulo(coarse / fine);
        let three = Expr::pair([e.clone().stride(coarse), middle, e.clone().modulo(fine)]);
        // A single position is no part: it is read once for each term. That adds nothing where E starts with the empty
        // index and holds no part that both readings would share.
        let mut shared = Wholes::new();
        parts(&e, &axes, &mut shared);
        let empty = map(&e, &axes, 0) == Some(Cell::Live(Index::new())) && shared.is_empty();
        let (outer, middle, inner) = (size / coarse, coarse / fine, fine);
        let proper = |sizes: &[u64]| empty || !sizes.contains(&1);
        let three_parts = [(&two, proper(&[outer, coarse])), (&three, proper(&[outer, middle, inner]))];
        for parts in three_parts.iter().filter(|(_, holds)| *holds).map(|(parts, _)| *parts) {
            let held: Vec<_> = (0..size).map(|i| map(parts, &axes, i)).collect();
            prop_assert_eq!(&held, &whole, "{} and {}", parts, e);
            prop_equal(parts, &e, &axes)?;
            prop_equal(&normalize(parts, &axes).unwrap(), &e, &axes)?;
        }
        // With a broadcast between them they are not side by side: position (i, k, j) holds the cell of E at i coarse
        // + j.
        prop_assume!(proper(&[outer, coarse]));
        let apart = Expr::pair([e.clone().stride(coarse), Expr::Literal(n), e.clone().modulo(coarse)]);
        let held: Vec<_> = (0..size * n).map(|i| map(&apart, &axes, i)).collect();
        let expected: Vec<_> = (0..size * n).map(|i| map(&e, &axes, i / (coarse * n) * coarse + i % coarse)).collect();
        prop_assert_eq!(&held, &expected, "{} and {}", apart, e);
        prop_equal(&normalize(&apart, &axes).unwrap(), &apart, &axes)?;
        if let Ok(digits) = digits(&apart, &axes) {
            let listed: Vec<_> = (0..size * n).map(|i| digits.cell(i)).collect();
            prop_assert_eq!(&listed, &expected, "{} and {}", apart, e);
        }
    }

    #[test]
    fn splits_and_concatenations_are_those_of_the_lists((axes, a) in sound(), at in 0usize..64) {
        let Ok(whole) = digits(&a, &axes) else { return Ok(()) };
        let list = cells(&a, &axes).unwrap();
        let divisors: Vec<u64> = (1..=whole.size()).filter(|n| whole.size() % n == 0).collect();
        let low = divisors[at % divisors.len()];
        let Ok((minor, major)) = whole.split(low) else { return Ok(()) };
        prop_assert!(whole.offset() == minor.offset() && major.offset().is_empty());
        for (i, cell) in list.iter().enumerate() {
            let i = i as u64;
            if i < low {
                prop_assert_eq!(minor.cell(i), Some(cell.clone()));
            }
            if i.is_multiple_of(low) && whole.offset().is_empty() {
                prop_assert_eq!(major.cell(i / low), Some(cell.clone()));
            }
        }
        prop_assert_eq!(Digits::concat(&major, &minor), Ok(whole));
    }
}

/// Returns true if some part is longer than the oracle spells out.
fn too_long(expr: &Expr, axes: &Axes) -> bool {
    expr.size(axes).is_ok_and(|size| size > LARGEST)
        // The oracle builds prefixes of a pair, and the full product is the longest.
        || expr.children().into_iter().any(|child| too_long(child, axes))
}

fn prop_equal(a: &Expr, b: &Expr, axes: &Axes) -> Result<(), TestCaseError> {
    match equal(a, b, axes) {
        Equality::Equal => Ok(()),
        // Past the enumeration bound a ragged pair may stay open; a wrong answer may not.
        Equality::Unknown { .. } if a.size(axes).is_ok_and(|size| size > 1 << 16) => Ok(()),
        other => Err(TestCaseError::fail(format!("{a} and {b}: {other:?}"))),
    }
}

fn check_equality(a: &Expr, b: &Expr, axes: &Axes) -> Result<(), TestCaseError> {
    let (Some(left), Some(right)) = (cells(a, axes), cells(b, axes)) else { return Ok(()) };
    let beginning = (left.len() != right.len()).then_some(left.len().min(right.len()));
    let expected = left.iter().zip(&right).position(|(a, b)| a != b).or(beginning);
    let live = left.iter().any(|cell| matches!(cell, Cell::Live(_)));
    let expected = match expected {
        // The same coordinates, of B' and of no B'.
        None if live && is_skewed(a, axes) != is_skewed(b, axes) => {
            let found = equal(a, b, axes);
            prop_assert!(matches!(found, Equality::Different { .. }), "{} and {}: {:?}", a, b, found);
            return Ok(());
        }
        None => Equality::Equal,
        Some(at) => {
            Equality::Different { at: at as u64, left: left.get(at).cloned(), right: right.get(at).cloned() }
        }
    };
    prop_assert_eq!(equal(a, b, axes), expected, "{} and {}", a, b);
    Ok(())
}

/// All applications of one operator to an expression of that size, results up to 64 positions.
fn operators(expr: &Expr, size: u64) -> Vec<Expr> {
    let mut all = Vec::new();
    for n in 1..=size {
        if size.is_multiple_of(n) {
            all.push(expr.clone().stride(n));
            all.push(expr.clone().modulo(n));
        }
        all.push(expr.clone().resize(n));
    }
    for total in [size, size + 1, 2 * size, 3 * size, 8, 12, 16] {
        if (size..=64).contains(&total) {
            all.extend(KINDS.map(|kind| expr.clone().pad(total, kind)));
        }
    }
    all
}

/// All expressions of at most two levels over A and B, and all `[E / n, E % n]` over one level, each with
/// its cells, at most 64 of them.
fn universe(axes: &Axes) -> Vec<(Expr, Vec<Cell>)> {
    let listed = |exprs: Vec<Expr>| -> Vec<(Expr, Vec<Cell>)> {
        let cells = exprs.into_iter().filter_map(|expr| Some((cells(&expr, axes)?, expr)));
        cells.filter(|(cells, _)| cells.len() <= 64).map(|(cells, expr)| (expr, cells)).collect()
    };
    let level = |below: &[(Expr, Vec<Cell>)]| {
        let mut exprs: Vec<Expr> = below.iter().map(|(expr, _)| expr.clone()).collect();
        for (major, high) in below {
            exprs.extend(operators(major, high.len() as u64));
            let small = below.iter().filter(|(_, low)| high.len() * low.len() <= 64);
            exprs.extend(small.map(|(minor, _)| Expr::pair([major.clone(), minor.clone()])));
        }
        exprs
    };
    let atoms = listed(vec![Expr::axis("A"), Expr::axis("B"), Expr::Literal(1), Expr::Literal(2)]);
    let once = listed(level(&atoms));
    // One expression for each list of cells keeps the second level small.
    let mut seen = HashMap::new();
    let distinct: Vec<_> =
        once.into_iter().filter(|(expr, cells)| seen.insert(cells.clone(), expr.clone()).is_none()).collect();
    let mut twice = level(&distinct);
    for (expr, cells) in &distinct {
        let size = cells.len() as u64;
        for n in (1..=size).filter(|n| size.is_multiple_of(*n)) {
            twice.push(Expr::pair([expr.clone().stride(n), expr.clone().modulo(n)]));
        }
    }
    listed(twice)
}

/// Digits are equal exactly when cells are, over every pair of a whole universe of expressions.
#[test]
fn an_outer_sum_is_the_sliding_expression_that_it_stands_for() {
    let axes = table(&[4, 6, 5]);
    let parse = |text: &str| Expr::parse(text).unwrap();
    let same = |a: &str, b: &str| equal(&parse(a), &parse(b), &axes);
    for (outer, slide) in [
        ("[A * B]", "[$(A:6, B:1)]"),
        ("[B * A]", "[$(A:1, B:4)]"),
        ("[A * B * C]", "[$($(A:6, B:1):5, C:1)]"),
        ("[A * [B * C]]", "[$(A:30, $(B:5, C:1):1)]"),
        ("[A * B # 8 {0}]", "[$(A:8, B # 8 {0}:1)]"),
        ("[[A * B] / 6]", "[A]"),
        ("[2 * A]", "[2, A]"),
        ("[C, A / 2 * B]", "[C, $(A / 2:6, B:1)]"),
    ] {
        assert_eq!(same(outer, slide), Equality::Equal, "{outer} {slide}");
    }
    for (outer, other) in
        [("[A * B]", "[B * A]"), ("[A * B]", "[$(A:5, B:1)]"), ("[A * B]", "[$(A:6, B:1) # 25]")]
    {
        assert!(matches!(same(outer, other), Equality::Different { .. }), "{outer} {other}");
    }
    // Alike at any size, as digits; and no more indices share a position than in a pair.
    assert_eq!(digits(&parse("[A * B]"), &axes), digits(&parse("[A, B]"), &axes));
    assert_eq!(parse("[A * 0]").size(&axes).unwrap_err().code, "map-size");
    let code = |text: &str| parse(text).size(&axes).unwrap_err().code;
    assert_eq!(
        (code("[4611686018427387904 * A]"), code("[A * Q]")),
        ("map-size-overflow", "map-undeclared-axis")
    );
    assert_eq!(parse("[1152921504606846976 * A]").size(&axes), Ok(1 << 62));
}

#[test]
#[expect(clippy::print_stdout, reason = "the count says how much the test covers")]
fn canonical_digits_are_unique() {
    let (mut pairs, mut equal_pairs, mut ragged, mut total) = (0u64, 0u64, 0, 0);
    for sizes in [[4, 6], [5, 8], [2, 3]] {
        let axes = table(&sizes);
        let mut by_cells: HashMap<Vec<Cell>, (Digits, Expr, u64)> = HashMap::new();
        let mut by_digits: HashMap<Digits, (Vec<Cell>, Expr)> = HashMap::new();
        let mut decided = 0u64;
        for (expr, cells) in universe(&axes) {
            total += 1;
            let digits = match digits(&expr, &axes) {
                Ok(digits) => digits,
                Err(DigitsError::Ragged(_)) => {
                    ragged += 1;
                    continue;
                }
                Err(DigitsError::Map(error)) => panic!("{expr}: {error}"),
            };
            let same = by_digits.entry(digits.clone()).or_insert_with(|| (cells.clone(), expr.clone()));
            assert_eq!(same.0, cells, "{expr} and {} share digits", same.1);
            let same = by_cells.entry(cells).or_insert_with(|| (digits.clone(), expr.clone(), 0));
            assert_eq!(same.0, digits, "{expr} and {} share cells", same.1);
            pairs += decided;
            equal_pairs += same.2;
            decided += 1;
            same.2 += 1;
        }
    }
    println!("{total} expressions, {ragged} ragged, {pairs} pairs, {equal_pairs} of them equal");
    assert!(equal_pairs > 10_000, "the universe is too small to mean anything: {equal_pairs}");
}
