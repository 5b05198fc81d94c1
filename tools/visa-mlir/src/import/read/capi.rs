//! Calls of MLIR's C API that melior has no function for.

#![expect(unsafe_code, reason = "the C API; each call states why its arguments are valid")]

use melior::Context;
use melior::ir::attribute::AttributeLike as _;
use melior::ir::{AffineMap, Attribute, Module};

/// Parses and verifies a module in text or bytecode; `None` if MLIR refuses it.
pub(crate) fn parse<'c>(context: &'c Context, bytes: &[u8]) -> Option<Module<'c>> {
    // MLIR reads the byte after the text: it has to be 0.
    let mut terminated = bytes.to_vec();
    terminated.push(0);
    let text = mlir_sys::MlirStringRef { data: terminated.as_ptr().cast(), length: bytes.len() };
    // SAFETY: the context outlives the module by its lifetime, and MLIR keeps no part of the text.
    unsafe { Module::from_option_raw(mlir_sys::mlirModuleCreateParse(context.to_raw(), text)) }
}

/// The map of an attribute, if it is one.
pub(crate) fn affine_map(attribute: Attribute<'_>) -> Option<AffineMap<'_>> {
    // SAFETY: the attribute is checked to hold a map, which its context keeps.
    attribute
        .is_affine_map()
        .then(|| unsafe { AffineMap::from_raw(mlir_sys::mlirAffineMapAttrGetValue(attribute.to_raw())) })
}

/// Returns true if an attribute names a resource of the file.
pub(crate) fn is_resource(attribute: Attribute<'_>) -> bool {
    // SAFETY: any attribute may be asked.
    unsafe { mlir_sys::mlirAttributeIsADenseResourceElements(attribute.to_raw()) }
}

/// Element formats of resources that MLIR's C API reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceFormat {
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// `i8`.
    I8,
    /// `i16`.
    I16,
    /// `i32`.
    I32,
    /// `i64`.
    I64,
}

/// An element of a resource, which [`is_resource`] holds for, and whose elements have this format and are more than
/// `at`.
pub(crate) fn resource_element(attribute: Attribute<'_>, format: ResourceFormat, at: usize) -> Option<f64> {
    let (raw, at) = (attribute.to_raw(), isize::try_from(at).ok()?);
    // SAFETY: the caller checked the attribute, its format and its length.
    unsafe {
        Some(match format {
            ResourceFormat::F32 => f64::from(mlir_sys::mlirDenseFloatResourceElementsAttrGetValue(raw, at)),
            ResourceFormat::F64 => mlir_sys::mlirDenseDoubleResourceElementsAttrGetValue(raw, at),
            ResourceFormat::I8 => f64::from(mlir_sys::mlirDenseInt8ResourceElementsAttrGetValue(raw, at)),
            ResourceFormat::I16 => f64::from(mlir_sys::mlirDenseInt16ResourceElementsAttrGetValue(raw, at)),
            ResourceFormat::I32 => f64::from(mlir_sys::mlirDenseInt32ResourceElementsAttrGetValue(raw, at)),
            ResourceFormat::I64 => mlir_sys::mlirDenseInt64ResourceElementsAttrGetValue(raw, at) as f64,
        })
    }
}

/// The bits of the elements of a `dense` attribute of 16-bit elements; `None` for other attributes. A splat has one.
pub(crate) fn halves(attribute: Attribute<'_>, count: usize) -> Option<Vec<u16>> {
    if !attribute.is_dense_fp_elements() {
        return None;
    }
    // SAFETY: a dense attribute of 16-bit floats stores its elements packed, `count` of them, aligned or not.
    unsafe {
        let data = mlir_sys::mlirDenseElementsAttrGetRawData(attribute.to_raw()).cast::<u16>();
        Some((0..count).map(|at| data.add(at).read_unaligned()).collect())
    }
}
