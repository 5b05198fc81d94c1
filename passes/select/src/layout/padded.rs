//! Layouts of a register file that are filled up to whole flits: it takes no less (book 18), and the contraction
//! reads 64 bytes (book 15).

use visa_algebra::{Axes, Expr, PadKind};
use visa_machine::Machine;
use visa_numerics::DType;

/// A layout whose rows are whole flits; of another one, those with the innermost part padded, with anything or
/// with zeros.
#[must_use]
pub(crate) fn whole_flits(
    (outer, inner): (Expr, Expr),
    dtype: DType,
    machine: &Machine,
    axes: &Axes,
) -> Vec<Expr> {
    let join =
        |inner: Expr| Expr::pair([outer.clone(), inner].into_iter().filter(|part| *part != Expr::Literal(1)));
    let whole = join(inner.clone());
    let limits = &machine.limits;
    let (flit, width) = (dtype.elements(limits.flit_bytes), dtype.elements(limits.mac_width_bytes));
    let (Ok(size), Ok(own)) = (whole.size(axes), inner.size(axes)) else { return Vec::new() };
    if size.is_multiple_of(flit) {
        return vec![whole];
    }
    let mut sizes = vec![own.next_multiple_of(flit), own.next_multiple_of(width)];
    sizes.dedup();
    let kinds = [PadKind::Top, PadKind::Zero];
    let padded = sizes.iter().flat_map(|&size| kinds.map(|kind| join(inner.clone().pad(size, kind))));
    padded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 63 elements of a byte lack one of two flits; 28 of two bytes lack 4, which are both two flits and 64 bytes;
    /// 3 of 8 rows lack 29.
    #[test]
    fn what_is_no_whole_flit_is_filled_up() {
        let mut axes = Axes::new();
        for (name, size) in [("A", 63), ("K", 28), ("R", 8), ("C", 3), ("E", 64)] {
            axes.declare(name, size).expect("a new axis");
        }
        let texts = |outer: Expr, inner: &str, dtype: DType| -> Vec<String> {
            let layouts = whole_flits((outer, Expr::axis(inner)), dtype, &Machine::rngd(), &axes);
            layouts.iter().map(ToString::to_string).collect()
        };
        assert_eq!(texts(Expr::Literal(1), "A", DType::I8), ["[A # 64]", "[A # 64 {0}]"]);
        assert_eq!(texts(Expr::Literal(1), "K", DType::Bf16), ["[K # 32]", "[K # 32 {0}]"]);
        assert_eq!(
            texts(Expr::axis("R"), "C", DType::I8),
            ["[R, C # 32]", "[R, C # 32 {0}]", "[R, C # 64]", "[R, C # 64 {0}]"]
        );
        assert_eq!(texts(Expr::axis("R"), "E", DType::I8), ["[R, E]"]);
    }
}
