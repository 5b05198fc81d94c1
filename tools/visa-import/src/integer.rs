//! Integers of the host: each has the width of its type, and every operation gives the result of Rust, or nothing
//! where Rust panics.
#![expect(
    clippy::unnecessary_cast,
    reason = "`native!` has one expression for all types, of which some need no cast"
)]

use std::cmp::Ordering;
use std::fmt;

/// The type of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum IntTy {
    I8,
    I16,
    I32,
    I64,
    I128,
    Isize,
    U8,
    U16,
    U32,
    U64,
    U128,
    Usize,
    /// Fixed by the vendor's toolchain alone: `i32` or `usize`. Only numbers that both hold are computed.
    Toolchain,
}

/// An integer and its type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Int {
    pub(crate) ty: IntTy,
    /// The number in 128 bits, as `as u128` makes it.
    bits: u128,
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}{}", self.ty.name())
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ty == IntTy::U128 { write!(f, "{}", self.bits) } else { write!(f, "{}", self.bits as i128) }
    }
}

/// Evaluates an expression in which `$t` is the native type that the types before it are computed in; the types after
/// `else`, where there are some, have another value.
macro_rules! in_native {
    (
        $ty:expr, $t:ident => $body:expr;
        $($($own:ident)|+ as $native:ty),+
        $(; else $($other:ident)|+ => $none:expr)?
    ) => {
        match $ty {
            $($(IntTy::$own)|+ => {
                type $t = $native;
                $body
            })+
            $($(IntTy::$other)|+ => $none)?
        }
    };
}
pub(crate) use in_native;

/// Evaluates an expression in which `$t` is the native type; a number of the toolchain's is an `i128` whose result
/// both of its types must hold.
macro_rules! native {
    ($ty:expr, $t:ident => $body:expr) => {
        $crate::integer::in_native!(
            $ty, $t => $body;
            I8 as i8, I16 as i16, I32 as i32, I64 as i64, I128 | Toolchain as i128, Isize as isize,
            U8 as u8, U16 as u16, U32 as u32, U64 as u64, U128 as u128, Usize as usize
        )
    };
}
pub(crate) use native;

impl IntTy {
    /// The type of a name, such as `i32`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "i8" => Self::I8,
            "i16" => Self::I16,
            "i32" => Self::I32,
            "i64" => Self::I64,
            "i128" => Self::I128,
            "isize" => Self::Isize,
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "u128" => Self::U128,
            "usize" => Self::Usize,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::I128 => "i128",
            Self::Isize => "isize",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::U128 => "u128",
            Self::Usize => "usize",
            Self::Toolchain => "integer",
        }
    }

    /// The least and the greatest number of the type, clamped to 64 bits.
    pub(crate) fn limits(self) -> (i64, i64) {
        match self {
            Self::Toolchain => (0, i32::MAX.into()),
            own => native!(own, T => {
                (i128::from(i64::MIN).max(T::MIN as i128) as i64, (T::MAX as u128).min(i64::MAX as u128) as i64)
            }),
        }
    }

    pub(crate) fn is_signed(self) -> bool {
        native!(self, T => T::MIN != 0)
    }

    /// The unsigned type of the same width.
    pub(crate) fn unsigned(self) -> Self {
        match self {
            Self::I8 => Self::U8,
            Self::I16 => Self::U16,
            Self::I32 => Self::U32,
            Self::I64 => Self::U64,
            Self::I128 => Self::U128,
            Self::Isize => Self::Usize,
            other => other,
        }
    }

    /// The signed type of the same width.
    pub(crate) fn signed(self) -> Self {
        match self {
            Self::U8 => Self::I8,
            Self::U16 => Self::I16,
            Self::U32 => Self::I32,
            Self::U64 => Self::I64,
            Self::U128 => Self::I128,
            Self::Usize => Self::Isize,
            other => other,
        }
    }

    /// The one type of two operands, of which one may be the toolchain's; `None` where they differ.
    pub(crate) fn common(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Toolchain, other) => Some(other),
            (own, Self::Toolchain) => Some(own),
            (own, other) => (own == other).then_some(own),
        }
    }
}

