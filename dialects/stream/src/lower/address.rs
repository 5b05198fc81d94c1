//! Addresses of tensors at rest.

use super::StageCx;
use std::collections::HashMap;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_ir::view::ValueRef;
use visa_loops::{Step, Steps};
use visa_mapping::error::mapping_error;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::facts::address::Moving;
use visa_mapping::facts::frames::Frame;
use visa_mapping::facts::placed::{Placement, placements};
use visa_mapping::index::affine::{Affine, Term};
use visa_mapping::index::cases::{Bound, Cases};
use visa_mapping::ops::control::{FOR, carried, carries};
use visa_mapping::ops::func::{FUNC, Func};
use visa_mapping::ops::to_tile::TileWrite;
use visa_mapping::ops::{number, to_tile};
use visa_mapping::tensor::scalar::SCALAR;
use visa_mapping::{Dim, HBM, HOST, Tensor, ops, view};

/// Host tensors are placed one after the other at multiples of this, in bytes.
const HOST_ALIGN: i64 = 4096;

/// Address of each tensor at rest, in bytes, as a function of the loops around its use.
pub type Addresses = HashMap<ValueId, Cases<Moving>>;

/// Computes the address of every tensor at rest. Explicit addresses are kept, host tensors are placed one after the
/// other, and a view is at an offset from its source. A tensor whose address is open is left out.
///
/// # Errors
/// Mappings that are not legal, and host tensors that end beyond the range of a signed 64-bit integer.
pub fn all(func: OpRef<'_>, axes: &DeclaredAxes) -> Result<Addresses, Diagnostic> {
    let mut addresses = Addresses::new();
    let mut host = 0_i64;
    let mut place = |addresses: &mut Addresses, value: ValueId, given: Option<Cases<Moving>>| {
        let Some(tensor) = func.ctx.type_value::<Tensor>(func.module.ty(value)) else { return Ok(()) };
        if tensor.is(&HOST) {
            addresses.insert(value, constant(host));
            host = after(func, value, &tensor, host, axes)?;
        } else if let Some(address) = given {
            addresses.insert(value, address);
        }
        Ok(())
    };
    let Some(&block) = func.regions().first() else { return Ok(addresses) };
    let written = ops::func::addresses(Func::of(func)?)?;
    let mut hbm = written.into_iter().flatten();
    for &arg in func.module.args(block) {
        let tensor = func.ctx.type_value::<Tensor>(func.module.ty(arg));
        let given = if tensor.is_some_and(|tensor| tensor.is(&HBM)) { hbm.next().flatten() } else { None };
        place(&mut addresses, arg, given.map(constant))?;
    }
    let placed = placements(func, &axes.0)?;
    let placed: HashMap<ValueId, &Placement> = placed.iter().map(|placed| (placed.value, placed)).collect();
    let written = |value: &ValueId| {
        placed.get(value)?.address.as_ref().map(|address| Cases::always(Moving::from(address)))
    };
    for id in func.module.walk(block) {
        let op = func.other(id);
        if carries(op) {
            for carried in carried(op) {
                let taken = [carried.argument, carried.result].into_iter().flatten();
                taken.into_iter().try_for_each(|value| place(&mut addresses, value, written(&value)))?;
            }
            continue;
        }
        let address = if view::kind(op).is_some() {
            view_address(op, &addresses, axes)
        } else if let Some(before) = view::changed(op) {
            addresses.get(&before).cloned()
        } else {
            op.results().first().and_then(written)
        };
        for &result in op.results() {
            place(&mut addresses, result, address.clone())?;
        }
    }
    Ok(addresses)
}

fn constant(address: i64) -> Cases<Moving> {
    Cases::always(Affine::constant(address).into())
}

