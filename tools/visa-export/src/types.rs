//! Tensor types in the language.

use crate::body::Body;
use crate::refusals::{Export, refuse};
use crate::version::format_name;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use visa_algebra::Expr;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::{DM, Dim, HBM, HOST, SPM, TRF, Tensor, TensorKind, VRF};
use visa_numerics::DType;

/// The name of the type of tensors of a kind; `None` if the language has none.
fn type_name(kind: &'static TensorKind) -> Option<&'static str> {
    let names = [
        (&HBM, "HbmTensor"),
        (&DM, "DmTensor"),
        (&SPM, "SpmTensor"),
        (&TRF, "TrfTensor"),
        (&VRF, "VrfTensor"),
        (&HOST, "HostTensor"),
    ];
    names.into_iter().find(|(own, _)| std::ptr::eq(*own, kind)).map(|(_, name)| name)
}

impl Body<'_, '_> {
    /// The type of the elements.
    pub(crate) fn format(&self, op: OpRef<'_>, dtype: DType) -> Export<Ident> {
        let name = format_name(dtype)
            .ok_or_else(|| refuse(op, format!("format `{dtype}` does not exist in the language")))?;
        Ok(crate::names::ident(name))
    }

    /// The type of a tensor at rest: its name, and its parameters.
    fn tensor_parts(&mut self, op: OpRef<'_>, tensor: &Tensor) -> Export<(Ident, TokenStream)> {
        let name = type_name(tensor.kind).ok_or_else(|| {
            refuse(op, format!("the language has no tensors of type `!{}` in a kernel", tensor.kind.def.name))
        })?;
        let format = self.format(op, tensor.dtype)?;
        let mut maps = Vec::new();
        for (&dim, map) in tensor.kind.dims.iter().zip(&tensor.maps) {
            maps.push(self.dim_type(op, dim, map)?);
        }
        Ok((crate::names::ident(name), quote!(#format, #(#maps),*)))
    }

    /// The type of a tensor at rest.
    pub(crate) fn tensor_type(&mut self, op: OpRef<'_>, tensor: &Tensor) -> Export<TokenStream> {
        let (name, parameters) = self.tensor_parts(op, tensor)?;
        Ok(quote!(#name<#parameters>))
    }

    /// The name of the type of a tensor, for its constructor.
    pub(crate) fn constructor(&mut self, op: OpRef<'_>, tensor: &Tensor) -> Export<Ident> {
        Ok(self.tensor_parts(op, tensor)?.0)
    }

    /// The mapping of a dimension as a type.
    pub(crate) fn dim_type(&mut self, op: OpRef<'_>, dim: Dim, map: &Expr) -> Export<TokenStream> {
        self.file.mappings.of_dim(dim, map, self.parts).map_err(|why| refuse(op, why))
    }

    /// A mapping as a type.
    pub(crate) fn map(&mut self, op: OpRef<'_>, map: &Expr) -> Export<Ident> {
        self.file.mappings.map(map, self.parts).map_err(|why| refuse(op, why))
    }

    /// The axis that a mapping is.
    pub(crate) fn axis(&mut self, op: OpRef<'_>, map: &Expr) -> Export<Ident> {
        self.file.mappings.axis(map).map_err(|why| refuse(op, why))
    }

    /// The type of a value that is a tensor or a stream.
    pub(crate) fn tensor(&self, op: OpRef<'_>, value: ValueId) -> Export<std::rc::Rc<Tensor>> {
        op.value(value).of_type::<Tensor>()
    }
}
