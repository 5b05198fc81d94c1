use super::*;
use crate::expr::Expr;
use crate::meaning::cell::Cell;
use crate::meaning::digits::{Digits, digits};
use crate::meaning::placement::{place, place_expr};
use visa_loops::Stride;

fn axes() -> Axes {
    let mut axes = Axes::new();
    for (name, size) in [("A", 8), ("B", 8), ("C", 8), ("N", 2048), ("F", 15), ("T", 4)] {
        axes.declare(name, size).unwrap();
    }
    axes
}

type Divide = fn(&Placement, &Placement, &dyn Fn(AxisId) -> bool, &Axes) -> Result<Division, DivideError>;

/// Divides; the tensor depends on the axes that the buffer names.
fn divided(divide: Divide, buffer: &str, stream: &str) -> Result<Division, DivideError> {
    let axes = axes();
    let read = |text: &str| place_expr(&Expr::parse(text).unwrap(), &axes, 1).unwrap();
    let (stream, buffer) = (read(stream), read(buffer));
    let free = |axis| buffer.of_axis(axis).next().is_none() && buffer.start(axis) == 0;
    divide(&stream, &buffer, &free, &axes)
}

fn walk(buffer: &str, stream: &str) -> Result<Vec<(u64, Movement)>, String> {
    let division = divided(divide, buffer, stream).map_err(|error| error.to_string())?;
    Ok(division.steps.iter().rev().map(|step| (step.extent, step.movement.clone())).collect())
}

fn base(buffer: &str, stream: &str) -> Result<i64, String> {
    divided(divide, buffer, stream).map(|division| division.base).map_err(|error| error.to_string())
}

/// Strides, outermost first.
fn strides(buffer: &str, stream: &str) -> Vec<i64> {
    let stride = |(_, walk)| match walk {
        Movement::By(Stride::Fixed(stride)) => stride,
        Movement::By(Stride::Table(_)) | Movement::Broadcast | Movement::Padding => 0,
    };
    walk(buffer, stream).unwrap().into_iter().map(stride).collect()
}

#[test]
fn book_07_rearranging() {
    let entries = walk("[A, B, C # 32]", "[B, A, C # 16]").unwrap();
    assert_eq!(
        entries,
        [
            (8, Movement::By(Stride::Fixed(32))),
            (8, Movement::By(Stride::Fixed(256))),
            (16, Movement::By(Stride::Fixed(1)))
        ]
    );
}

#[test]
fn book_07_splitting() {
    let entries = walk("[A, B, C # 8]", "[A % 2, B % 4, A / 2, B / 4, C # 32]").unwrap();
    let strides =
        [(2, 64), (4, 8), (4, 128), (2, 32), (32, 1)].map(|(n, s)| (n, Movement::By(Stride::Fixed(s))));
    assert_eq!(entries, strides);
}

#[test]
fn a_stream_digit_is_cut_where_the_buffer_changes_order() {
    let entries = walk("[N % 512, N / 512]", "[N]").unwrap();
    assert_eq!(entries, [(4, Movement::By(Stride::Fixed(1))), (512, Movement::By(Stride::Fixed(4)))]);
}

#[test]
fn axes_the_tensor_does_not_depend_on_broadcast() {
    assert_eq!(
        walk("[A]", "[T, A]").unwrap(),
        [(4, Movement::Broadcast), (8, Movement::By(Stride::Fixed(1)))]
    );
}

#[test]
fn missing_and_incompatible_are_named() {
    let cases = [
        ("[N % 512]", "[N / 512, N % 512]", "it does not hold `N / 512`"),
        ("[N % 512]", "[N]", "it does not hold `N / 512`"),
        ("[F % 5, F / 5]", "[F % 3, F / 3]", "radices 3 and 5 of F have no common refinement"),
        ("[F % 3, F / 3]", "[F / 5]", "radices 5 and 3 of F have no common refinement"),
        // 6 of the blocks of 4 is no whole number of blocks.
        ("[A % 4, A / 4]", "[A = 6]", "radices 6 and 4 of A have no common refinement"),
        ("[A / 2]", "[A % 2]", "it does not hold `A % 2`"),
        ("[A / 4, A % 2]", "[A]", "it does not hold `A / 2 % 2`"),
        ("[A / 4]", "[A]", "it does not hold `A % 4`"),
        ("[A % 4]", "[A = 6]", "it does not hold `A @ 4`"),
    ];
    for (buffer, stream, why) in cases {
        assert_eq!(walk(buffer, stream).unwrap_err(), why, "{stream} from {buffer}");
    }
}