/// A binary operator of integers that gives an integer of the left type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
}

impl Int {
    /// A number that its type holds; `None` for another one.
    pub(crate) fn new(ty: IntTy, number: i128) -> Option<Self> {
        native!(ty, T => T::try_from(number).ok().map(|number| Self { ty, bits: number as u128 }))
    }

    /// A `usize`.
    pub(crate) fn size(number: usize) -> Self {
        Self { ty: IntTy::Usize, bits: number as u128 }
    }

    /// A `u32`.
    pub(crate) fn word(number: u32) -> Self {
        Self { ty: IntTy::U32, bits: number.into() }
    }

    /// The lowest bits of a number, as `as` keeps them.
    pub(crate) fn wrapped(ty: IntTy, bits: u128) -> Self {
        native!(ty, T => Self { ty, bits: bits as T as u128 })
    }

    /// The digits of a literal: a number that fits, or one more where a minus is before it.
    pub(crate) fn literal(ty: IntTy, digits: u128, negative: bool) -> Option<Self> {
        let limit = native!(ty, T => if negative { (T::MIN as i128).unsigned_abs() } else { T::MAX as u128 });
        let number = if negative { digits.wrapping_neg() } else { digits };
        (digits <= limit).then_some(Self { ty, bits: number })
    }

    /// The number; `None` for one past `i128`.
    pub(crate) fn number(self) -> Option<i128> {
        let number = self.bits as i128;
        (self.ty != IntTy::U128 || number >= 0).then_some(number)
    }

    pub(crate) fn bits(self) -> u128 {
        self.bits
    }

    /// The number as another type, as `as` makes it.
    pub(crate) fn cast(self, ty: IntTy) -> Self {
        Self::wrapped(ty, self.bits)
    }

    pub(crate) fn to_f32(self) -> f32 {
        native!(self.ty, T => self.bits as T as f32)
    }

    pub(crate) fn to_f64(self) -> f64 {
        native!(self.ty, T => self.bits as T as f64)
    }

    /// A float as an integer, as `as` makes it: towards zero, and the last number where it is past that.
    pub(crate) fn of_f64(ty: IntTy, number: f64) -> Self {
        native!(ty, T => Self { ty, bits: number as T as u128 })
    }

    pub(crate) fn is_zero(self) -> bool {
        self.bits == 0
    }

    pub(crate) fn compare(self, other: Self) -> Ordering {
        if self.ty == IntTy::U128 {
            self.bits.cmp(&other.bits)
        } else {
            (self.bits as i128).cmp(&(other.bits as i128))
        }
    }

    /// The number, if each type that it may have holds it.
    fn settled(self) -> Option<Self> {
        let holds = self.ty != IntTy::Toolchain || i32::try_from(self.bits as i128).is_ok();
        holds.then_some(self)
    }

    /// The result of an operator; `None` where Rust panics, and where the types differ.
    pub(crate) fn checked(self, op: IntOp, other: Self) -> Option<Self> {
        let ty = self.ty.common(other.ty)?;
        let found = native!(ty, T => {
            let (left, right) = (self.bits as T, other.bits as T);
            let found = match op {
                IntOp::Add => left.checked_add(right),
                IntOp::Sub => left.checked_sub(right),
                IntOp::Mul => left.checked_mul(right),
                IntOp::Div => left.checked_div(right),
                IntOp::Rem => left.checked_rem(right),
                IntOp::And => Some(left & right),
                IntOp::Or => Some(left | right),
                IntOp::Xor => Some(left ^ right),
            };
            found.map(|found| Self { ty, bits: found as u128 })
        });
        found.and_then(Self::settled)
    }

    /// `self << by` and `self >> by`, whose operands have separate types; `None` where Rust panics.
    pub(crate) fn shifted(self, left: bool, by: Self) -> Option<Self> {
        let by = u32::try_from(by.number()?).ok()?;
        let ty = self.ty;
        if ty == IntTy::Toolchain && by > 31 {
            return None;
        }
        let found = native!(ty, T => {
            let number = self.bits as T;
            let found = if left { number.checked_shl(by) } else { number.checked_shr(by) };
            found.map(|found| Self { ty, bits: found as u128 })
        });
        found.and_then(Self::settled)
    }

