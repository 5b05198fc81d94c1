//! Where the tensors of a function are, and for how long they are needed there.

use crate::facts::address::{Address, address, carried_address, index};
use crate::facts::liveness::Positions;
use crate::interfaces::succeeded;
use crate::ops::control::{Carried, For, carried, carries, times};
use crate::ops::func::{Func, addresses};
use crate::tensor::memories::HBM;
use crate::tensor::value::Value;
use crate::tensor::{Dim, Tensor};
use crate::view;
use std::ops::Range;
use visa_algebra::Axes;
use visa_engine::words::RegionName;
use visa_ir::decl::ClauseKind;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{BlockId, OpRef, ValueId};
use visa_ir::view::{Int, WordOf, unless_auto};
use visa_machine::Machine;

/// A tensor at rest as the function places it. Positions count the operations of the function, those of bodies among
/// them.
#[derive(Clone, Debug)]
pub struct Placement {
    /// The tensor.
    pub value: ValueId,
    /// The tensor that it was before it was changed in place: it is where that one stood.
    pub before: Option<ValueId>,
    /// Where it is as written; `None` for a view, a part of the tensor register file, and an open address.
    pub address: Option<Address>,
    /// Its part of the tensor register file as written.
    pub half: Option<RegionName>,
    /// The position at which it is there; arguments are there from the start.
    pub from: usize,
    /// The position of the last operation that needs it: through views, and through a stream up to the end of its
    /// pipeline.
    pub until: usize,
}

/// The tensors that a function places, views included: HBM arguments first, then results in the order of
/// definition. Host tensors, which have no address, are among them if they are results.
///
/// # Errors
/// If an address is no number.
pub fn placements(func: OpRef<'_>, axes: &Axes) -> Result<Vec<Placement>, Diagnostic> {
    let positions = Positions::of_function(func);
    let needed = positions.needed_until(func);
    let until = |value: ValueId, from: usize| needed.get(&value).map_or(from, |&until| until.max(from));
    let Some(&block) = func.regions().first() else { return Ok(Vec::new()) };
    let addresses = addresses(Func::of(func)?)?;
    let in_hbm =
        |arg: ValueId| func.ctx.type_value::<Tensor>(func.module.ty(arg)).is_some_and(|own| own.is(&HBM));
    let args = func.module.args(block).iter().filter(|&&arg| in_hbm(arg));
    let all: Vec<_> = args
        .enumerate()
        .map(|(index, &value)| Placement {
            value,
            before: None,
            address: addresses.as_ref().and_then(|addresses| *addresses.get(index)?).map(Address::at),
            half: None,
            from: 0,
            until: until(value, 0),
        })
        .collect();
    let mut placing = Placing { func, axes, positions: &positions, until: &until, all };
    placing.block(block)?;
    Ok(placing.all)
}

/// The tensors that a function places and that are known so far.
struct Placing<'a> {
    func: OpRef<'a>,
    axes: &'a Axes,
    positions: &'a Positions,
    /// The position up to which a value is needed that is there from another one on.
    until: &'a dyn Fn(ValueId, usize) -> usize,
    all: Vec<Placement>,
}

