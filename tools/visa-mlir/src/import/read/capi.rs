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

/// The bytes of the elements of a `dense` attribute that is no splat, each of `size` bytes; `None` for other
/// attributes.
pub(crate) fn dense_bytes(attribute: Attribute<'_>, count: usize, size: usize) -> Option<Vec<u8>> {
    if !attribute.is_dense_elements() || is_resource(attribute) {
        return None;
    }
    // SAFETY: the attribute stores `count` elements packed, each in as many bytes as its bits fill.
    unsafe {
        let data = mlir_sys::mlirDenseElementsAttrGetRawData(attribute.to_raw()).cast::<u8>();
        Some(std::slice::from_raw_parts(data, count * size).to_vec())
    }
}
