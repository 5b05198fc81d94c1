//! Contractions: sums of products of two tensors.

use crate::import::emit::axes::Axis;
use crate::import::emit::elem::{Data, Elem, Narrow};
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::importer::Precision;
use crate::import::read::types::Kind;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_mapping::ops::cast::SubtractZero;
use visa_numerics::DType;

/// Returns true if a sum of products is a contraction: each factor has a summed axis in common with the other one, and
/// neither has all axes, or both are in formats that the Contraction Engine takes.
pub(crate) fn is_contraction(
    emit: &mut Emitter<'_>,
    left: &Elem,
    right: &Elem,
    over: &[Axis],
) -> Result<bool, Diagnostic> {
    let (Data::Value(l), Data::Value(r)) = (&left.data, &right.data) else { return Ok(false) };
    let (l, r) = (emit.axes_of(*l)?, emit.axes_of(*r)?);
    let shared = over.iter().any(|axis| l.contains(axis) && r.contains(axis));
    if !shared {
        return Ok(false);
    }
    if operands(emit, left, right)?.is_some() {
        return Ok(true);
    }
    let same = l.iter().all(|axis| r.contains(axis)) && r.iter().all(|axis| l.contains(axis));
    Ok(left.kind.is_float() && !same)
}

/// The operands of a contraction that is exact, if both are in one format that contracts.
fn operands(emit: &Emitter<'_>, left: &Elem, right: &Elem) -> Result<Option<[Narrow; 2]>, Diagnostic> {
    let narrow = |elem: &Elem| match (elem.narrow, &elem.data) {
        (Some(narrow), _) => Some(narrow),
        (None, Data::Value(value)) => Some(Narrow { value: *value, point: 0 }),
        (None, _) => None,
    };
    let (Some(left), Some(right)) = (narrow(left), narrow(right)) else { return Ok(None) };
    let dtype = emit.dtype(left.value)?;
    // A zero point has one bit more than the integers.
    let least = if dtype == DType::I4 { 9 } else { 129 };
    let fits = |narrow: &Narrow| narrow.point == 0 || narrow.point.abs() < least;
    let is_taken = dtype.info().contraction.is_some() && emit.dtype(right.value)? == dtype;
    Ok((is_taken && fits(&left) && fits(&right)).then_some([left, right]))
}

/// The sum of the products of two elements along axes, in any order.
///
/// # Errors
/// `f32` operands without a precision, and formats that do not contract.
pub(crate) fn contracted(
    emit: &mut Emitter<'_>,
    (left, right): (&Elem, &Elem),
    over: &[Axis],
    kind: Kind,
    precision: Option<Precision>,
) -> Result<Elem, Diagnostic> {
    let value = match (operands(emit, left, right)?, precision) {
        (Some(both), _) => exact(emit, both, over)?,
        (None, Some(precision)) if left.kind.is_float() => rounded(emit, left, right, over, precision)?,
        (None, _) => return Err(unspecified(emit, left, right)?),
    };
    Ok(Elem::value(kind, value))
}

fn unspecified(emit: &Emitter<'_>, left: &Elem, right: &Elem) -> Result<Diagnostic, Diagnostic> {
    let name = |elem: &Elem| match elem.data {
        Data::Value(value) => emit.dtype(value),
        Data::Number(_) | Data::Term(..) | Data::Undefined => Ok(elem.kind.computed()),
    };
    let message = format!(
        "a contraction of `{}` and `{}`: the Contraction Engine multiplies `bf16`, and rounding the operands has to \
         be asked for",
        name(left)?,
        name(right)?
    );
    Ok(emit.refuse(message).fix(
        "use `--contract bf16` to round both operands, or `--contract bf16x3` for three products, near `f32`"
            .to_owned(),
    ))
}

/// A contraction whose products are exact.
fn exact(emit: &mut Emitter<'_>, both: [Narrow; 2], over: &[Axis]) -> Result<ValueId, Diagnostic> {
    let is_plain = both.iter().all(|narrow| narrow.point == 0);
    let [left, right] = match is_plain {
        true => both.map(|narrow| narrow.value),
        false => [shifted(emit, both[0])?, shifted(emit, both[1])?],
    };
    emit.contract(left, right, over)
}

/// Integers minus their zero point, with a bit more.
fn shifted(emit: &mut Emitter<'_>, narrow: Narrow) -> Result<ValueId, Diagnostic> {
    let wider = if emit.dtype(narrow.value)? == DType::I4 { DType::I5 } else { DType::I9 };
    let wide = emit.cast(narrow.value, wider)?;
    if narrow.point == 0 {
        return Ok(wide);
    }
    emit.emit(crate::import::emit::emitter::new!(emit, SubtractZero, [wide]).points([narrow.point]).spec())
}

/// A contraction of operands that round to `bf16`, or are split in two.
fn rounded(
    emit: &mut Emitter<'_>,
    left: &Elem,
    right: &Elem,
    over: &[Axis],
    precision: Precision,
) -> Result<ValueId, Diagnostic> {
    let (left, right) = (parts(emit, left, precision)?, parts(emit, right, precision)?);
    let mut products = vec![(left.0, right.0)];
    products.extend(right.1.map(|low| (left.0, low)));
    products.extend(left.1.map(|low| (low, right.0)));
    let mut sum: Option<Elem> = None;
    for (left, right) in products.into_iter().rev() {
        let product = Elem::value(Kind::F32, emit.contract(left, right, over)?);
        sum = Some(match sum {
            None => product,
            Some(sum) => emit.apply(Function::Add, &[&sum, &product], Kind::F32)?,
        });
    }
    let sum = sum.ok_or_else(|| emit.refuse("a contraction without products"))?;
    emit.value(&sum)
}

/// An operand as `bf16`, and the rest that rounding leaves, if the precision asks for it and there is one.
fn parts(
    emit: &mut Emitter<'_>,
    elem: &Elem,
    precision: Precision,
) -> Result<(ValueId, Option<ValueId>), Diagnostic> {
    if let Some(narrow) = elem.narrow
        && emit.dtype(narrow.value)? == DType::Bf16
    {
        return Ok((narrow.value, None));
    }
    let computed = emit.computed(elem)?;
    let whole = emit.built(&computed)?.of_kind(Kind::F32);
    let value = emit.value(&whole)?;
    // Windows repeat elements: these are rounded before, once each.
    let (source, copies) = emit.before_copies(value)?;
    let high = emit.cast(source, DType::Bf16)?;
    let low = match precision {
        Precision::Bf16 => None,
        Precision::Bf16x3 => {
            let (whole, back) = (Elem::value(Kind::F32, source), emit.cast(high, DType::F32)?);
            let rest = emit.apply(Function::Sub, &[&whole, &Elem::value(Kind::F32, back)], Kind::F32)?;
            let rest = emit.value(&rest)?;
            Some(emit.cast(rest, DType::Bf16)?)
        }
    };
    let high = emit.copied(high, &copies)?;
    Ok((high, low.map(|low| emit.copied(low, &copies)).transpose()?))
}
