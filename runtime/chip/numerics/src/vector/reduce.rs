//! The functions of two elements for the vector engine's reductions: within a slice (book 22) and across slices (book
//! 25).

use super::ReduceName;
use super::clip;
use super::fixed::{self, i32_op};
use crate::bits::Bits;
use crate::dtype::DType;
use crate::float::{add, canonical, flush, mul};

/// A reduction: a row of [`reduce_ops`].
#[derive(Clone, Copy, Debug)]
pub struct ReduceOp {
    /// Its name.
    pub name: ReduceName,
    /// The format of its elements.
    pub dtype: DType,
    /// Its result for `x` and `y`.
    pub doc: &'static str,
    /// The value of an element that takes no part (book 22, identity element).
    pub identity: Bits,
    /// True if the reduction within a slice has it (book 22); the one across slices has all (book 25).
    pub within_slice: bool,
    /// True if a greater element never makes the result smaller.
    pub increasing: bool,
    /// Computes one step.
    pub apply: fn(Bits, Bits) -> Bits,
}

/// All of them, in the books' order.
const OPS: [ReduceOp; 8] = [
    ReduceOp { increasing: false, ..int(ReduceName::Add, "x + y, wrapping", 0, false, fixed::add) },
    int(ReduceName::AddSat, "x + y, saturating", 0, true, fixed::add_sat),
    int(ReduceName::Max, "the larger", i32::MIN, true, |x, y| i32_op(x, y, i32::max)),
    int(ReduceName::Min, "the smaller", i32::MAX, true, |x, y| i32_op(x, y, i32::min)),
    float(ReduceName::Add, "x + y", 0.0, true, |x, y| f32_op(x, y, add)),
    float(
        ReduceName::Max,
        "the larger; a number if the other is NaN; 0 is larger than -0",
        f32::NEG_INFINITY,
        true,
        |x, y| f32_op(x, y, clip::max),
    ),
    float(
        ReduceName::Min,
        "the smaller; a number if the other is NaN; -0 is smaller than 0",
        f32::INFINITY,
        true,
        |x, y| f32_op(x, y, clip::min),
    ),
    ReduceOp { increasing: false, ..float(ReduceName::Mul, "x * y", 1.0, false, |x, y| f32_op(x, y, mul)) },
];

const fn int(
    name: ReduceName,
    doc: &'static str,
    identity: i32,
    within_slice: bool,
    apply: fn(Bits, Bits) -> Bits,
) -> ReduceOp {
    ReduceOp {
        name,
        dtype: DType::I32,
        doc,
        identity: identity.cast_unsigned(),
        within_slice,
        increasing: true,
        apply,
    }
}

const fn float(
    name: ReduceName,
    doc: &'static str,
    identity: f32,
    within_slice: bool,
    apply: fn(Bits, Bits) -> Bits,
) -> ReduceOp {
    ReduceOp {
        name,
        dtype: DType::F32,
        doc,
        identity: identity.to_bits(),
        within_slice,
        increasing: true,
        apply,
    }
}

fn f32_op(x: Bits, y: Bits, op: fn(f32, f32) -> f32) -> Bits {
    let argument = |bits| flush(f32::from_bits(bits));
    canonical(op(argument(x), argument(y))).to_bits()
}

/// All reductions, in the books' order.
pub fn reduce_ops() -> impl Iterator<Item = &'static ReduceOp> {
    OPS.iter()
}

/// The reduction called `name` of elements of `dtype`.
#[must_use]
pub fn reduce_op(name: ReduceName, dtype: DType) -> Option<&'static ReduceOp> {
    reduce_ops().find(|op| op.name == name && op.dtype == dtype)
}

