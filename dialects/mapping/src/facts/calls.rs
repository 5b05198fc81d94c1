//! The calls between functions.

use crate::ops::call::calling;
use crate::ops::func::FUNC;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use visa_ir::analysis::Analysis;
use visa_ir::context::Context;
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::symbols::{Symbols, declared};

/// The functions of a module, each with those that it calls. Calls of anything but a function are left out: the
/// verifier reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallGraph {
    names: BTreeMap<OpId, Rc<str>>,
    callees: BTreeMap<OpId, BTreeSet<OpId>>,
    /// Each function after those that it calls; those that lead to a cycle are not in it.
    order: Vec<OpId>,
    /// Functions that lead to a cycle.
    cyclic: BTreeSet<OpId>,
}

impl Analysis for CallGraph {
    const SAME: Option<fn(&Self, &Self) -> bool> = Some(Self::eq);

    fn build(ctx: &Context, module: &Module) -> Self {
        let symbols = Symbols::build(ctx, module);
        let functions =
            module.ops(module.body()).iter().map(|&id| module.op(ctx, id)).filter(|op| op.is(&FUNC));
        let mut graph = Self::default();
        for func in functions {
            graph.names.extend(declared(func).map(|name| (func.id, name)));
            graph.callees.insert(func.id, called(func, &symbols));
        }
        graph.sort();
        graph
    }
}

/// The functions that a function calls.
fn called(func: OpRef<'_>, symbols: &Symbols) -> BTreeSet<OpId> {
    let ops = func.regions().iter().flat_map(|&block| func.module.walk(block)).map(|id| func.other(id));
    let names = ops.filter_map(|op| calling(op)?.callee().ok());
    names.filter_map(|name| symbols.lookup(&name)).filter(|&callee| func.other(callee).is(&FUNC)).collect()
}

impl CallGraph {
    /// Puts each function after those that it calls, except along a recursion.
    fn sort(&mut self) {
        let mut missing: BTreeMap<OpId, usize> = BTreeMap::new();
        let mut callers: BTreeMap<OpId, Vec<OpId>> = BTreeMap::new();
        for (&func, callees) in &self.callees {
            missing.insert(func, callees.len());
            callees.iter().for_each(|&callee| callers.entry(callee).or_default().push(func));
        }
        let mut ready: VecDeque<OpId> =
            missing.iter().filter(|(_, count)| **count == 0).map(|(&func, _)| func).collect();
        while let Some(func) = ready.pop_front() {
            self.order.push(func);
            for caller in callers.get(&func).into_iter().flatten() {
                if let Some(count) = missing.get_mut(caller) {
                    *count -= 1;
                    ready.extend((*count == 0).then_some(*caller));
                }
            }
        }
        let sorted: BTreeSet<OpId> = self.order.iter().copied().collect();
        self.cyclic = self.callees.keys().filter(|func| !sorted.contains(func)).copied().collect();
    }

    /// Each function after those that it calls. Those that lead to a cycle are left out.
    #[must_use]
    pub fn callees_first(&self) -> &[OpId] {
        &self.order
    }

    /// A function and all that it calls, directly or through others.
    #[must_use]
    pub fn reached(&self, func: OpId) -> BTreeSet<OpId> {
        let (mut reached, mut next) = (BTreeSet::from([func]), vec![func]);
        while let Some(func) = next.pop() {
            let callees = self.callees.get(&func).into_iter().flatten();
            next.extend(callees.filter(|&&callee| reached.insert(callee)));
        }
        reached
    }

    /// The names on the shortest way by calls from `caller` through `callee` back to `caller`; `None` if there is no
    /// such way.
    #[must_use]
    pub fn cycle(&self, caller: OpId, callee: OpId) -> Option<Vec<Rc<str>>> {
        if !self.cyclic.contains(&caller) || !self.cyclic.contains(&callee) {
            return None;
        }
        let (mut from, mut next) = (BTreeMap::from([(callee, caller)]), VecDeque::from([callee]));
        while let Some(func) = next.pop_front() {
            if func == caller {
                return Some(self.path(caller, &from));
            }
            for &callee in self.callees.get(&func).into_iter().flatten() {
                if let std::collections::btree_map::Entry::Vacant(entry) = from.entry(callee) {
                    entry.insert(func);
                    next.push_back(callee);
                }
            }
        }
        None
    }

    /// The names on a path from a function back to itself; `from` maps each function to its predecessor.
    fn path(&self, caller: OpId, from: &BTreeMap<OpId, OpId>) -> Vec<Rc<str>> {
        let mut path = vec![caller];
        let mut at = caller;
        while let Some(&before) = from.get(&at) {
            path.push(before);
            at = before;
            if at == caller {
                break;
            }
        }
        path.iter().rev().filter_map(|func| self.names.get(func).cloned()).collect()
    }
}
