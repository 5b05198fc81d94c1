//! `linalg.generic`: maps, reductions and contractions of tensors.

use crate::import::emit::axes::Axis;
use crate::import::emit::elem::Elem;
use crate::import::emit::function::Function;
use crate::import::importer::Importer;
use crate::import::ops::body::Body;
use crate::import::ops::combine::Combine;
use crate::import::ops::composite;
use crate::import::ops::contract::{contracted, is_contraction};
use crate::import::ops::reduce::{
    Position, Reduction, Term, position, positioned, reduced, reduction, with_initial,
};
use crate::import::read::attributes::{Key, key, op_key};
use crate::import::read::loops::Loops;
use crate::import::read::operations::{ScalarOp, known};
use crate::import::read::types;
use crate::import::tensor::{Tensor, read, written};
use melior::ir::RegionLike as _;
use melior::ir::ValueLike as _;
use melior::ir::block::BlockLike as _;
use melior::ir::operation::{OperationLike as _, OperationRef};
use std::collections::{HashMap, HashSet};
use visa_ir::diag::Diagnostic;

/// Imports a `linalg.generic`.
///
/// # Errors
/// An operation or an index that is not imported, at its location.
pub(crate) fn generic<'c, 'a>(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'c, 'a>,
) -> Result<(), Diagnostic> {
    let name = importer.name(op);
    let refuse = |importer: &Importer<'_, '_>, why: String| importer.emit.refuse(format!("`{name}`: {why}"));
    let loops = Loops::of(op).map_err(|why| refuse(importer, why))?;
    if loops.extents.contains(&0) {
        return without_iterations(importer, op, loops.inputs);
    }
    let axes = importer.loop_axes(op_key(&op));
    let whole = |importer: &Importer<'_, '_>, operand| (key(operand), importer.known(key(operand)).cloned());
    let operands = op.operands().map(|operand| whole(importer, operand)).collect();
    let maps = loops.maps.clone();
    let nest = composite::nest(importer, loops, axes, operands)?;
    let (loops, axes) = (&nest.loops, nest.axes.as_slice());
    let block = op.regions().next().and_then(|region| region.first_block());
    let block = block.ok_or_else(|| refuse(importer, "it has no body".to_owned()))?;
    let end = block.terminator().ok_or_else(|| refuse(importer, "its body has no end".to_owned()))?;
    let is_reduced = loops.reduced.contains(&true);

    let (mut elems, mut carried) = (HashMap::new(), HashSet::new());
    let mut initial = Vec::new();
    for at in 0..op.operand_count() {
        let argument = block.argument(at).map_err(|error| refuse(importer, error.to_string()))?;
        let is_read = importer.uses(key(argument)) > 0;
        let elem = match (at < loops.inputs || is_read, &nest.tensors[at]) {
            (true, Some(tensor)) => read(&mut importer.emit, tensor, &loops.maps[at], loops, axes)?,
            (true, None) => return Err(refuse(importer, "an operand is not known".to_owned())),
            (false, _) => {
                let kind = types::kind_of(argument).map_err(|why| refuse(importer, why))?;
                Elem::undefined(kind)
            }
        };
        if at >= loops.inputs && is_reduced {
            carried.insert(key(argument));
            initial.push((key(argument), elem));
        } else {
            elems.insert(key(argument), elem);
        }
    }

    let mut body = Body::new(block, elems, carried);
    let over: Vec<Axis> = axes
        .iter()
        .zip(&loops.reduced)
        .filter(|(_, reduced)| **reduced)
        .filter_map(|(axis, _)| axis.clone())
        .collect();
    let wanted: Vec<(usize, Key)> =
        end.operands().map(key).enumerate().filter(|&(at, _)| importer.is_used(op, at)).collect();
    let yielded: Vec<Key> = end.operands().map(key).collect();
    let mut reductions: HashMap<usize, Found> = HashMap::new();
    let mut products = HashSet::new();
    for &(at, _) in wanted.iter().filter(|_| is_reduced) {
        let found = found(&body, at, (&yielded, &initial)).map_err(|why| refuse(importer, why))?;
        if let Found::Reduction(sum) = &found
            && sum.combine == Combine::Add
        {
            let values = sum.terms.iter().filter_map(|(term, _)| match *term {
                Term::Value(value) => Some(value),
                Term::Product(..) => None,
            });
            products.extend(values.filter(|&value| factors(&body, importer, value).is_some()));
        }
        reductions.insert(at, found);
    }
    body.compute(importer, &nest, &products)?;
    importer.at(op);
    for (at, yielded) in wanted {
        let elem = match reductions.get(&at) {
            None => body.value(importer, yielded)?,
            Some(Found::Reduction(found)) => {
                let sum = reduce(importer, &body, found, &over)?;
                with_initial(&mut importer.emit, found.combine, sum, &initial[at].1)?
            }
            Some(Found::Position(found)) => {
                let next = combined_value(importer, &body, &found.of)?;
                let index = body.value(importer, found.index)?;
                positioned(&mut importer.emit, found.of.combine, (&next, &index), &over)?
            }
        };
        let result = op.result(at).map_err(|error| refuse(importer, error.to_string()))?;
        let (_, shape) = types::tensor(result.r#type()).map_err(|why| refuse(importer, why))?;
        let dims = written(&importer.emit, &loops.maps[loops.inputs + at], loops, axes)?;
        let parts = maps[loops.inputs + at].iter().zip(&shape).map(|(index, &size)| nest.parts(index, size));
        let parts = parts.collect();
        let tensor = Tensor::over(&mut importer.emit, elem, shape, (parts, dims))?;
        importer.bind(key(result), tensor);
    }
    Ok(())
}

/// Imports an operation whose loops have no iteration: its results are its outputs.
fn without_iterations(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    inputs: usize,
) -> Result<(), Diagnostic> {
    for (at, result) in op.results().enumerate() {
        let tensor = importer.whole_operand(op, inputs + at)?;
        importer.bind(key(result), tensor);
    }
    Ok(())
}

/// A reduction of one result, or the position of another one's extreme.
enum Found {
    Reduction(Reduction),
    Position(Position),
}

/// The reduction of a result.
///
/// # Errors
/// The reason why there is none.
fn found(
    body: &Body<'_, '_>,
    at: usize,
    (yielded, initial): (&[Key], &[(Key, Elem)]),
) -> Result<Found, String> {
    let why = match reduction(body, yielded[at], initial[at].0) {
        Ok(found) => return Ok(Found::Reduction(found)),
        Err(why) => why,
    };
    for (other, &extreme) in yielded.iter().enumerate().filter(|(other, _)| *other != at) {
        let so_far = [initial[at].0, initial[other].0];
        let Some(position) = position(body, [yielded[at], extreme], so_far) else { continue };
        // The first element has to exceed what is there before it, and its position is then the first.
        let before = &initial[other].1;
        let is_identity =
            before.as_number().is_some_and(|number| position.of.combine.is_identity(before.kind, number));
        if is_identity && initial[at].1.as_number() == Some(0.0) {
            return Ok(Found::Position(position));
        }
    }
    Err(why)
}

/// The factors of a product in a body that nothing else uses.
fn factors(body: &Body<'_, '_>, importer: &Importer<'_, '_>, value: Key) -> Option<[Key; 2]> {
    let op = body.definition(value).filter(|_| importer.uses(value) == 1)?;
    if !matches!(known(op), Some(ScalarOp::MulF | ScalarOp::MulI)) {
        return None;
    }
    let operands: Vec<Key> = op.operands().map(key).collect();
    let [left, right] = <[Key; 2]>::try_from(operands).ok()?;
    (left != right).then_some([left, right])
}

/// The element that each iteration of a maximum, a minimum or a product combines.
fn combined_value(
    importer: &Importer<'_, '_>,
    body: &Body<'_, '_>,
    found: &Reduction,
) -> Result<Elem, Diagnostic> {
    let value = found.value().ok_or_else(|| importer.emit.refuse("a product that is reduced by no sum"))?;
    body.value(importer, value)
}

/// A reduction along axes; sums of products of two tensors are contractions.
fn reduce(
    importer: &mut Importer<'_, '_>,
    body: &Body<'_, '_>,
    found: &Reduction,
    over: &[Axis],
) -> Result<Elem, Diagnostic> {
    if found.combine != Combine::Add {
        let next = combined_value(importer, body, found)?;
        return reduced(&mut importer.emit, found.combine, &next, over);
    }
    // Terms that are no products are added before they are summed.
    let (mut plain, mut sum): (Option<Elem>, Option<Elem>) = (None, None);
    for &(term, negative) in &found.terms {
        let product = match term {
            Term::Value(value) if body.elem(value).is_some() || importer.known(value).is_some() => {
                let elem = body.value(importer, value)?;
                plain = Some(with_term(importer, plain, elem, negative)?);
                continue;
            }
            Term::Value(value) => factors(body, importer, value),
            Term::Product(left, right) => Some([left, right]),
        };
        let product = product.ok_or_else(|| importer.emit.refuse("a term of a sum is not known"))?;
        let elem = summed_product(importer, body, product, over)?;
        sum = Some(with_term(importer, sum, elem, negative)?);
    }
    let plain = plain.map(|elem| reduced(&mut importer.emit, Combine::Add, &elem, over)).transpose()?;
    match (plain, sum) {
        (Some(plain), sum) => with_term(importer, sum, plain, false),
        (None, Some(sum)) => Ok(sum),
        (None, None) => Err(importer.emit.refuse("a sum without terms")),
    }
}

/// A sum with a further term.
fn with_term(
    importer: &mut Importer<'_, '_>,
    sum: Option<Elem>,
    term: Elem,
    negative: bool,
) -> Result<Elem, Diagnostic> {
    let kind = term.kind;
    let (sum, function) = match (sum, negative) {
        (None, false) => return Ok(term),
        (None, true) => (Elem::number(kind, 0.0), Function::Sub),
        (Some(sum), true) => (sum, Function::Sub),
        (Some(sum), false) => (sum, Function::Add),
    };
    let range = function.bounds(&[sum.range, term.range]);
    let range = range.filter(|range| kind.range().0 <= range.0 && range.1 <= kind.range().1);
    Ok(importer.emit.apply(function, &[&sum, &term], kind)?.with_range(range.unwrap_or(kind.range())))
}

/// The sum of a product of two factors along axes, as a contraction if it is one.
fn summed_product(
    importer: &mut Importer<'_, '_>,
    body: &Body<'_, '_>,
    [left, right]: [Key; 2],
    over: &[Axis],
) -> Result<Elem, Diagnostic> {
    let (left, right) = (body.value(importer, left)?, body.value(importer, right)?);
    let (left, right) = (importer.emit.built(&left)?, importer.emit.built(&right)?);
    let kind = left.kind;
    if kind == types::Kind::F64 {
        return Err(importer.emit.double());
    }
    if is_contraction(&mut importer.emit, &left, &right, over)? {
        check_range(importer, &left, &right, over)?;
        let precision = importer.precision();
        return contracted(&mut importer.emit, (&left, &right), over, kind, precision);
    }
    let product = importer.emit.apply(Function::Mul, &[&left, &right], kind)?;
    reduced(&mut importer.emit, Combine::Add, &product.with_range(kind.range()), over)
}

/// Checks that a sum of products in `i64` fits `i32`.
fn check_range(
    importer: &Importer<'_, '_>,
    left: &Elem,
    right: &Elem,
    over: &[Axis],
) -> Result<(), Diagnostic> {
    if left.kind != types::Kind::I64 {
        return Ok(());
    }
    let largest = |elem: &Elem| elem.range.0.saturating_abs().max(elem.range.1.saturating_abs());
    let sum = largest(left).saturating_mul(largest(right)).saturating_mul(importer.emit.count(over)?);
    if sum <= i64::from(i32::MAX) {
        return Ok(());
    }
    Err(importer.emit.refuse("a contraction in `i64` that may exceed `i32`, which the machine sums in"))
}