impl ReduceOp {
    /// The elements of a packet as one: neighbours first, then those results (book 22: a tree of 2 levels for 4
    /// lanes).
    #[must_use]
    pub fn tree(&self, lanes: &[Bits]) -> Bits {
        match lanes {
            [] => self.identity,
            [only] => *only,
            _ => {
                let (left, right) = lanes.split_at(lanes.len().next_power_of_two() / 2);
                (self.apply)(self.tree(left), self.tree(right))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::F32_NAN;
    use crate::vector::SliceReduceName;
    use visa_words::Word as _;

    fn int(name: ReduceName, x: i32, y: i32) -> i32 {
        let op = reduce_op(name, DType::I32).expect("a row of the table");
        (op.apply)(x.cast_unsigned(), y.cast_unsigned()).cast_signed()
    }

    fn float(name: ReduceName, x: f32, y: f32) -> Bits {
        (reduce_op(name, DType::F32).expect("a row of the table").apply)(x.to_bits(), y.to_bits())
    }

    #[test]
    fn steps_by_hand() {
        for (name, x, y, expected) in [
            (ReduceName::Add, i32::MAX, 1, i32::MIN),
            (ReduceName::AddSat, i32::MAX, 1, i32::MAX),
            (ReduceName::AddSat, i32::MIN, -1, i32::MIN),
            (ReduceName::Max, -3, 2, 2),
            (ReduceName::Min, -3, 2, -3),
        ] {
            assert_eq!(int(name, x, y), expected, "{name} {x} {y}");
        }
        for (name, x, y, expected) in [
            (ReduceName::Add, 1.5, 2.25, 3.75_f32),
            (ReduceName::Add, 1.0e-40, 0.0, 0.0), // a subnormal is zero
            (ReduceName::Max, f32::NAN, 2.0, 2.0),
            (ReduceName::Max, -0.0, 0.0, 0.0),
            (ReduceName::Min, 0.0, -0.0, -0.0),
            (ReduceName::Min, 2.0, f32::NAN, 2.0),
            (ReduceName::Mul, 3.0, -0.5, -1.5),
        ] {
            assert_eq!(float(name, x, y), expected.to_bits(), "{name} {x} {y}");
        }
        assert_eq!(float(ReduceName::Max, f32::NAN, -f32::NAN), F32_NAN);
        assert_eq!(float(ReduceName::Add, f32::INFINITY, f32::NEG_INFINITY), F32_NAN);
    }

    /// Book 22's tables: an identity element changes no number. (It turns -0 into 0 in a sum, and gives way to no
    /// NaN.)
    #[test]
    fn identities() {
        let samples = |dtype: DType| {
            if dtype.is_float() {
                [1.5_f32, -7.0, f32::MAX, f32::MIN, 0.0].map(f32::to_bits)
            } else {
                [0, 1, -1, i32::MAX, i32::MIN].map(i32::cast_unsigned)
            }
        };
        for op in reduce_ops() {
            for sample in samples(op.dtype) {
                assert_eq!((op.apply)(sample, op.identity), sample, "{} {}", op.name, op.dtype);
                assert_eq!((op.apply)(op.identity, sample), sample, "{} {}", op.name, op.dtype);
            }
        }
        let bits = |name, dtype| reduce_op(name, dtype).map(|op| op.identity);
        assert_eq!(bits(ReduceName::Max, DType::I32), Some(0x8000_0000));
        assert_eq!(bits(ReduceName::Min, DType::I32), Some(0x7fff_ffff));
        assert_eq!(bits(ReduceName::Max, DType::F32), Some(0xff80_0000));
        assert_eq!(bits(ReduceName::Min, DType::F32), Some(0x7f80_0000));
    }

    /// Pairs first: 2^24 + 1 loses the 1, 1 + 1 does not.
    #[test]
    fn a_tree_of_pairs() {
        let tree = |values: &[f32]| {
            let op = reduce_op(ReduceName::Add, DType::F32).expect("a row of the table");
            f32::from_bits(op.tree(&values.iter().map(|value| value.to_bits()).collect::<Vec<_>>()))
        };
        let big = 16_777_216.0;
        assert_eq!(tree(&[big, 1.0, 1.0, 1.0]), big + 2.0);
        assert_eq!(tree(&[1.0, 1.0, big, 1.0]), big + 2.0);
        assert_eq!(tree(&[1.0, 2.0, 3.0]), 6.0);
        assert_eq!(tree(&[]), 0.0);
    }

    #[test]
    fn lookup_is_by_name_and_format() {
        assert!(
            reduce_op(ReduceName::AddSat, DType::I32).is_some()
                && reduce_op(ReduceName::AddSat, DType::F32).is_none()
        );
        assert!(
            reduce_op(ReduceName::Mul, DType::F32).is_some()
                && reduce_op(ReduceName::Mul, DType::I32).is_none()
        );
        assert!(ReduceName::from_word("add").is_none() && reduce_op(ReduceName::Max, DType::Bf16).is_none());
        let within: Vec<_> =
            reduce_ops().filter(|op| op.within_slice).map(|op| (op.name, op.dtype)).collect();
        let (i, f) = (DType::I32, DType::F32);
        assert_eq!(
            within,
            [
                (ReduceName::AddSat, i),
                (ReduceName::Max, i),
                (ReduceName::Min, i),
                (ReduceName::Add, f),
                (ReduceName::Max, f),
                (ReduceName::Min, f)
            ]
        );
        assert!(reduce_ops().all(|op| op.within_slice <= SliceReduceName::of(op.name).is_some()));
    }
}
