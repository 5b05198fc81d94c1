//! The tensors of a function that have separate storage, with the time in which their bytes must not change.

use super::late::{pipeline, sources};
use std::collections::HashMap;
use std::rc::Rc;
use visa_algebra::Axes;
use visa_engine::words::RegionName;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpId, OpRef, ValueDef, ValueId};
use visa_ir::open::is_open;
use visa_ir::span::Span;
use visa_mapping::facts::address::{further, maker};
use visa_mapping::facts::placed::{Placement, placements, written_place};
use visa_mapping::ops::control;
use visa_mapping::ops::control::{Carried, For};
use visa_mapping::ops::func::{Func, addresses};
use visa_mapping::{Dim, Tensor, view};
use visa_stream::ops::contract::CONTRACT_DECL;

/// Where an address is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// In the function's list, at this place.
    Argument(usize),
    /// At the operation that makes the tensor.
    Op(OpId),
    /// There, at this place of its list of addresses of later iterations.
    Then(OpId, usize),
}

/// Bytes before a tensor and after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Bytes before its first one.
    pub before: u64,
    /// Bytes after its last one.
    pub after: u64,
}

/// A tensor with separate storage: no view, and no result of a change in place.
#[derive(Clone, Debug)]
pub struct PlacedTensor {
    /// The tensor.
    pub value: ValueId,
    /// Its type.
    pub tensor: Rc<Tensor>,
    /// Its name, for messages.
    pub name: String,
    /// Its bytes: of a chip, a slice, a PE, or a row of the tensor register file.
    pub bytes: u64,
    /// The first and the last operation between which its bytes must not change.
    pub live: (usize, usize),
    /// Extent of reads beyond it.
    pub reach: Reach,
    /// The address, if it is written.
    pub address: Option<u64>,
    /// The part of the tensor register file, if it is written.
    pub half: Option<RegionName>,
    /// Where its address is written, if that is left open.
    pub open: Option<Site>,
    /// Further sites of addresses that are left open: of the tensors that take its place in a loop.
    pub also: Vec<Site>,
    /// Where the tensor is made.
    pub span: Span,
    /// True if the main stream of a contraction is fetched from it.
    pub is_contracted: bool,
}

/// The tensors of a function, in the order of definition: of one that is at several rotating addresses, one for each.
/// Those too large to count are left out: the verifier refuses them.
///
/// # Errors
/// If an address is no number.
pub fn tensors(func: OpRef<'_>, axes: &Axes) -> Result<Vec<PlacedTensor>, Diagnostic> {
    let written = addresses(Func::of(func)?)?;
    let all = placements(func, axes)?;
    let since: HashMap<ValueId, usize> = all.iter().map(|placed| (placed.value, placed.from)).collect();
    let mut tensors = Tensors { func, axes, found: Vec::new(), becomes: HashMap::new(), since };
    for (index, placement) in all.into_iter().enumerate() {
        let known = placement.before.as_ref().and_then(|before| tensors.becomes.get(before)).cloned();
        // Changed in place, it is the same buffer, which is needed for longer.
        match known {
            Some(known) => tensors.change(&placement, known)?,
            None => tensors.add(&placement, index, written.as_deref())?,
        }
    }
    for value in contracted(func) {
        for at in tensors.becomes.get(&value).into_iter().flatten() {
            if let Some(placed) = &mut tensors.found[*at] {
                placed.is_contracted = true;
            }
        }
    }
    Ok(tensors.found.into_iter().flatten().collect())
}

/// The tensors that the main streams of contractions are fetched from, and the tensors that these are views of.
fn contracted(func: OpRef<'_>) -> Vec<ValueId> {
    let below = func.regions().iter().flat_map(|&region| func.module.walk(region));
    let contractions = below.map(|id| func.other(id)).filter(|op| op.is(&CONTRACT_DECL));
    let begins = contractions.filter_map(|op| pipeline(op).first().copied());
    begins.flat_map(|begin| sources(func.other(begin))).collect()
}

/// The tensors that are known so far.
struct Tensors<'a> {
    func: OpRef<'a>,
    axes: &'a Axes,
    /// `None` where the tensor takes the place of another one.
    found: Vec<Option<PlacedTensor>>,
    /// The tensors of this list that each value is, in the order of rotation.
    becomes: HashMap<ValueId, Vec<usize>>,
    /// From where on each value is there.
    since: HashMap<ValueId, usize>,
}