/// The cases of a command for `ops`: in each, the tensors of `ops` have one address and one frame of chips and slices.
/// Diagnostics are reported at `command`, which is one of `ops`.
///
/// # Errors
/// Too many of them, or a tile that is not inside its tensor.
pub fn cases(cx: &StageCx<'_>, command: OpRef<'_>, ops: &[OpRef<'_>]) -> Result<Vec<Vec<Bound>>, Diagnostic> {
    let mut all = Cases::always(());
    for op in ops {
        let values = op.operands().iter().chain(op.results());
        for value in values {
            if let Some(address) = cx.addresses.get(value) {
                all = all.join(address, |(), _| ()).bounded(command)?;
            }
            all = all.join(cx.frames.of(*value), |(), _| ()).bounded(command)?;
        }
        if let Some(tile) = TileWrite::cast(*op) {
            all = all.join(&to_tile::tile(tile, cx.axes)?, |(), _| ()).bounded(command)?;
        }
    }
    number::cases(command, &all, cx.axes)
}

/// The address of the next host tensor, if `tensor` is at `host`.
fn after(
    func: OpRef<'_>,
    value: ValueId,
    tensor: &Tensor,
    host: i64,
    axes: &DeclaredAxes,
) -> Result<i64, Diagnostic> {
    let span = func.module.value_span(value);
    let positions = tensor.dim(Dim::Element).size(&axes.0).map_err(|error| mapping_error(error, span))?;
    let bytes = tensor.bytes(positions).and_then(|bytes| i64::try_from(bytes).ok());
    let end = bytes.and_then(|bytes| host.checked_add(bytes)?.checked_add(HOST_ALIGN - 1));
    end.map(|end| end / HOST_ALIGN * HOST_ALIGN).ok_or_else(|| {
        let message = "the host tensors take more bytes than a signed 64-bit address counts";
        Diagnostic::error("lower-to-seq", span, message)
    })
}

/// The address of an operand or result of `op` at rest, in bytes, which is the same in all iterations.
///
/// # Errors
/// If it has none, or moves with a loop: then `op` cannot follow.
pub fn of(cx: &StageCx<'_>, op: OpRef<'_>, tensor: ValueRef<'_>) -> Result<i64, Diagnostic> {
    let address = moving(cx, op, tensor)?;
    if address.is_still() {
        return Ok(address.base());
    }
    let message = format!("`{op}` does not move with the loops around it, as its tensor does");
    Err(op.error("C0", message).fix("give the tensor one address: leave out `then`".to_owned()))
}

/// The address of an operand or result of `op` at rest, in bytes, as a function of the loops around `op`.
///
/// # Errors
/// If it has none.
pub fn moving(cx: &StageCx<'_>, op: OpRef<'_>, tensor: ValueRef<'_>) -> Result<Moving, Diagnostic> {
    cx.addresses.get(&tensor.id).and_then(|cases| cases.under(cx.case)).cloned().ok_or_else(|| {
        let name = tensor.module().value_name(tensor.id);
        let name = name.map_or_else(|| "a tensor".to_owned(), |name| format!("`%{name}`"));
        let message = format!("`{op}` needs the address of {name}, which has none");
        let fix = "write it, or run `allocate` before".to_owned();
        Diagnostic::error("lower-to-seq", tensor.module().value_span(tensor.id), message).fix(fix)
    })
}

/// The address that a transfer or a pipeline writes: that of the result, or of the tile in it.
///
/// # Errors
/// If the result has no address.
pub fn written(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Moving, Diagnostic> {
    let result = op.results().first().map(|&result| op.value(result));
    let result = result.ok_or_else(|| op.error("C0", "it gives no tensor"))?;
    let whole = moving(cx, op, result)?;
    let Some(tile) = TileWrite::cast(op) else { return Ok(whole) };
    let tiles = to_tile::tile(tile, cx.axes)?;
    let tile = tiles.under(cx.case).ok_or_else(|| op.error("C0", "its tile is one of several"))?;
    let start = in_bytes(&tile.starts()?, &*result.of_type::<Tensor>()?);
    let start = start.and_then(|start| whole.plus(&start));
    start.ok_or_else(|| op.error("C3", "a tile does not start at a byte that 64 bits count"))
}

/// The frame of a tensor in the case that is lowered: the origin of its mappings.
///
/// # Errors
/// If the case leaves several frames.
pub fn frame<'a>(cx: &StageCx<'_>, op: OpRef<'_>, frames: &'a Cases<Frame>) -> Result<&'a Frame, Diagnostic> {
    frames.under(cx.case).ok_or_else(|| op.error("C0", "where it begins is one of several"))
}

/// The address that a transfer uses for a tensor at `address` of the memories from `frame` on.
///
/// # Errors
/// An address past 64 bits.
pub fn in_transfer(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    address: &Moving,
    (tensor, frame): (&Tensor, &Frame),
) -> Result<Moving, Diagnostic> {
    let found = frame.bytes(tensor, cx.machine).and_then(|bytes| address.plus(&bytes));
    found.ok_or_else(|| op.error("C3", "a tile is at an address that 64 bits do not count"))
}

