//! Values that several parts of a program share: arguments and results of calls, values that loops carry, and parts of
//! arrays. All parts agree on their layout in HBM.

use crate::array::MostPadding;
use crate::placed::Place;
use crate::written::{Layout, Layouts, Written};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef, ValueId};
use visa_mapping::ops::call::{callee, calling};
use visa_mapping::ops::control::carried;
use visa_mapping::ops::func::{FUNC, signature};
use visa_mapping::ops::gather::SCATTER_INTO;
use visa_mapping::ops::restrict::{EXTRACT, INSERT, RESTRICT};

/// The groups of values that share a layout.
#[derive(Default)]
pub struct Shared {
    /// A value towards the first one of its group.
    parents: HashMap<ValueId, ValueId>,
    /// The first values of groups with an argument of a function that nothing calls.
    given: HashSet<ValueId>,
    /// The functions that others call.
    called: HashSet<OpId>,
    /// Layouts that are written.
    written: Layouts,
    /// Arguments whose memory results may have.
    changed: HashSet<ValueId>,
    /// The written layouts of the groups of these arguments, by their first values.
    groups: Layouts,
    /// The written places in data memory of arguments.
    places: HashMap<ValueId, Arc<Place>>,
}

impl Shared {
    /// The groups of a module.
    ///
    /// # Errors
    /// A call of no function.
    pub fn new(ctx: &Context, module: &Module) -> Result<Self, Diagnostic> {
        let mut shared = Self::default();
        for id in module.walk_all() {
            shared.add(module.op(ctx, id))?;
        }
        let functions = module.ops(module.body()).iter().map(|&id| module.op(ctx, id));
        for func in functions.filter(|op| op.is(&FUNC) && !shared.called.contains(&op.id)) {
            for &argument in signature(func).0 {
                let first = shared.first(argument);
                shared.given.insert(first);
            }
        }
        Ok(shared)
    }

    /// The same groups, with a written interface.
    #[must_use]
    pub fn with_written(self, Written { layouts, changed, places }: Written) -> Self {
        let group = |value: &ValueId| Some((self.first(*value), layouts.get(value)?.clone()));
        let groups = changed.iter().filter_map(group).collect();
        Self { written: layouts, changed, groups, places, ..self }
    }

    /// The written place in data memory of an argument; `None` if a plan chooses it.
    #[must_use]
    pub fn place(&self, value: ValueId) -> Option<Arc<Place>> {
        self.places.get(&value).cloned()
    }

    /// Returns true if a value is an argument whose memory results may have.
    #[must_use]
    pub fn is_changed(&self, value: ValueId) -> bool {
        self.changed.contains(&value)
    }

    /// The layout of the group of a value, apart from the order of axes; `None` if the planner chooses it.
    #[must_use]
    pub fn written_rows(&self, value: ValueId) -> Option<&Layout> {
        self.written(value).or_else(|| self.groups.get(&self.first(value)))
    }

    /// The written layout of a value; `None` if the planner chooses it.
    #[must_use]
    pub fn written(&self, value: ValueId) -> Option<&Layout> {
        self.written.get(&value)
    }

    /// Joins the values that an operation makes parts of a group.
    fn add(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        if calling(op).is_some() {
            let callee = callee(op)?;
            self.called.insert(callee.id);
            let (arguments, results) = signature(callee);
            let pairs = op.operands().iter().zip(arguments).chain(op.results().iter().zip(results));
            pairs.for_each(|(&own, &other)| self.join(own, other));
        }
        for values in carried(op) {
            values.later().for_each(|value| self.join(values.initial, value));
        }
        let source = if op.is(&SCATTER_INTO) {
            op.operands().get(2)
        } else if op.is(&INSERT) {
            op.operands().get(1)
        } else if op.is(&EXTRACT) || op.is(&RESTRICT) {
            op.operands().first()
        } else {
            None
        };
        source.into_iter().zip(op.results()).for_each(|(&source, &result)| self.join(source, result));
        Ok(())
    }

    fn join(&mut self, one: ValueId, other: ValueId) {
        let [one, other] = [one, other].map(|value| self.first(value));
        self.parents.insert(one, other);
        self.parents.insert(other, other);
    }

    fn first(&self, mut value: ValueId) -> ValueId {
        while let Some(&parent) = self.parents.get(&value).filter(|parent| **parent != value) {
            value = parent;
        }
        value
    }

    /// Returns true if other parts of the program share a value: its axes are in the order of its type.
    #[must_use]
    pub fn has(&self, value: ValueId) -> bool {
        self.parents.contains_key(&value)
    }

    /// The limit on the padding of rows of a shared or written value; `None` if only one part of the program knows it.
    #[must_use]
    pub fn padding(&self, value: ValueId) -> Option<MostPadding> {
        if let Some(layout) = self.written_rows(value) {
            return Some(layout.most_padding);
        }
        let given = self.given.contains(&self.first(value));
        let padding = if given { MostPadding::Quarter } else { MostPadding::Whole };
        self.has(value).then_some(padding)
    }

    /// Returns true if other functions call a function.
    #[must_use]
    pub fn is_called(&self, func: OpId) -> bool {
        self.called.contains(&func)
    }
}
