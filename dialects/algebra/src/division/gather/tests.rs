use super::*;
use crate::meaning::digits::digits;
use crate::meaning::placement::{place, place_expr};
use visa_loops::Stride;

fn axes() -> Axes {
    let mut axes = Axes::new();
    for (name, size) in [("A", 8), ("B", 4), ("C", 8), ("T", 2)] {
        axes.declare(name, size).unwrap();
    }
    axes
}

/// The first position read, and the loops of a stream over a buffer, outermost first, as the sequencer writes them.
fn walks(buffer: &str, stream: &str) -> Result<(i64, Vec<String>), String> {
    let axes = axes();
    let mut gathers = Gathers::new(&axes);
    let order = gathers.stream(&Expr::parse(stream).unwrap())?;
    let held = gathers.buffer(&Expr::parse(buffer).unwrap())?;
    let order = place(&digits(&order, gathers.axes()).map_err(|error| error.to_string())?, 1);
    let held = place_expr(&held, gathers.axes(), 1).map_err(|error| error.to_string())?;
    let free = |axis| held.of_axis(axis).next().is_none();
    let division = gathers.divide(&order, &held, &free).map_err(|error| error.to_string())?;
    let shown = division.steps.iter().rev().map(|step| match &step.movement {
        Movement::By(Stride::Fixed(stride)) => format!("{} : {stride}", step.extent),
        Movement::By(Stride::Table(table)) => format!("{} : {table:?}", step.extent),
        Movement::Broadcast => format!("{} : broadcast", step.extent),
        Movement::Padding => format!("{} : padding", step.extent),
    });
    Ok((division.base, shown.collect()))
}

fn check(buffer: &str, stream: &str, base: i64, loops: &[&str]) {
    let expected = Ok((base, loops.iter().map(|text| (*text).to_owned()).collect()));
    assert_eq!(walks(buffer, stream), expected, "{stream} from {buffer}");
}

#[test]
fn offsets_are_relative_to_the_first_entry() {
    check("[A, C]", "[A @ (0, 2, 1), C]", 0, &["3 : [0, 16, 8]", "8 : 1"]);
    check("[A, C]", "[A @ (3, 1, 5), C]", 24, &["3 : [0, -16, 16]", "8 : 1"]);
    check(
        "[A, C]",
        "[T, A @ (3, 1), A @ (1, 3, 0) # 4, C]",
        32,
        &["2 : broadcast", "2 : -16", "4 : [0, 16, -8]", "8 : 1"],
    );
    // A = 6 of blocks of 4 is 2 further in the second block.
    check("[A / 4, C, A % 4]", "[A @ (1, 6, 0)]", 1, &["3 : [0, 33, -1]"]);
    // A table that counts up, across the blocks.
    check("[A / 4, C, A % 4]", "[A @ (3, 4, 5)]", 3, &["3 : [0, 29, 30]"]);
    check("[$(A:1, B:2)]", "[B @ (1, 0, 3), A]", 2, &["3 : [0, -2, 4]", "8 : 1"]);
}

#[test]
fn even_tables_are_strides() {
    check("[A, C]", "[A @ (1, 3, 5), C]", 8, &["3 : 16", "8 : 1"]);
    check("[A, C]", "[A @ (5, 3, 1), C]", 40, &["3 : -16", "8 : 1"]);
    check("[A, C]", "[A @ (2, 2, 2), C]", 16, &["3 : broadcast", "8 : 1"]);
    check("[A, C]", "[A @ (6), C]", 48, &["8 : 1"]);
    check("[A, C]", "[A @ (6, 6, 1) % 1, C]", 48, &["8 : 1"]);
    // The same table of an axis that the tensor does not depend on.
    check("[A, C]", "[T @ (1, 0, 1), C]", 0, &["3 : broadcast", "8 : 1"]);
}

#[test]
fn parts_of_a_table_are_tables() {
    check("[A, C]", "[A @ (3, 1, 5, 0, 2, 2) / 2, C]", 24, &["3 : [0, 16, -8]", "8 : 1"]);
    check("[A, C]", "[A @ (3, 1, 5, 0, 2, 2) % 3, C]", 24, &["3 : [0, -16, 16]", "8 : 1"]);
    check("[A, C]", "[A @ (3, 1, 5, 0, 2, 2) @ 3, C]", 0, &["3 : [0, 16, 16]", "8 : 1"]);
    check("[A, B]", "[[A, B] @ (9, 3, 30)]", 9, &["3 : [0, -6, 21]"]);
    // Of a group that is split across, the rest steps as ever.
    check(
        "[A, C]",
        "[[A @ (3, 1, 4), C] / 4, T, C % 4]",
        24,
        &["3 : [0, -16, 8]", "2 : 4", "2 : broadcast", "4 : 1"],
    );
}

#[test]
fn a_buffer_filled_through_the_same_table_is_read_in_order() {
    check("[A @ (3, 1, 5), C]", "[A @ (3, 1, 5), C]", 0, &["3 : 8", "8 : 1"]);
    check("[C, A @ (3, 1, 5, 7)]", "[A @ (3, 1, 5, 7) / 2, C]", 0, &["2 : 2", "8 : 4"]);
    // Twice in the stream, it differs from the content of the buffer.
    let twice = walks("[A @ (3, 1, 5, 7), C]", "[A @ (3, 1, 5, 7) / 2, C, A @ (3, 1, 5, 7) % 2]");
    assert!(twice.is_err_and(|why| why.contains("does not count up by one")));
}

#[test]
fn what_cannot_be_gathered_says_why() {
    let refused = |buffer: &str, stream: &str| walks(buffer, stream).unwrap_err();
    assert_eq!(refused("[A = 4, C]", "[A @ (3, 5)]"), "it does not hold `A @ 5`");
    assert_eq!(
        refused("[A, C]", "[A # 10 @ (0, 9)]"),
        "entry 1 of the table of `A # 10 @ (0, 9)` picks padding"
    );
    assert_eq!(
        refused("[A]", "[$(A:1, B:2) @ (2, 0)]"),
        "entry 0 of the table of `$(A:1, B:2) @ (2, 0)` picks several indices"
    );
    // From A = 2 on, two steps stay in the block of 4; from 3 on they do not.
    check("[A / 4, C, A % 4]", "[A @ (2, 0, 4), A % 2]", 2, &["3 : [0, -2, 30]", "2 : 1"]);
    assert_eq!(
        refused("[A / 4, C, A % 4]", "[A @ (2, 3), A % 2]"),
        "steps along A run from one of its blocks of 4 into the next"
    );
    // 2 and 1 are 3, in the block of 4; 3 and 1 are 4, in the next.
    assert_eq!(
        refused("[A / 4, C, A % 4]", "[A @ (2, 3, 0), A @ (0, 1, 1)]"),
        "`A @ (2, 3, 0)`, `A @ (0, 1, 1)` cannot be read by offset tables: their entries are at no sum of an \
         offset each"
    );
}

#[test]
fn picks_are_bounded() {
    let long = |count: u64| (0..count).map(|at| ((at * at) % 8).to_string()).collect::<Vec<_>>().join(", ");
    let stream = |a: u64, c: u64| format!("[A @ ({}), C @ ({})]", long(a), long(c));
    assert!(walks("[A, C]", &stream(256, 256)).is_ok());
    let why = walks("[A, C]", &stream(256, 257)).unwrap_err();
    assert!(
        why.ends_with("cannot be read by offset tables: there are more than 65536 picks together"),
        "{why}"
    );
    assert!(why.starts_with("`A @ (0, 1, 4, 1, 0, 1, 4, 1, ...)`, `C @ ("), "{why}");
}