/// The steps of an address with each scalar of the function, and then with each loop around `op`, the outermost first.
/// `None` if the address stays.
#[must_use]
pub fn steps(op: OpRef<'_>, address: &Moving) -> Option<Steps> {
    if address.is_still() {
        return None;
    }
    let Moving { affine, turns } = address;
    let step = |index: ValueId| {
        let turns = turns.as_ref().filter(|turns| turns.index == index);
        Step { by: factor(affine, index), turns: turns.map_or_else(Vec::new, |turns| turns.offsets.clone()) }
    };
    Some(Steps { each: indices(op).into_iter().map(step).collect(), plus: 0 })
}

/// The factors of a number: of each scalar of the function, and then of each loop around `op`, the outermost first.
#[must_use]
pub fn factors(op: OpRef<'_>, number: &Affine) -> Vec<i64> {
    indices(op).into_iter().map(|index| factor(number, index)).collect()
}

fn factor(number: &Affine, index: ValueId) -> i64 {
    number.terms.iter().find(|term| term.index == index).map_or(0, |term| term.factor)
}

/// The scalars of the function around `op`, and the indices of the loops, the outermost first.
fn indices(op: OpRef<'_>) -> Vec<ValueId> {
    let arguments =
        |op: OpRef<'_>| op.regions().first().map_or_else(Vec::new, |&block| op.module.args(block).to_vec());
    let loops = op.ancestors().filter(|op| op.is(&FOR)).map(|op| arguments(op).into_iter().take(1));
    let mut indices: Vec<ValueId> = loops.flatten().collect();
    indices.reverse();
    let func = op.ancestors().find(|op| op.is(&FUNC)).map_or_else(Vec::new, arguments);
    let scalars = func.into_iter().filter(|&value| op.ctx.type_name(op.module.ty(value)) == SCALAR.name);
    scalars.chain(indices).collect()
}

/// The address of a tensor in elements, in the first iteration of the loops around `op`.
///
/// # Errors
/// If it has none.
pub fn in_elements(cx: &StageCx<'_>, op: OpRef<'_>, tensor: ValueRef<'_>) -> Result<i64, Diagnostic> {
    let dtype = tensor.of_type::<Tensor>()?.dtype;
    Ok(moving(cx, op, tensor)?.base().saturating_mul(8) / i64::from(dtype.bits()))
}

/// The least address of all iterations, in elements.
///
/// # Errors
/// If it has none.
pub fn least_in_elements(cx: &StageCx<'_>, op: OpRef<'_>, tensor: ValueRef<'_>) -> Result<i64, Diagnostic> {
    let (address, dtype) = (moving(cx, op, tensor)?, tensor.of_type::<Tensor>()?.dtype);
    let least = address.range().map_or(address.base(), |(least, _)| least);
    Ok(least.saturating_mul(8) / i64::from(dtype.bits()))
}

/// The address of a view, in bytes: its source's address plus the offset of its first position. `None` if either is
/// unknown.
#[must_use]
pub fn view_address(op: OpRef<'_>, addresses: &Addresses, axes: &DeclaredAxes) -> Option<Cases<Moving>> {
    let kind = visa_mapping::view::kind(op)?;
    let source = addresses.get(op.operands().first()?)?;
    let start = visa_mapping::view::start(op, kind, &axes.0).ok()?;
    let tensor = op.result_type::<Tensor>(0)?;
    let address = |source: &Moving, start: &Affine| source.plus(&in_bytes(start, &tensor)?);
    source.join(&start, address).map(|address| address.clone().ok_or(())).ok()
}

/// A distance in elements of a tensor, as bytes. `None` on overflow, and for a 4-bit element in the middle of a byte.
#[must_use]
pub fn in_bytes(elements: &Affine, tensor: &Tensor) -> Option<Affine> {
    let bits = elements.times(i64::from(tensor.dtype.bits()))?;
    let terms = bits
        .terms
        .iter()
        .map(|term| (term.factor % 8 == 0).then_some(Term { factor: term.factor / 8, ..*term }));
    Some(Affine {
        base: (bits.base % 8 == 0).then_some(bits.base / 8)?,
        terms: terms.collect::<Option<_>>()?,
    })
}
