//! Types of MLIR as formats and shapes.

use melior::ir::Type;
use melior::ir::r#type::{DimSize, IntegerType, RankedTensorType, ShapedTypeLike as _, TypeLike as _};
use visa_numerics::DType;

/// The longest dimension: coordinates are `i32`.
const MAX_SIZE: u64 = 1 << 31;

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    F64,
    F32,
    F16,
    Bf16,
    F8e4m3,
    F8e5m2,
    I64,
    I32,
    I16,
    I8,
    I4,
    /// A condition: `i32` within a function, `i8` as an argument or result.
    I1,
    Index,
}

impl Kind {
    /// The kind of a scalar type.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn of(ty: Type<'_>) -> Result<Self, String> {
        let floats = [
            (ty.is_f32(), Self::F32),
            (ty.is_bf16(), Self::Bf16),
            (ty.is_f16(), Self::F16),
            (ty.is_f64(), Self::F64),
            (ty.is_float8e4m3fn(), Self::F8e4m3),
            (ty.is_float8e5m2(), Self::F8e5m2),
            (ty.is_index(), Self::Index),
        ];
        if let Some((_, kind)) = floats.into_iter().find(|(is, _)| *is) {
            return Ok(kind);
        }
        let unknown = || {
            Err(format!(
                "elements of type `{ty}` are not imported; expected `f32`, `bf16`, `f16`, `f8E4M3FN`, `f8E5M2`, \
                 `index`, or integers without a sign of 1, 4, 8, 16, 32 or 64 bits"
            ))
        };
        let Ok(integer) = IntegerType::try_from(ty) else { return unknown() };
        if integer.is_unsigned() {
            return unknown();
        }
        match integer.width() {
            1 => Ok(Self::I1),
            4 => Ok(Self::I4),
            8 => Ok(Self::I8),
            16 => Ok(Self::I16),
            32 => Ok(Self::I32),
            64 => Ok(Self::I64),
            _ => unknown(),
        }
    }

    pub(crate) fn is_float(self) -> bool {
        match self {
            Self::F64 | Self::F32 | Self::F16 | Self::Bf16 | Self::F8e4m3 | Self::F8e5m2 => true,
            Self::I64 | Self::I32 | Self::I16 | Self::I8 | Self::I4 | Self::I1 | Self::Index => false,
        }
    }

    /// The format that functions of elements compute in.
    pub(crate) fn computed(self) -> DType {
        if self.is_float() { DType::F32 } else { DType::I32 }
    }

    /// The format of stored elements; `None` for `f64`.
    pub(crate) fn stored(self) -> Option<DType> {
        match self {
            Self::F64 => None,
            Self::F32 => Some(DType::F32),
            Self::F16 => Some(DType::F16),
            Self::Bf16 => Some(DType::Bf16),
            Self::F8e4m3 => Some(DType::F8e4m3),
            Self::F8e5m2 => Some(DType::F8e5m2),
            Self::I64 | Self::I32 | Self::I1 | Self::Index => Some(DType::I32),
            Self::I16 => Some(DType::I16),
            Self::I8 => Some(DType::I8),
            Self::I4 => Some(DType::I4),
        }
    }

    /// The format of an argument or a result.
    pub(crate) fn passed(self) -> Option<DType> {
        if self == Self::I1 { Some(DType::I8) } else { self.stored() }
    }

    /// The least and the greatest number of an integer kind that `i32` holds.
    pub(crate) fn range(self) -> (i64, i64) {
        match self {
            Self::I1 => (0, 1),
            Self::I4 => (-8, 7),
            Self::I8 => (-128, 127),
            Self::I16 => (-32_768, 32_767),
            Self::I64 | Self::I32 | Self::Index => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Self::F64 | Self::F32 | Self::F16 | Self::Bf16 | Self::F8e4m3 | Self::F8e5m2 => (0, 0),
        }
    }
}

/// The kind and the sizes of a tensor, or of a scalar, which has none.
///
/// # Errors
/// A type that is no tensor of static shape, or whose elements have no format.
pub(crate) fn tensor(ty: Type<'_>) -> Result<(Kind, Vec<u64>), String> {
    if !ty.is_tensor() {
        if ty.is_shaped() {
            return Err(format!("type `{ty}` is no tensor: bufferized modules are not imported"));
        }
        return Ok((Kind::of(ty)?, Vec::new()));
    }
    let Ok(ranked) = RankedTensorType::try_from(ty) else {
        return Err(format!("type `{ty}` has no rank; expected a tensor of static shape"));
    };
    if ranked.encoding().is_some() {
        return Err(format!("type `{ty}` has an encoding; expected a dense tensor"));
    }
    let sizes = (0..ranked.rank()).map(|at| match ranked.dim_size(at) {
        Ok(DimSize::Static(size)) if size <= MAX_SIZE => Ok(size),
        Ok(DimSize::Static(size)) => Err(format!("dimension {at} of `{ty}` is {size}, above 2^31")),
        Ok(DimSize::Dynamic) | Err(_) => {
            Err(format!("type `{ty}` has a dynamic dimension; expected a static shape"))
        }
    });
    Ok((Kind::of(ranked.element())?, sizes.collect::<Result<_, _>>()?))
}

/// The kind and the sizes of an argument or a result of a function.
///
/// # Errors
/// Those of [`tensor`], a tensor without elements, and `f64`, which is no format of the machine.
pub(crate) fn passed(ty: Type<'_>) -> Result<(Kind, Vec<u64>), String> {
    let (kind, sizes) = tensor(ty)?;
    if let Some(at) = sizes.iter().position(|&size| size == 0) {
        return Err(format!("type `{ty}` has no elements: dimension {at} is 0"));
    }
    if kind.passed().is_none() {
        return Err("`f64` is no format of the machine".to_owned());
    }
    Ok((kind, sizes))
}

/// The types of values, for the code that refuses them by name.
pub(crate) fn kind_of<'c>(value: impl melior::ir::ValueLike<'c>) -> Result<Kind, String> {
    Kind::of(value.r#type())
}
