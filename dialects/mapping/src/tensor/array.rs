//! Tensors as arrays: which extents a host or HBM tensor has in a data file, in which order.

use crate::tensor::{Dim, Tensor};
use std::collections::HashSet;
use visa_algebra::{Axes, AxisId, Digit, Digits, digits};
use visa_ir::diag::counted;

/// The array of a host or HBM tensor: a dimension for each axis that its mappings name, in the order in which they
/// first name them, major to minor. The number of dimensions does not depend on sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayLayout {
    /// Extents, outermost first; 1 for an axis of which only coordinate 0 is held; empty for a scalar.
    pub shape: Vec<u64>,
    /// The axes that have more than one coordinate in the array, each with its extent, in the same order.
    pub dims: Vec<(AxisId, u64)>,
}

/// The array that data files give for a tensor. Each of its axes must be held from coordinate 0 on without a gap,
/// each index once, or once on each chip.
///
/// # Errors
/// If a mapping is unsound, or holds only part of an axis.
pub fn array_layout(tensor: &Tensor, axes: &Axes) -> Result<ArrayLayout, String> {
    let mut all: Vec<Digit> = Vec::new();
    let mut named: Vec<AxisId> = Vec::new();
    for dim in [Dim::Chip, Dim::Element] {
        let Some(map) = tensor.map(dim) else { continue };
        let found: Digits =
            digits(map, axes).map_err(|error| format!("{} mapping `{map}`: {error}", dim.name()))?;
        let copies = found.iter().find(|digit| digit.axis.is_none() && digit.live > 1);
        if let Some(copies) = copies.filter(|_| dim == Dim::Element) {
            let (dim, copies) = (dim.name(), copies.live);
            return Err(format!(
                "{dim} mapping `{map}` holds each element {}, expected once",
                counted(copies, "time")
            ));
        }
        if let Some(offset) = found.offset().first() {
            let (dim, name, from) = (dim.name(), axes.name(offset.axis), offset.coordinate);
            return Err(format!("{dim} mapping `{map}` holds {name} from {from} on; an array starts at 0"));
        }
        all.extend(found.iter().rev());
        named.extend(map.axis_names(axes).iter().filter_map(|name| axes.id(name)));
    }
    let mut seen = HashSet::new();
    named.retain(|&axis| seen.insert(axis));
    let extents = named.iter().map(|&axis| extent(axis, &all, axes)).collect::<Result<Vec<u64>, _>>()?;
    let held = |axis: &AxisId| all.iter().any(|digit| digit.axis == Some(*axis));
    let dims =
        named.iter().zip(&extents).filter(|(axis, _)| held(axis)).map(|(&axis, &extent)| (axis, extent));
    Ok(ArrayLayout { dims: dims.collect(), shape: extents })
}

