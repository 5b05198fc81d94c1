//! The arguments of `#[device]` on a function.

use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame};
use crate::map::{Map, Pad};
use crate::value::TensorType;
use proc_macro2::Span;
use quote::ToTokens;
use std::fmt;
use syn::spanned::Spanned;
use visa_machine::Machine;
use visa_mapping::Dim;

/// The values of `#[device(chip = 1, pe = 4)]`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) chips: i128,
    pub(crate) pes: Option<i128>,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chips {}", self.chips)?;
        self.pes.map_or(Ok(()), |pes| write!(f, ", pes {pes}"))
    }
}

/// The size that a function is marked with: one chip by default.
pub(crate) fn size(eval: &mut Evaluator<'_>, frame: &mut Frame, item: &syn::ItemFn) -> Eval<Size> {
    type List = syn::punctuated::Punctuated<syn::MetaNameValue, syn::Token![,]>;
    let mut size = Size { chips: 1, pes: None };
    let Some(attr) = item.attrs.iter().find(|attr| attr.path().is_ident("device")) else { return Ok(size) };
    if matches!(attr.meta, syn::Meta::Path(_)) {
        return Ok(size);
    }
    let list = attr.parse_args_with(List::parse_terminated);
    let list = list.map_err(|why| frame.error(attr.span(), why.to_string()))?;
    for pair in list {
        let number = eval.number(frame, &pair.value)?;
        match pair.path.to_token_stream().to_string().as_str() {
            "chip" => size.chips = number,
            "pe" if number == 8 => {}
            "pe" => size.pes = Some(number),
            other => return Err(frame.error(pair.span(), format!("`{other}` of a device is not known"))),
        }
    }
    Ok(size)
}

impl Evaluator<'_> {
    /// A tensor with padding for the clusters and slices of its device that it leaves idle, as a note reports.
    pub(crate) fn on_device(&mut self, frame: &Frame, span: Span, mut ty: TensorType) -> TensorType {
        for dim in [Dim::Cluster, Dim::Slice] {
            if let Some(map) = ty.dim(dim.name()).cloned() {
                let map = self.with_idle(frame, span, dim, map);
                ty = ty.with_dim(dim.name(), map);
            }
        }
        ty
    }

    /// A mapping of clusters or slices with padding for those of the device that it leaves idle.
    pub(crate) fn with_idle(&mut self, frame: &Frame, span: Span, dim: Dim, map: Map) -> Map {
        let Some(device) = self.state.device else { return map };
        // The verifier reports a number that is no device.
        let pes = device.pes.and_then(|pes| i64::try_from(pes).ok());
        let topology = &self.ctx.data::<Machine>().device_or_whole(pes).topology;
        let (whole, parts) = match dim {
            Dim::Cluster => (topology.clusters_per_chip, &[1][..]),
            Dim::Slice => (topology.slices_per_cluster, SLICES),
            Dim::Chip | Dim::Pe | Dim::Row | Dim::Element | Dim::Time | Dim::Packet => return map,
        };
        match map.size(self) {
            Some(size) if size < whole && parts.contains(&size) => {
                let message = format!(
                    "the kernel uses {size} of the device's {whole} {}s here: the others are idle, as with \
                     `# {whole}`",
                    dim.name()
                );
                let message = if dim == Dim::Cluster {
                    format!(
                        "{message}; `#[device(chip = {}, pe = 4)]` is a device of one cluster",
                        device.chips
                    )
                } else {
                    message
                };
                if self.state.remarks.iter().all(|known| known.message != message) {
                    self.state.remarks.push(Error::new(frame.place(span), message));
                }
                Map::Padding(map.into(), whole, Pad::Top)
            }
            Some(_) | None => map,
        }
    }
}

/// Numbers of slices in use that the vendor's toolchain accepts, if a cluster has more.
const SLICES: &[u64] = &[64, 128, 192];

/// Returns true if a type is that of an argument that is changed and stays.
pub(crate) fn changes(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Reference(reference) => reference.mutability.is_some() || changes(&reference.elem),
        syn::Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| last.ident.to_string().ends_with("ViewMut"))
        }
        _ => false,
    }
}
