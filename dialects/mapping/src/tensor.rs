//! Tensor types: a number format, and a mapping for each dimension of the place that holds the tensor (book 04).
//!
//! Memory types (`!tm.dm<...>`) and the stream types of the stream dialect are the same structure with other
//! dimensions.

pub mod array;
pub mod attrs;
mod grammar;
pub mod memories;
pub mod numbers;
pub mod relabel;
pub mod scalar;
pub mod value;

use crate::tensor::grammar::{Rule, TmGrammar, body_syntax};
use pest::Parser as _;
use pest::iterators::Pair;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{Axes, AxisId, Expr, skewed_among};
use visa_engine::place::Places;
use visa_ir::Word as _;
use visa_ir::context::Context;
use visa_ir::decl::{Body, BodyDef, BodyError};
use visa_ir::diag::counted;
use visa_ir::module::{OpRef, TypeId};
use visa_machine::{ClusterPart, Machine, Medium, Part, Unit};
use visa_numerics::DType;

/// A dimension of a memory or of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dim {
    /// Chips of the system.
    Chip,
    /// Clusters of a chip.
    Cluster,
    /// Slices of a cluster.
    Slice,
    /// Processing elements of a cluster, each with a scratchpad memory.
    Pe,
    /// Rows of the contraction engine.
    Row,
    /// Positions within a memory, in elements.
    Element,
    /// Packets one after the other.
    Time,
    /// Elements of a packet.
    Packet,
}

impl From<ClusterPart> for Dim {
    fn from(part: ClusterPart) -> Self {
        match part {
            ClusterPart::Slice => Self::Slice,
            ClusterPart::Pe => Self::Pe,
        }
    }
}

impl Dim {
    /// Its name, which is also the name of the clause that gives it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chip => "chip",
            Self::Cluster => "cluster",
            Self::Slice => "slice",
            Self::Pe => "pe",
            Self::Row => "row",
            Self::Element => "element",
            Self::Time => "time",
            Self::Packet => "packet",
        }
    }
}

/// Properties that the types of one name share.
#[derive(Debug)]
pub struct TensorKind {
    /// The type's definition.
    pub def: BodyDef,
    /// Its dimensions, outermost first.
    pub dims: &'static [Dim],
    /// True if it is a stream, which flows in a context of the Tensor Unit.
    pub stream: bool,
    /// The memory of such a tensor, if DMA engines reach it.
    pub medium: Option<Medium>,
    /// The engine that such a stream has left; none for a tensor at rest, and inside an engine.
    pub left: Option<&'static Places>,
}

/// A tensor type's value.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Properties that the types of its name share.
    pub kind: &'static TensorKind,
    /// The context, for streams.
    pub unit: Option<Unit>,
    /// Format of the elements.
    pub dtype: DType,
    /// A mapping a dimension, in the kind's order.
    pub maps: Vec<Expr>,
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(unit) = self.unit {
            write!(f, "{unit}, ")?;
        }
        write!(f, "{}", self.dtype)?;
        self.maps.iter().try_for_each(|map| write!(f, ", {map}"))
    }
}

impl Tensor {
    /// The memory, if DMA engines reach it.
    #[must_use]
    pub const fn medium(&self) -> Option<Medium> {
        self.kind.medium
    }

    /// The part of a cluster that holds it, with the bytes of each in addresses. Register files are in slices, as data
    /// memory is; tensors of a chip or of the host have no mapping of parts to which this applies.
    #[must_use]
    pub fn cluster_part(&self, machine: &Machine) -> (ClusterPart, u64) {
        let in_part = |medium: Medium| match medium.decl().part {
            Part::Cluster(part) => Some((part, medium.bytes(machine))),
            Part::Host | Part::Chip => None,
        };
        let slice = (ClusterPart::Slice, machine.memory.dm_bytes_per_slice);
        self.medium().and_then(in_part).unwrap_or(slice)
    }