/// Number of coordinates of the axis that are held: digits in order of stride must count on from one another.
fn extent(axis: AxisId, digits: &[Digit], axes: &Axes) -> Result<u64, String> {
    let mut own: Vec<_> = digits.iter().filter(|digit| digit.axis == Some(axis)).collect();
    own.sort_by_key(|digit| digit.stride);
    let mut held = 1;
    for digit in own {
        if digit.stride != held {
            let name = axes.name(axis);
            return Err(format!(
                "it holds {name} only in part: coordinates must run from 0 without a gap, each once"
            ));
        }
        held = digit.stride * digit.live;
    }
    // The topmost digit may run past the end of the axis, where there is padding.
    Ok(held.min(axes.size(axis)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::memories::{HBM, HOST};
    use crate::tensor::parse_tensor;
    use visa_algebra::Expr;

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("B", 512), ("I", 512), ("J", 256), ("N", 100), ("One", 1), ("Huge", 1 << 40)] {
            axes.declare(name, size).unwrap();
        }
        axes
    }

    /// The extents of a host tensor, or with two mappings of an HBM tensor, with the names of those that count.
    fn shape(maps: &[&str]) -> Result<Vec<(String, u64)>, String> {
        let kind = if maps.len() == 2 { &HBM } else { &HOST };
        let body = parse_tensor(kind, &format!("i8, {}", maps.join(", "))).unwrap().into_any();
        let axes = axes();
        let layout = array_layout(body.downcast_ref().unwrap(), &axes)?;
        let counting =
            |extents: &mut dyn Iterator<Item = u64>| extents.filter(|&extent| extent > 1).collect::<Vec<_>>();
        let dims = counting(&mut layout.dims.iter().map(|dim| dim.1));
        assert_eq!(counting(&mut layout.shape.iter().copied()), dims);
        Ok(layout.dims.iter().map(|&(axis, extent)| (axes.name(axis).to_owned(), extent)).collect())
    }

    #[test]
    fn shapes_follow_the_axes() {
        type Case = (&'static [&'static str], &'static [(&'static str, u64)]);
        let cases: [Case; 15] = [
            (&["[1]"], &[]),
            (&["[B]"], &[("B", 512)]),
            (&["[I, J]"], &[("I", 512), ("J", 256)]),
            (&["[I / 32, J / 32, I % 32, J % 32]"], &[("I", 512), ("J", 256)]),
            (&["[J % 32, I, J / 32]"], &[("J", 256), ("I", 512)]),
            (&["[B % 4]"], &[("B", 4)]),
            (&["[B @ 0]"], &[("B", 512)]),
            (&["[B % 4 = 3 # 8]"], &[("B", 3)]),
            (&["[N # 128 / 32, J, N # 128 % 32]"], &[("N", 100), ("J", 256)]),
            (&["[One, J # 300]"], &[("J", 256)]),
            (&["[1 # 8, J]"], &[("J", 256)]),
            (&["[Huge]"], &[("Huge", 1 << 40)]),
            (&["[I / 256]", "[J, I % 256]"], &[("I", 512), ("J", 256)]),
            (&["[J / 256, I / 256]", "[J, I % 256]"], &[("J", 256), ("I", 512)]),
            (&["[2]", "[B]"], &[("B", 512)]),
        ];
        for (maps, expected) in cases {
            let expected = expected.iter().map(|&(name, extent)| (name.to_owned(), extent)).collect();
            assert_eq!(shape(maps), Ok(expected), "{maps:?}");
        }
    }

    /// The array has two dimensions for all sizes of M and N, in the order of the text.
    #[test]
    fn the_rank_does_not_depend_on_sizes() {
        let maps = [
            "[M, N]",
            "[M # 8, N # 8]",
            "[[M, N]]",
            "[M * N]",
            "[M # 512, N]",
            "[M, 1 # 4, N]",
            "[{Both}]",
            "[M @ 0, N]",
        ];
        for (m, n) in [(1, 1), (1, 8), (4, 1), (4, 8)] {
            let mut axes = Axes::new();
            axes.declare("M", m).unwrap();
            axes.declare("N", n).unwrap();
            axes.define("Both", &Expr::pair([Expr::axis("M"), Expr::axis("N")])).unwrap();
            let shape = |kind, maps: &str| {
                let body = parse_tensor(kind, &format!("i8, {maps}")).unwrap().into_any();
                array_layout(body.downcast_ref().unwrap(), &axes).unwrap().shape
            };
            for map in maps {
                assert_eq!(shape(&HOST, map), [m, n], "{map}");
                assert_eq!(shape(&HBM, &format!("[1], {map}")), [m, n], "{map}");
            }
            assert_eq!(shape(&HBM, "[M], [N]"), [m, n]);
            assert_eq!(shape(&HBM, "[N], [M]"), [n, m]);
            assert_eq!(shape(&HOST, "[N = 1, M]"), [1, m]);
            assert_eq!(shape(&HOST, "[[M, N] # 64 = 64]"), [m, n]);
        }
    }

    #[test]
    fn gaps_and_copies_are_refused() {
        let cases: [(&[&str], &str); 16] = [
            (&["[B / 4]"], "B only in part"),
            (&["[B / 2]"], "B only in part"),
            (&["[B / 8, B % 4]"], "B only in part"),
            (&["[B / 4, B % 8]"], "B only in part"),
            (&["[J, B, B]"], "B only in part"),
            (&["[I / 256]", "[I % 128]"], "I only in part"),
            (&["[I / 256]", "[I]"], "I only in part"),
            (&["[2, B]"], "element mapping `[2, B]` holds each element 2 times"),
            (&["[B, 3 # 4]"], "holds each element 3 times"),
            (&["[B @ 8]"], "element mapping `[B @ 8]` holds B from 8 on; an array starts at 0"),
            (&["[J, B @ 511]"], "holds B from 511 on"),
            (&["[I / 256 @ 1]", "[I % 256]"], "chip mapping `[I / 256 @ 1]` holds I from 256 on"),
            (&["[$(I:1, J:2)]"], "element mapping"),
            (&["[C]"], "axis `C` is not declared"),
            (&["[B / 3]"], "3 does not divide 512"),
            (&["[[N, B] # 51203 / 3]"], "element mapping"),
        ];
        for (maps, part) in cases {
            let error = shape(maps).unwrap_err();
            assert!(error.contains(part), "{maps:?}: {error}");
        }
    }
}