impl Tensors<'_> {
    /// Adds a tensor with separate storage at one address, or at several rotating addresses. `index` counts the
    /// placements of the function, the arguments before others.
    fn add(
        &mut self,
        placement: &Placement,
        index: usize,
        written: Option<&[Option<i64>]>,
    ) -> Result<(), Diagnostic> {
        let (func, value) = (self.func, placement.value);
        let sites: Vec<(Site, bool, Option<i64>)> = match func.module.def(value) {
            ValueDef::Result(op, _) if view::kind(func.other(op)).is_some() => return Ok(()),
            ValueDef::Result(op, _) => {
                let of = func.other(op);
                let first = (Site::Op(op), is_open(of, "at"), written_place(of)?.0);
                let further = further(of).into_iter().enumerate();
                let further = further.map(|(at, address)| (Site::Then(op, at), address.is_none(), address));
                std::iter::once(first).chain(further).collect()
            }
            ValueDef::Argument(block, _) if func.regions().contains(&block) => {
                let open = written.is_none_or(|list| list.get(index).is_some_and(Option::is_none));
                let address = placement.address.as_ref().and_then(|address| address.addresses().first());
                vec![(Site::Argument(index), open, address.copied())]
            }
            // A value that a loop carries is where it was before.
            ValueDef::Argument(..) => return Ok(()),
        };
        let Some(tensor) = func.ctx.type_value::<Tensor>(func.module.ty(value)) else { return Ok(()) };
        let Some(bytes) = tensor.dim_bytes(Dim::Element, self.axes) else { return Ok(()) };
        let name =
            func.module.value_name(value).map_or_else(|| "a tensor".to_owned(), |name| format!("`%{name}`"));
        let first = self.found.len();
        self.becomes.insert(value, (first..first + sites.len()).collect());
        self.found.extend(sites.into_iter().map(|(site, open, address)| {
            Some(PlacedTensor {
                value,
                tensor: Rc::clone(&tensor),
                name: name.clone(),
                bytes,
                live: (placement.from, placement.until),
                reach: Reach::default(),
                address: address.and_then(|address| u64::try_from(address).ok()),
                half: placement.half,
                open: open.then_some(site),
                also: Vec::new(),
                span: func.module.value_span(value),
                is_contracted: false,
            })
        }));
        Ok(())
    }

    /// A value that is where another one was.
    fn change(&mut self, placement: &Placement, mut known: Vec<usize>) -> Result<(), Diagnostic> {
        if let Some(through) = self.through(placement.value) {
            known = self.join(through, known)?;
        }
        for &at in &known {
            if let Some(placed) = &mut self.found[at] {
                placed.live.1 = placed.live.1.max(placement.until);
            }
        }
        self.becomes.insert(placement.value, known);
        Ok(())
    }

    /// The value that goes through a loop or a branch and becomes a result of it; `None` for another value.
    fn through(&self, value: ValueId) -> Option<(OpId, Carried)> {
        let ValueDef::Result(op, _) = self.func.module.def(value) else { return None };
        let all = control::carried(self.func.other(op));
        all.into_iter().find(|carried| carried.result == Some(value)).map(|carried| (op, carried))
    }

    /// Puts the value that a body yields where the loop's operand is, and returns where the loop's result is then.
    fn join(
        &mut self,
        (op, through): (OpId, Carried),
        yielded: Vec<usize>,
    ) -> Result<Vec<usize>, Diagnostic> {
        let Some(initial) = self.becomes.get(&through.initial).cloned() else { return Ok(yielded) };
        let around = self.func.other(op);
        let turning = For::cast(around).filter(|_| {
            let made = through.yielded.and_then(|value| maker(around, value));
            yielded.len() > 1
                && made.and_then(|made| made.ancestors().find_map(For::cast)).is_some_and(|own| own.id == op)
        });
        let (Some(turning), Some(&first), Some(&last)) = (turning, initial.first(), yielded.last()) else {
            for (&into, &at) in initial.iter().zip(&yielded).filter(|(into, at)| into != at) {
                self.merge(into, at);
            }
            return Ok(initial);
        };
        // Each of the places is needed in some iteration, so all are in all of them. The first iteration reads the
        // last.
        let since = |value: Option<ValueId>| value.and_then(|value| self.since.get(&value)).copied();
        let (from, until) = (since(through.argument), since(through.result));
        for &at in &yielded {
            if let Some(placed) = &mut self.found[at] {
                placed.live.0 = from.map_or(placed.live.0, |from| placed.live.0.min(from));
                placed.live.1 = until.map_or(placed.live.1, |until| placed.live.1.max(until));
            }
        }
        self.merge(first, last);
        let end = (control::times(turning, self.axes)?.saturating_sub(1) % yielded.len() as u64) as usize;
        Ok(vec![if yielded[end] == last { first } else { yielded[end] }])
    }

    /// Makes two tensors one, with the place of the first: that is needed for as long as both, and written wherever
    /// one of theirs is.
    fn merge(&mut self, into: usize, at: usize) {
        let Some(merged) = self.found[at].take() else { return };
        self.becomes.values_mut().flatten().filter(|own| **own == at).for_each(|own| *own = into);
        let Some(placed) = &mut self.found[into] else { return };
        placed.live = (placed.live.0.min(merged.live.0), placed.live.1.max(merged.live.1));
        placed.also.extend(merged.open);
        placed.also.extend(merged.also);
        if let (None, Some(address)) = (placed.address, merged.address) {
            placed.address = Some(address);
            placed.also.extend(placed.open.take());
        }
    }
}
