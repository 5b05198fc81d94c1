//! Operands of the vector engine in its register file, and expressions of a stream (books 20, 21).

use crate::array::Array;
use crate::contraction::layout::{SUMS, in_memory};
use crate::cut::{side_by_side, tidy};
use crate::expressions::computed;
use crate::flow::Given;
use crate::writer::{Writer, new};
use std::sync::Arc;
use visa_algebra::{Axes, Expr, PadKind};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_ir::span::Span;
use visa_machine::Unit;
use visa_mapping::error::mapping_error;
use visa_mapping::expression::{Expression, Term};
use visa_mapping::ops::transfer::ToDm;
use visa_mapping::{DM, Dim, Tensor};
use visa_stream::ops::begin::Begin;
use visa_stream::ops::collect::Collect;
use visa_stream::ops::fetch::Fetch;
use visa_stream::ops::store::ToVrf;
use visa_stream::ops::vector_expr::VectorExpr;

/// A distribution over clusters and slices.
pub struct Resident {
    /// The mapping of the clusters.
    pub cluster: Expr,
    /// The mapping of the slices.
    pub slice: Expr,
    /// The cluster whose DMA engines load it; `None` for those of all clusters.
    pub queue: Option<i64>,
}

/// The part of an operand that a slice holds.
pub struct Terms {
    /// In data memory, slowest first: the order of the array.
    pub memory: Vec<Expr>,
    /// In the register file, around a packet.
    pub outer: Vec<Expr>,
    /// The elements that a packet of the stream reads; `None` if all of them read the same one.
    pub packet: Option<Expr>,
}

/// The tensor in data memory of an operand.
#[must_use]
pub fn operand_tensor(resident: &Resident, array: &Array, terms: &Terms, axes: &Axes) -> Tensor {
    let element = in_memory(terms.memory.iter().cloned(), array.dtype, axes);
    let maps = vec![Expr::Literal(1), resident.cluster.clone(), resident.slice.clone(), element];
    Tensor { kind: &DM, unit: None, dtype: array.dtype, maps }
}

/// Loads an operand into the vector register file, first from HBM if it is there.
///
/// # Errors
/// A layout that an engine refuses.
pub fn load_operand(
    writer: &mut Writer<'_>,
    resident: &Resident,
    array: &Array,
    given: Given,
    terms: &Terms,
    axes: &Axes,
) -> Result<ValueId, Diagnostic> {
    let name = &array.name;
    let loaded = match given {
        Given::Here(value) => value,
        Given::Stored(source) => {
            let tensor = operand_tensor(resident, array, terms, axes);
            let op = new!(writer, ToDm, [source]).at_auto().cluster(tensor.dim(Dim::Cluster));
            let op = op.queue(resident.queue).slice(tensor.dim(Dim::Slice));
            writer.value(op.element(tensor.dim(Dim::Element)), &format!("{name}_dm"))?
        }
    };
    let begin = writer.value(new!(writer, Begin, [loaded]).context(Unit::Main), name)?;
    let [time, packet] = match &terms.packet {
        Some(packet) => [side_by_side(terms.outer.iter().cloned()), packet.clone()],
        None => packets(side_by_side(terms.outer.iter().cloned()), axes)?,
    };
    let (time, packet) = (tidy(&time, axes), tidy(&packet, axes));
    let dtype = computed(array.dtype);
    let op = new!(writer, Fetch, [begin]).dtype((dtype != array.dtype).then_some(dtype));
    let stream = writer.value(op.time(time.clone()).packet(packet.clone()), name)?;
    let op = new!(writer, Collect, [stream]).time(time.clone()).packet(packet.clone());
    let stream = writer.value(op, name)?;
    let element = tidy(&side_by_side([time, packet]), axes);
    writer.value(new!(writer, ToVrf, [stream]).at_auto().element(element), &format!("{name}_vrf"))
}

/// A mapping as packets of eight elements, the last one padded.
///
/// # Errors
/// A mapping without a size.
pub fn packets(map: Expr, axes: &Axes) -> Result<[Expr; 2], Diagnostic> {
    let size = map.size(axes).map_err(|error| mapping_error(error, Span::default()))?;
    let whole = size.next_multiple_of(SUMS);
    let map = if whole == size { map } else { map.pad(whole, PadKind::Top) };
    Ok(if whole == SUMS { [Expr::Literal(1), map] } else { [map.clone().stride(SUMS), map.modulo(SUMS)] })
}

/// Computes an expression of a stream and of operands in the register file.
///
/// # Errors
/// An expression that the vector engine refuses.
pub fn apply(
    writer: &mut Writer<'_>,
    expression: &Expression,
    stream: ValueId,
    operands: &[ValueId],
    name: &str,
) -> Result<ValueId, Diagnostic> {
    let values = std::iter::once(stream).chain(operands.iter().copied());
    writer.value(new!(writer, VectorExpr, values).expression(expression.clone()), name)
}

/// A term with others instead of its names.
#[must_use]
pub fn substituted(term: &Term, terms: &[Term]) -> Term {
    match term {
        Term::Name(at) => terms[*at].clone(),
        Term::Number(number) => Term::Number(*number),
        Term::Call(name, arguments) => Term::Call(
            Arc::clone(name),
            arguments.iter().map(|argument| substituted(argument, terms)).collect(),
        ),
    }
}