    /// `!self`; `None` where the type is not known.
    pub(crate) fn inverted(self) -> Option<Self> {
        let ty = self.ty;
        (ty != IntTy::Toolchain).then(|| native!(ty, T => Self { ty, bits: !(self.bits as T) as u128 }))
    }

    /// `-self`; `None` where Rust panics, and for an unsigned number.
    pub(crate) fn negated(self) -> Option<Self> {
        let zero = Self { ty: self.ty, bits: 0 };
        if self.ty.is_signed() { zero.checked(IntOp::Sub, self) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(ty: IntTy, number: i128) -> Int {
        Int::new(ty, number).expect("it fits")
    }

    #[test]
    fn numbers_have_the_width_of_their_type() {
        assert_eq!(int(IntTy::U8, 0x1F).shifted(true, int(IntTy::I32, 4)), Some(int(IntTy::U8, 240)));
        let top = int(IntTy::I32, 1).shifted(true, int(IntTy::I32, 31));
        assert_eq!(top, Some(int(IntTy::I32, i32::MIN.into())));
        assert_eq!(top.and_then(|top| top.shifted(false, int(IntTy::U8, 28))), Some(int(IntTy::I32, -8)));
        assert_eq!(int(IntTy::U8, 200).checked(IntOp::Add, int(IntTy::U8, 55)), Some(int(IntTy::U8, 255)));
        assert_eq!(int(IntTy::U8, 200).checked(IntOp::Add, int(IntTy::U8, 56)), None);
        assert_eq!(int(IntTy::I8, -128).checked(IntOp::Div, int(IntTy::I8, -1)), None);
        assert_eq!(int(IntTy::U8, 1).shifted(true, int(IntTy::I32, 8)), None);
        assert_eq!(int(IntTy::U8, 1).inverted(), Some(int(IntTy::U8, 254)));
        assert_eq!(int(IntTy::I16, 300).cast(IntTy::U8), int(IntTy::U8, 44));
        assert_eq!(int(IntTy::I8, -1).cast(IntTy::U64).to_string(), u64::MAX.to_string());
        assert_eq!(int(IntTy::I8, -1).cast(IntTy::U128).to_string(), u128::MAX.to_string());
        assert_eq!(Int::of_f64(IntTy::U8, -3.5), int(IntTy::U8, 0));
        assert_eq!(Int::of_f64(IntTy::I8, 1e9), int(IntTy::I8, 127));
    }

    #[test]
    fn literals_end_with_their_type() {
        assert_eq!(Int::literal(IntTy::I8, 127, false), Some(int(IntTy::I8, 127)));
        assert_eq!(Int::literal(IntTy::I8, 128, false), None);
        assert_eq!(Int::literal(IntTy::I8, 128, true), Some(int(IntTy::I8, -128)));
        assert_eq!(Int::literal(IntTy::I8, 129, true), None);
        assert_eq!(Int::literal(IntTy::U8, 1, true), None);
        assert_eq!(
            Int::literal(IntTy::U128, u128::MAX, false).map(|own| own.to_string()),
            Some(u128::MAX.to_string())
        );
    }

    #[test]
    fn a_number_of_the_toolchain_is_one_that_both_of_its_types_hold() {
        let own = |number: i128| int(IntTy::Toolchain, number);
        assert_eq!(own(7).checked(IntOp::Mul, own(6)), Some(own(42)));
        assert_eq!(own(7).checked(IntOp::Mul, int(IntTy::U8, 6)), Some(int(IntTy::U8, 42)));
        assert_eq!(own(i32::MAX.into()).checked(IntOp::Add, own(1)), None);
        assert_eq!(own(1).shifted(true, own(30)), Some(own(1 << 30)));
        assert_eq!(own(1).shifted(true, own(31)), None);
        assert_eq!(own(1).inverted(), None);
        assert_eq!(int(IntTy::U8, 1).checked(IntOp::Add, int(IntTy::U16, 1)), None);
    }
}