#[test]
fn slices_start_inside_the_buffer() {
    assert_eq!(base("[N, A]", "[N @ 1024, A]"), Ok(8192));
    assert_eq!(base("[N, A]", "[N @ 1024, A @ 3]"), Ok(8195));
    assert_eq!(base("[A, B]", "[B @ 2, A]"), Ok(2));
    // 6 = 4 * 1 + 2: one block of A / 4, two steps of A % 4.
    assert_eq!(base("[A % 4, B, A / 4]", "[A @ 6]"), Ok(2 * 16 + 1));
    assert_eq!(base("[A @ 4]", "[A @ 6]"), Ok(2));
    assert_eq!(base("[A @ 4]", "[A @ 4]"), Ok(0));
    assert_eq!(base("[A @ 4]", "[A @ 4 = 2]"), Ok(0));
    assert_eq!(base("[A]", "[T @ 2, A]"), Ok(0));
    assert_eq!(base("[A # 16 {left}]", "[A @ 1]"), Ok(9));
    assert_eq!(strides("[A, B]", "[B @ 2, A @ 1]"), [1, 8]);
}

#[test]
fn slices_that_are_not_held() {
    let cases = [
        ("[A @ 4]", "[A]", "it does not hold `A = 4`"),
        ("[A @ 4]", "[A @ 2]", "it does not hold `A @ 2 = 2`"),
        ("[A = 6]", "[A @ 2 = 5]", "it does not hold `A @ 6`"),
        ("[A / 2]", "[A @ 1 = 1]", "it does not hold `A @ 1`"),
        ("[A % 4, B]", "[A @ 4]", "it does not hold `A @ 4`"),
        ("[A % 4, B]", "[A @ 2 = 4]", "it does not hold `A @ 4`"),
        // 2, 3 are in the first block, 4, 5 in the second.
        ("[A / 4, B, A % 4]", "[A @ 2 = 4]", "steps along A run from one of its blocks of 4 into the next"),
        (
            "[A / 4, B, A % 4]",
            "[A / 2, A % 4]",
            "steps along A run from one of its blocks of 4 into the next",
        ),
    ];
    for (buffer, stream, why) in cases {
        assert_eq!(base(buffer, stream).unwrap_err(), why, "{stream} from {buffer}");
    }
    assert_eq!(base("[A = 6]", "[A @ 2 = 4]"), Ok(2));
    assert_eq!(base("[A / 4, B, A % 4]", "[A @ 4]"), Ok(32));
    assert_eq!(base("[A / 4, B, A % 4]", "[A @ 2 = 2]"), Ok(2));
    // 2 * 8 + 7 = 15 is past F: padding, which may be read.
    assert_eq!(base("[F # 16]", "[F # 16 % 8, F # 16 / 8]"), Ok(0));
    // F = 12 is not: 12, 13 and 14 are not there.
    assert_eq!(
        base("[F = 12]", "[F = 12 # 16 % 8, F = 12 # 16 / 8]").unwrap_err(),
        "it does not hold `F @ 12`"
    );
}

#[test]
fn book_03_sliding_windows() {
    assert_eq!(
        walk("[$(A:1, T:2)]", "[A, T]").unwrap(),
        [(8, Movement::By(Stride::Fixed(1))), (4, Movement::By(Stride::Fixed(2)))]
    );
    // Below the slide are 4 positions; it has 14 itself.
    assert_eq!(strides("[B, $(A:1, T:2), C % 4]", "[C % 2, T, A, B]"), [1, 8, 4, 56]);
    assert_eq!(base("[$(A:1, T:2)]", "[A @ 3, T @ 1]"), Ok(5));
}

#[test]
fn skewed_axes_are_no_loop() {
    let mut axes = axes();
    axes.declare_skew("B'", "B", "A").unwrap();
    let read = |text: &str| place_expr(&Expr::parse(text).unwrap(), &axes, 1).unwrap();
    let check = |buffer: &str, stream: &str| {
        let buffer = read(buffer);
        let free = |axis| buffer.of_axis(axis).next().is_none();
        divide(&read(stream), &buffer, &free, &axes).map(|_| ()).map_err(|error| error.to_string())
    };
    let refused = Err("B' is skewed and wraps around, which no loop nest does".to_owned());
    assert_eq!(check("[A, B]", "[A, B' = 4]"), refused);
    assert_eq!(check("[A, B']", "[A, B]"), refused);
    assert_eq!(check("[A, B']", "[B', A]"), Ok(()));
    // A tensor of A alone is the same everywhere along B and B'.
    assert_eq!(check("[A]", "[A, B']"), Ok(()));
}

/// The rest, spelled as digits.
fn rest(buffer: &str, stream: &str) -> Digits {
    let rest = divided(divide, buffer, stream).unwrap().rest;
    rest.iter().fold(Digits::unit(), |all, placed| Digits::concat(&Digits::of(placed.digit), &all).unwrap())
}