impl Placing<'_> {
    /// Adds the tensors that the operations of a block place, in the order of the block.
    fn block(&mut self, block: BlockId) -> Result<(), Diagnostic> {
        for &id in self.func.module.ops(block) {
            let (op, from) = (self.func.other(id), self.positions.of(id));
            if carries(op) {
                self.carry(op)?;
                continue;
            }
            let taken = succeeded(op);
            taken.iter().for_each(|&(value, before)| self.succeed(value, before, from));
            if op.results().first().is_some_and(|first| taken.iter().any(|(value, _)| value == first)) {
                continue;
            }
            let at_rest = op.result_type::<Tensor>(0).is_some_and(|tensor| !tensor.kind.stream);
            if let (true, Some(&value)) = (at_rest, op.results().first()) {
                let before = view::changed(op);
                let known = before.and_then(|before| self.of(before));
                let (first, half) = written_place(op)?;
                let address = known.map_or_else(|| address(op, first), |known| known.address.clone());
                let until = (self.until)(value, from);
                self.all.push(Placement { value, before, address, half, from, until });
            }
        }
        Ok(())
    }

    /// Adds the values that pass through a loop or a branch, and the tensors that its body places.
    fn carry(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let (from, end) = (self.positions.of(op.id), self.positions.end(op));
        // Values of the tensor level are in no memory.
        let in_memory = |value: ValueId| op.ctx.type_value::<Value>(op.module.ty(value)).is_none();
        let through: Vec<Carried> =
            carried(op).into_iter().filter(|carried| in_memory(carried.initial)).collect();
        for Carried { initial, argument, yielded, .. } in &through {
            let Some(value) = *argument else { continue };
            let written = |op: OpRef<'_>| address(op, written_place(op).ok()?.0);
            self.succeed(value, *initial, from);
            if let (Some(turning), Some(placed)) =
                (carried_address(op, *yielded, written), self.all.last_mut())
            {
                placed.address = Some(turning);
            }
        }
        for &body in op.regions() {
            self.block(body)?;
        }
        let times = For::cast(op).map_or(Ok(1), |around| times(around, self.axes))?;
        for Carried { initial, yielded, result, .. } in through {
            let Some((value, before)) = result.zip(yielded) else { continue };
            let branch = index(op).is_none();
            let stays = self.of(initial).filter(|_| branch).and_then(|placed| placed.address.clone());
            self.succeed(value, before, end);
            if let Some(placed) = self.all.last_mut() {
                let after = placed.address.as_ref().map(|address| address.after(index(op), times));
                placed.address = stays.or(after);
            }
        }
        Ok(())
    }

    fn of(&self, value: ValueId) -> Option<&Placement> {
        self.all.iter().find(|placed| placed.value == value)
    }

    /// Adds a tensor that takes the place of another one.
    fn succeed(&mut self, value: ValueId, before: ValueId, from: usize) {
        let known = self.of(before);
        let (address, half) = known.map_or((None, None), |known| (known.address.clone(), known.half));
        let until = (self.until)(value, from);
        self.all.push(Placement { value, before: Some(before), address, half, from, until });
    }
}

/// The address, or the part of the tensor register file, where an operation writes that it puts its result. Neither
/// where that is open, and for a view.
///
/// # Errors
/// If it is of another kind.
pub fn written_place(op: OpRef<'_>) -> Result<(Option<i64>, Option<RegionName>), Diagnostic> {
    const AT: &str = "at";
    match op.decl().and_then(|decl| decl.clause(AT)).map(|clause| clause.kind) {
        Some(ClauseKind::Int) => Ok((unless_auto::<Int>(&op, AT)?, None)),
        Some(ClauseKind::Word(_)) => Ok((None, unless_auto::<WordOf<RegionName>>(&op, AT)?)),
        Some(
            ClauseKind::Str
            | ClauseKind::Symbol
            | ClauseKind::Ints
            | ClauseKind::Strs
            | ClauseKind::Flag
            | ClauseKind::Body(_),
        )
        | None => Ok((None, None)),
    }
}

/// The bytes of its memory that a tensor occupies (book 04): of a chip's HBM, of a PE's scratchpad memory, of a
/// slice's data memory or vector register file, of a row's tensor register file. `None` where it has no address.
#[must_use]
pub fn occupied(
    tensor: &Tensor,
    address: Option<i64>,
    half: Option<RegionName>,
    axes: &Axes,
    machine: &Machine,
) -> Option<Range<u64>> {
    let row = machine.memory.trf_bytes_per_row;
    match half {
        Some(RegionName::Full) => return Some(0..row),
        Some(RegionName::First) => return Some(0..row / 2),
        Some(RegionName::Second) => return Some(row / 2..row),
        None => {}
    }
    let start = u64::try_from(address?).ok()?;
    Some(start..start.checked_add(tensor.dim_bytes(Dim::Element, axes)?)?)
}
