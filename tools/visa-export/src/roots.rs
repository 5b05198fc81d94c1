//! Tensors that share their storage. A value that succeeds another one, as after a write into a tile or a loop, is the
//! same variable. So is a tensor that a body yields: the body creates it in place.

use crate::refusals::{Export, refuse, refuse_with_fix};
use std::collections::{HashMap, HashSet};
use visa_ir::module::{BlockId, OpRef, ValueDef, ValueId};
use visa_mapping::interfaces::Succeeds;
use visa_mapping::ops::control::{For, If, Yield};
use visa_mapping::ops::func::{Func, Return};
use visa_mapping::ops::indexed::ScatterOp;
use visa_mapping::ops::to_tile::TileWrite;
use visa_stream::ops::commit_view::CommitView;
use visa_stream::ops::fill_view::FillView;

/// The storage of the tensors of a kernel.
pub(crate) struct Roots<'a> {
    func: OpRef<'a>,
    /// Tensors that are created in the storage of another one.
    placed: HashMap<ValueId, ValueId>,
    /// Tensors that are written after their creation.
    written: HashSet<ValueId>,
}

impl<'a> Roots<'a> {
    /// The storage of the tensors of a function.
    pub(crate) fn of(func: Func<'a>) -> Export<Self> {
        let mut roots = Self { func: *func, placed: HashMap::new(), written: HashSet::new() };
        for &body in func.regions() {
            for id in func.module.walk(body) {
                roots.read(func.other(id))?;
            }
        }
        roots.returned(func)?;
        for &body in func.regions() {
            for id in func.module.walk(body) {
                let op = func.other(id);
                let results = (0..op.results().len()).filter_map(|at| succeeded(op, at));
                let written: Vec<ValueId> = results.map(|value| roots.root(value)).collect();
                roots.written.extend(written);
            }
        }
        let targets: Vec<ValueId> = roots.placed.values().map(|&of| roots.root(of)).collect();
        roots.written.extend(targets);
        Ok(roots)
    }

    /// The tensor whose storage a value has.
    pub(crate) fn root(&self, value: ValueId) -> ValueId {
        let mut own = value;
        while let Some(before) = self.before(own).or_else(|| self.placed.get(&own).copied()) {
            own = before;
        }
        own
    }

    /// The tensor in whose storage this one is created; `None` if it has separate storage.
    pub(crate) fn place(&self, value: ValueId) -> Option<ValueId> {
        self.placed.get(&value).map(|&of| self.root(of))
    }

    /// Returns true if a tensor is written after its creation.
    pub(crate) fn is_written(&self, root: ValueId) -> bool {
        self.written.contains(&root)
    }

    /// The value that this one succeeds: that before a write, or that a loop carries.
    fn before(&self, value: ValueId) -> Option<ValueId> {
        match self.func.module.def(value) {
            ValueDef::Result(op, at) => succeeded(self.func.other(op), at as usize),
            ValueDef::Argument(body, at) => {
                let looped = self.func.module.block_parent(body).map(|id| self.func.other(id))?;
                let carried = (at as usize).checked_sub(1)?;
                For::cast(looped)?.operands().get(carried).copied()
            }
        }
    }

    /// Notes where a body's yielded tensors are created.
    fn read(&mut self, op: OpRef<'_>) -> Export<()> {
        let Some(body) = Yield::cast(op).and_then(|_| op.parent()) else { return Ok(()) };
        let initial = if If::cast(body).is_some() { &body.operands()[1..] } else { body.operands() };
        for (&yielded, &carried) in op.operands().iter().zip(initial) {
            self.put(op, yielded, carried, body.regions())?;
        }
        Ok(())
    }

    /// Notes where the final values of arguments that are changed are created.
    fn returned(&mut self, func: Func<'_>) -> Export<()> {
        let Some(changed) = func.inout()? else { return Ok(()) };
        let [body] = func.regions() else { return Ok(()) };
        let returned = func.module.ops(*body).last().map(|&id| func.other(id));
        let Some(returned) = returned.filter(|op| Return::cast(*op).is_some()) else { return Ok(()) };
        let first = returned.operands().len().saturating_sub(changed.len());
        for (&value, &number) in returned.operands()[first..].iter().zip(&*changed) {
            let argument = usize::try_from(number).ok().and_then(|at| func.module.args(*body).get(at));
            if let Some(&argument) = argument {
                self.put(returned, value, argument, func.regions())?;
            }
        }
        Ok(())
    }

    /// Puts a tensor into the storage of another one. It must be created in these bodies.
    fn put(&mut self, op: OpRef<'_>, value: ValueId, storage: ValueId, bodies: &[BlockId]) -> Export<()> {
        let (own, target) = (self.root(value), self.root(storage));
        if own == target {
            return Ok(());
        }
        let creator = op.module.def_op(own).map(|id| op.other(id));
        let is_inside = |creator: OpRef<'_>| {
            bodies.contains(&creator.block())
                || creator.ancestors().any(|above| bodies.contains(&above.block()))
        };
        if !creator.is_some_and(is_inside) {
            let message =
                "it gives a tensor that was created elsewhere, and a variable of the language is one tensor";
            return Err(refuse_with_fix(op, message, "copy the tensor in the body, and give the copy"));
        }
        if op.module.ty(own) != op.module.ty(target) {
            return Err(refuse(op, "the tensor that it gives has another type than the variable"));
        }
        self.placed.insert(own, target);
        Ok(())
    }
}

/// The tensor that an operation's result succeeds.
pub(crate) fn succeeded(op: OpRef<'_>, result: usize) -> Option<ValueId> {
    let tensor = |value: Result<visa_ir::view::ValueRef<'_>, _>| value.ok().map(|value| value.id);
    if let Some(write) = TileWrite::cast(op) {
        return tensor(write.tensor());
    }
    if let Some(write) = CommitView::cast(op) {
        return tensor(write.tensor());
    }
    if let Some(write) = FillView::cast(op) {
        return tensor(write.tensor());
    }
    if let Some(write) = ScatterOp::cast(op) {
        return tensor(write.table());
    }
    if For::cast(op).is_some() {
        return op.operands().get(result).copied();
    }
    if If::cast(op).is_some() {
        return op.operands().get(1 + result).copied();
    }
    let Succeeds(of) = op.decl()?.interface()?;
    let value = op.results().get(result)?;
    of(op).into_iter().find(|(own, _)| own == value).map(|(_, operand)| operand)
}
