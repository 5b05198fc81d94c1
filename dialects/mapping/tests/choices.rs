//! Numbers by `tm.affine` and `tm.select`, case by case, against values that are worked out for each iteration.

use std::fmt::Write as _;
use visa_ir::context::Context;
use visa_ir::module::{Module, OpRef, ValueId};
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_ir::verify::Analysis as _;
use visa_mapping::DIALECT;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::index::affine::Indices;
use visa_mapping::ops::control::IF;
use visa_mapping::ops::number::{never_runs, number};
use visa_support::Random;

/// Numbers that the two scalars may be.
const COUNTS: [i64; 2] = [5, 7];

/// The construction of a number from those before it, of which the first two are the scalars.
enum Made {
    Sum([(usize, i64); 2], i64),
    Choice { by: usize, inside: usize, outside: usize, from: Option<i64>, below: Option<i64> },
}

fn holds(value: i64, from: Option<i64>, below: Option<i64>) -> bool {
    from.is_none_or(|from| value >= from) && below.is_none_or(|below| value < below)
}

fn small(random: &mut Random, most: i64) -> i64 {
    random.below(2 * most as usize + 1) as i64 - most
}

fn range(random: &mut Random) -> (Option<i64>, Option<i64>) {
    let from = small(random, 6);
    let below = from + 1 + random.below(5) as i64;
    random.of(&[(Some(from), None), (None, Some(below)), (Some(from), Some(below))])
}

fn draw(random: &mut Random, known: usize) -> Made {
    let mut before = || random.below(known);
    let [by, inside, outside] = [before(), before(), before()];
    if random.below(2) == 0 {
        let factors = [small(random, 2), small(random, 2)];
        return Made::Sum([(by, factors[0]), (inside, factors[1])], small(random, 3));
    }
    let (from, below) = range(random);
    Made::Choice { by, inside, outside, from, below }
}

fn bounds(from: Option<i64>, below: Option<i64>) -> String {
    let [from, below] =
        [("from", from), ("below", below)].map(|(word, at)| at.map(|at| format!("{word} {at}")));
    [from, below].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn text(made: &[Made], (by, from, below): (usize, Option<i64>, Option<i64>)) -> String {
    let [s, t] = COUNTS;
    let mut text = format!(
        "visa 1\ntm.axes [S = {s}, T = {t}]\ntm.func @f(%v0: !tm.scalar<[S]>, %v1: !tm.scalar<[T]>) {{\n"
    );
    for (at, made) in made.iter().enumerate() {
        let _infallible = match made {
            Made::Sum([(one, first), (other, second)], plus) => {
                writeln!(
                    text,
                    "  %v{} = tm.affine %v{one}, %v{other} by [{first}, {second}], plus {plus}",
                    at + 2
                )
            }
            Made::Choice { by, inside, outside, from, below } => {
                let bounds = bounds(*from, *below);
                writeln!(text, "  %v{} = tm.select %v{by}, %v{inside}, %v{outside} {bounds}", at + 2)
            }
        };
    }
    text + &format!("  tm.if %v{by} {} {{\n    tm.yield\n  }}\n  tm.return\n}}\n", bounds(from, below))
}

/// The values of all numbers where the scalars are these.
fn values(made: &[Made], scalars: [i64; 2]) -> Vec<i64> {
    let mut values = scalars.to_vec();
    for made in made {
        values.push(match made {
            Made::Sum(terms, plus) => plus + terms.iter().map(|(at, by)| values[*at] * by).sum::<i64>(),
            Made::Choice { by, inside, outside, from, below } => {
                values[if holds(values[*by], *from, *below) { *inside } else { *outside }]
            }
        });
    }
    values
}

/// Checks a number as `op` sees it where the scalars are these: one case applies, and gives the value of the number.
fn check(op: OpRef<'_>, value: ValueId, axes: &DeclaredAxes, indices: &Indices, wanted: i64, text: &str) {
    let cases = number(op, value, &axes.0).expect("it has a number there");
    let applies = |bound: &visa_mapping::index::cases::Bound| bound.holds(indices) == Some(true);
    let own: Vec<_> = cases.iter().filter(|case| case.bounds.iter().all(applies)).collect();
    assert_eq!(own.len(), 1, "{indices:?}\n{text}");
    assert_eq!(own[0].what.at(indices), Some(wanted), "{indices:?}\n{text}");
    let (least, most) = own[0].what.range().expect("small numbers");
    assert!((least..=most).contains(&wanted), "{wanted} is not in {least} to {most}\n{text}");
    assert_eq!(cases.at(indices).and_then(|number| number.at(indices)), Some(wanted), "{text}");
}

fn read(ctx: &Context, text: &str) -> Module {
    let source = Source::new("test", text.to_owned());
    let parsed = parse(ctx, &source, 0..source.text.len());
    assert_eq!(parsed.diagnostics, [], "{text}");
    parsed.module
}

#[test]
fn numbers_are_what_their_cases_say() {
    let ctx = Context::new(&[&DIALECT]);
    let (mut whole, mut with_cases) = (0, 0);
    for case in 0..400 {
        let random = &mut Random::of_case(77, case);
        let made: Vec<Made> = (0..1 + random.below(6)).map(|at| draw(random, at + 2)).collect();
        let (from, below) = range(random);
        let by = random.below(made.len() + 2);
        let text = text(&made, (by, from, below));
        let module = read(&ctx, &text);
        let axes = DeclaredAxes::build(&ctx, &module);
        let ops: Vec<OpRef<'_>> = module.walk_all().into_iter().map(|id| module.op(&ctx, id)).collect();
        let branch = *ops.iter().find(|op| op.is(&IF)).expect("a branch");
        let inside = branch.other(module.ops(branch.regions()[0])[0]);
        let scalars = module.args(branch.block()).to_vec();
        let results = ops.iter().flat_map(|op| op.results().to_vec());
        let all: Vec<ValueId> = scalars.iter().copied().chain(results).collect();
        // More cases than are told apart are refused.
        if all.iter().any(|&value| number(branch, value, &axes.0).is_err()) {
            continue;
        }
        whole += 1;
        with_cases += usize::from(
            all.iter()
                .any(|&value| number(branch, value, &axes.0).is_ok_and(|cases| cases.iter().count() > 1)),
        );
        for scalar in 0..COUNTS[0] * COUNTS[1] {
            let at = [scalar / COUNTS[1], scalar % COUNTS[1]];
            let indices: Indices =
                scalars.iter().zip(at).map(|(&value, at)| (value, at.cast_unsigned())).collect();
            let values = values(&made, at);
            let runs = holds(values[by], from, below);
            assert!(!runs || !never_runs(inside, &axes.0).expect("a condition"), "{at:?}\n{text}");
            for (&value, &wanted) in all.iter().zip(&values) {
                check(branch, value, &axes, &indices, wanted, &text);
                if runs && number(inside, value, &axes.0).is_ok() {
                    check(inside, value, &axes, &indices, wanted, &text);
                }
            }
        }
    }
    assert!(whole > 300 && with_cases > 150, "{whole} are not refused, {with_cases} have cases");
}