#[test]
fn book_07_what_is_left_of_the_buffer() {
    let axes = axes();
    let cases = [
        ("[A, B, C # 32]", "[B]", "[A, 1 # 8, C # 32]"),
        ("[A, B, C # 32]", "[B, A]", "[1 # 64, C # 32]"),
        ("[A, B, C # 32]", "[B, A, C # 16]", "[1 # 2048]"),
        ("[A, B, C # 8]", "[A % 2, B % 4]", "[A / 2, 1 # 2, B / 4, 1 # 4, C # 8]"),
        ("[A, B, C # 8]", "[A % 2, B % 4, A / 2]", "[1 # 8, B / 4, 1 # 4, C # 8]"),
        ("[A, B, C]", "[A / 4, A % 4 = 3, B / 4]", "[1 # 16, B % 4, C]"),
        ("[A]", "[T]", "[A]"),
        ("[B, A # 12]", "[B, A / 4, A % 4]", "[1 # 96]"),
        ("[B, A # 12]", "[A / 4]", "[B, A # 12 / 4 = 1 # 3, A % 4]"),
        ("[A]", "[A / 2 % 2]", "[A / 4, 1 # 2, A % 2]"),
    ];
    for (buffer, stream, left) in cases {
        let left = digits(&Expr::parse(left).unwrap(), &axes).unwrap();
        assert_eq!(rest(buffer, stream), left, "{stream} from {buffer}");
    }
}

#[test]
fn exact_division_reads_each_element_once() {
    let exact = |buffer: &str, stream: &str| {
        divided(divide_exact, buffer, stream).map(|_| ()).map_err(|error| error.to_string())
    };
    let yes = [
        ("[A, B]", "[B, A]"),
        ("[A, B # 16]", "[B % 2, A # 32, B / 2]"),
        ("[F # 16]", "[F # 16 / 4, F # 16 % 4]"),
        ("[A @ 2]", "[A @ 2]"),
        ("[1]", "[1 # 8]"),
    ];
    for (buffer, stream) in yes {
        assert_eq!(exact(buffer, stream), Ok(()), "{stream} from {buffer}");
    }
    let no = [
        ("[A]", "[T, A]", "it is repeated 4 times"),
        ("[A, B]", "[B]", "`A` is left over"),
        ("[A, B]", "[B, A % 2]", "`A / 2` is left over"),
        ("[A]", "[A @ 1]", "not each of `A` is read once"),
        ("[A]", "[A = 7]", "not each of `A` is read once"),
        ("[A, 2]", "[A]", "`2` is left over"),
        ("[A]", "[A / 2, A % 4]", "not each of `A` is read once"),
        ("[N % 512]", "[N]", "it does not hold `N / 512`"),
    ];
    for (buffer, stream, why) in no {
        assert_eq!(exact(buffer, stream).unwrap_err(), why, "{stream} from {buffer}");
    }
}

/// The walk against enumeration: position i of the stream must be read where the buffer holds its index.
#[test]
fn walks_agree_with_enumeration() {
    let axes = axes();
    let cases = [
        ("[A, B]", "[B, A]"),
        ("[A / 2, B, A % 2]", "[A, B % 4, B / 4]"),
        ("[B / 4, A, B % 4]", "[A % 4, B, A / 4]"),
        ("[A # 16, B]", "[B / 2, A # 16, B % 2]"),
        ("[A, B]", "[B @ 4, A @ 2 = 5]"),
        ("[A / 2, B, A % 2]", "[A @ 2, B % 4, B / 4]"),
    ];
    for (buffer, stream) in cases {
        let read = |text: &str| digits(&Expr::parse(text).unwrap(), &axes).unwrap();
        let (held, order) = (read(buffer), read(stream));
        let division = divide(&place(&order, 1), &place(&held, 1), &|_| false, &axes).unwrap();
        for position in 0..order.size() {
            let Some(Cell::Live(index)) = order.cell(position) else { continue };
            let (mut rest, mut address) = (position, division.base);
            for step in &division.steps {
                let Movement::By(Stride::Fixed(stride)) = step.movement else { continue };
                address += stride * (rest % step.extent) as i64;
                rest /= step.extent;
            }
            assert_eq!(held.cell(address as u64), Some(Cell::Live(index)), "{stream} at {position}");
        }
    }
}

/// The buffer holds F = 1, 2, 4, 5: both 2 and 4 are there, but the step from one to the other crosses a block of 3.
#[test]
fn what_is_held_across_blocks_is_not_missing() {
    let error = divided(divide, "[F = 6 / 3, F = 3 @ 1]", "[F = 6 / 2 @ 1]").unwrap_err();
    assert!(matches!(error, DivideError::Carry { block: 3, .. }), "{error:?}");
    // From 2 to 6 the radices do not fit at all.
    let error = divided(divide, "[F = 6 / 3, F = 3 @ 1]", "[F @ 2 = 8 / 4]").unwrap_err();
    assert!(matches!(error, DivideError::Incompatible { radices: (4, 3), .. }), "{error:?}");
}