    /// Returns true if it is in a memory on the chip that other chips do not reach.
    #[must_use]
    pub fn stays_on_chip(&self) -> bool {
        self.medium().is_some_and(|medium| !medium.decl().crosses_chips && medium.is_sram())
    }

    /// Returns true if it is of that kind.
    #[must_use]
    pub fn is(&self, kind: &'static TensorKind) -> bool {
        std::ptr::eq(self.kind, kind)
    }

    /// A type of `kind`, its dimensions taken by name from `given`, then from `base`.
    ///
    /// # Errors
    /// The name of a dimension that neither has.
    pub fn build(
        kind: &'static TensorKind,
        unit: Option<Unit>,
        dtype: DType,
        given: &[(Dim, Expr)],
        base: &Self,
    ) -> Result<Self, &'static str> {
        let find = |dim: &Dim| {
            let own = given.iter().find(|(name, _)| name == dim).map(|(_, map)| map.clone());
            own.or_else(|| base.map(*dim).cloned()).ok_or(dim.name())
        };
        let maps: Result<Vec<_>, _> = kind.dims.iter().map(find).collect();
        Ok(Self { kind, unit, dtype, maps: maps? })
    }

    /// The mapping of a dimension, if the type has it.
    #[must_use]
    pub fn map(&self, dim: Dim) -> Option<&Expr> {
        let at = self.kind.dims.iter().position(|&own| own == dim)?;
        self.maps.get(at)
    }

    /// The mapping of a dimension; the identity where the type does not have it.
    #[must_use]
    pub fn dim(&self, dim: Dim) -> Expr {
        self.map(dim).cloned().unwrap_or(Expr::Literal(1))
    }

    /// Bytes of `positions` elements.
    #[must_use]
    pub fn bytes(&self, positions: u64) -> Option<u64> {
        self.dtype.bytes(positions)
    }

    /// Bytes that a dimension spans, if its mapping is sound.
    #[must_use]
    pub fn dim_bytes(&self, dim: Dim, axes: &Axes) -> Option<u64> {
        let positions = self.map(dim).map_or(Ok(1), |map| map.size(axes));
        self.bytes(positions.ok()?)
    }

    /// The names of the axes that its mappings mention, in order of name.
    #[must_use]
    pub fn axis_names(&self, axes: &Axes) -> Vec<Arc<str>> {
        let mut names: Vec<_> = self.maps.iter().flat_map(|map| map.axis_names(axes)).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Reads a tensor type's body.
///
/// # Errors
/// A wrong context, format or mapping, or a wrong number of dimensions.
pub fn parse_tensor(kind: &'static TensorKind, text: &str) -> Result<Rc<dyn Body>, BodyError> {
    let mut fields = split_fields(text)?.into_iter();
    let unit = if kind.stream { Some(parse_unit(fields.next())?) } else { None };
    let (place, field) = (kind.def.name, fields.next());
    let dtype = parse_dtype(field)?;
    // The tensor register file holds the sideband bits (book 19).
    if !dtype.is_stored() && !kind.stream && place != "tm.trf" {
        let message =
            format!("`{dtype}` has a sideband bit, which only streams and the tensor register file hold");
        return Err(field_error("tensor-format", message, field, None));
    }
    let mut maps = Vec::new();
    for (start, field) in fields {
        let map = Expr::parse(field).map_err(|error| map_error(error, start))?;
        maps.push(map);
    }
    if maps.len() != kind.dims.len() {
        let names: Vec<_> = kind.dims.iter().map(|dim| dim.name()).collect();
        let message =
            format!("{}, expected {} ({})", counted(maps.len(), "mapping"), names.len(), names.join(", "));
        return Err(BodyError { code: "tensor-dimensions".into(), message, range: None, fix: None });
    }
    Ok(Rc::new(Tensor { kind, unit, dtype, maps }))
}

/// The comma-separated fields outside brackets, each with its offset.
fn split_fields(text: &str) -> Result<Vec<(usize, &str)>, BodyError> {
    let tensor = TmGrammar::parse(Rule::tensor, text).map_err(|error| body_syntax(&error))?;
    let fields = tensor.flat_map(Pair::into_inner).filter(|piece| piece.as_rule() == Rule::field);
    Ok(fields.map(|field| (field.as_span().start(), field.as_str().trim())).collect())
}

fn field_error(code: &str, message: String, field: Option<(usize, &str)>, fix: Option<String>) -> BodyError {
    let range = field.map(|(start, text)| start..start + text.len());
    BodyError { code: code.into(), message, range, fix }
}

fn parse_unit(field: Option<(usize, &str)>) -> Result<Unit, BodyError> {
    let found = field.map_or("", |(_, text)| text);
    Unit::from_word(found).ok_or_else(|| {
        let message = format!("found `{found}`, expected `{}`", Unit::WORDS.join("`, `"));
        field_error("tensor-context", message, field, None)
    })
}

fn parse_dtype(field: Option<(usize, &str)>) -> Result<DType, BodyError> {
    let text = field.map_or("", |(_, text)| text);
    DType::parse(text).ok_or_else(|| {
        let range = field.map(|(start, text)| start..start + text.len());
        BodyError { range, ..BodyError::unknown("unknown-dtype", "format", text, DType::names()) }
    })
}

/// A mapping's error at its offset in a body.
#[must_use]
pub fn map_error(error: visa_algebra::MapError, offset: usize) -> BodyError {
    BodyError {
        code: error.code.into(),
        message: error.message,
        range: error.range.map(|range| range.start + offset..range.end + offset),
        fix: error.fix,
    }
}

/// The tensor type of operand `index`.
#[must_use]
pub fn operand(op: OpRef<'_>, index: usize) -> Option<Rc<Tensor>> {
    op.operand_type(index)
}

/// Makes the type of `tensor`.
pub fn make(ctx: &Context, tensor: Tensor) -> TypeId {
    visa_ir::decl::make_type(ctx, &tensor.kind.def, tensor)
}

/// [`BodyDef::symbols`] of a tensor type: the aliases in its mappings.
pub fn tensor_symbols(
    body: &dyn Body,
    with: &mut dyn FnMut(&str) -> Option<Rc<str>>,
) -> Option<Rc<dyn Body>> {
    let tensor = body.as_any().downcast_ref::<Tensor>()?;
    let renamed: Vec<_> = tensor.maps.iter().map(|map| map.renamed(with)).collect();
    if renamed.iter().all(Option::is_none) {
        return None;
    }
    let maps = renamed.into_iter().zip(&tensor.maps).map(|(new, old)| new.unwrap_or_else(|| old.clone()));
    Some(Rc::new(Tensor { maps: maps.collect(), ..tensor.clone() }))
}

/// The skewed axes that some dimension of a tensor is written in, in order of declaration.
#[must_use]
pub fn skewed_axes(tensor: &Tensor, axes: &Axes) -> Vec<AxisId> {
    if !axes.has_skew() {
        return Vec::new();
    }
    skewed_among(tensor.axis_names(axes).iter().filter_map(|name| axes.id(name)), axes)
}

/// Declares a tensor kind with the parser of its body.
#[macro_export]
macro_rules! tensor_kind {
    (@some) => { None };
    (@some $value:expr) => { Some($value) };
    (
        $(#[$doc:meta])* $name:ident, $text:literal, $syntax:literal, $stream:literal,
        [$($dim:ident),*],
        $about:literal $(, left $place:expr)? $(, in $medium:expr)?
    ) => {
        $(#[$doc])*
        pub static $name: $crate::TensorKind = $crate::TensorKind {
            def: $crate::visa_ir::decl::BodyDef {
                name: $text,
                syntax: $syntax,
                doc: $about,
                parse: |text| $crate::parse_tensor(&$name, text),
                symbols: Some($crate::tensor_symbols),
                level: None,
            },
            dims: &[$($crate::Dim::$dim),*],
            stream: $stream,
            medium: $crate::tensor_kind!(@some $($medium)?),
            left: $crate::tensor_kind!(@some $($place)?),
        };
    };
}
