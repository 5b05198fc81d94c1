//! The tensors of a function that have a place of their own, with the time in which their bytes must not change.

use std::collections::HashMap;
use std::rc::Rc;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpId, OpRef, ValueDef, ValueId};
use visa_ir::open::is_open;
use visa_ir::span::Span;
use visa_mapping::facts::placements;
use visa_mapping::ops::control;
use visa_mapping::ops::func::{Func, addresses};
use visa_mapping::{Axes, Dim, Tensor, view};

/// Where an address is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// In the function's list, at this place.
    Argument(usize),
    /// At the operation that makes the tensor.
    Op(OpId),
}

/// Bytes before a tensor and after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Bytes before its first one.
    pub before: u64,
    /// Bytes after its last one.
    pub after: u64,
}

/// A tensor with a place of its own: no view, and not what another one became when it was changed in place.
#[derive(Clone, Debug)]
pub struct Placed {
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
    /// How far it is read beyond.
    pub reach: Reach,
    /// The address, if it is written.
    pub address: Option<u64>,
    /// The part of the tensor register file, if it is written.
    pub half: Option<Rc<str>>,
    /// Where its address is written, if that is left open.
    pub open: Option<Site>,
    /// Where more addresses are written that are left open: of what takes its place in a loop.
    pub also: Vec<Site>,
    /// Where the tensor is made.
    pub span: Span,
}

/// The tensors of a function, in the order of definition. Those too large to count are left out: the verifier
/// refuses them.
///
/// # Errors
/// If an address is no number.
pub fn tensors(func: OpRef<'_>, axes: &Axes) -> Result<Vec<Placed>, Diagnostic> {
    let written = addresses(Func::of(func)?)?;
    // Nothing where the tensor takes the place of another one.
    let mut found: Vec<Option<Placed>> = Vec::new();
    let mut becomes: HashMap<ValueId, usize> = HashMap::new();
    for (index, placement) in placements(func)?.into_iter().enumerate() {
        let value = placement.value;
        // Changed in place, it is the same buffer, which is needed for longer.
        if let Some(&at) = placement.before.as_ref().and_then(|before| becomes.get(before)) {
            let at = match initial(func, value).and_then(|initial| becomes.get(&initial).copied()) {
                // What the body yields is where the loop's operand is.
                Some(initial) if initial != at => {
                    becomes.values_mut().filter(|own| **own == at).for_each(|own| *own = initial);
                    merge(&mut found, initial, at);
                    initial
                }
                Some(_) | None => at,
            };
            if let Some(placed) = &mut found[at] {
                placed.live.1 = placed.live.1.max(placement.until);
            }
            becomes.insert(value, at);
            continue;
        }
        let site = match func.module.def(value) {
            ValueDef::Result(op, _) => Site::Op(op),
            ValueDef::Argument(block, _) if func.regions().contains(&block) => Site::Argument(index),
            // What a loop carries is where it was before.
            ValueDef::Argument(..) => continue,
        };
        let open = match site {
            Site::Op(op) if view::kind(func.other(op)).is_some() => continue,
            Site::Op(op) => is_open(func.other(op), "at"),
            Site::Argument(index) => {
                written.as_ref().is_none_or(|list| list.get(index).is_some_and(Option::is_none))
            }
        };
        let Some(tensor) = func.ctx.type_value::<Tensor>(func.module.ty(value)) else { continue };
        let Some(bytes) = tensor.dim_bytes(Dim::Element, axes) else { continue };
        becomes.insert(value, found.len());
        found.push(Some(Placed {
            value,
            tensor,
            name: func
                .module
                .value_name(value)
                .map_or_else(|| "a tensor".to_owned(), |name| format!("`%{name}`")),
            bytes,
            live: (placement.from, placement.until),
            reach: Reach::default(),
            address: placement.address.and_then(|address| u64::try_from(address).ok()),
            half: placement.half,
            open: open.then_some(site),
            also: Vec::new(),
            span: func.module.value_span(value),
        }));
    }
    Ok(found.into_iter().flatten().collect())
}

/// What a result of a loop or a branch was before it; nothing for another value.
fn initial(func: OpRef<'_>, value: ValueId) -> Option<ValueId> {
    let ValueDef::Result(op, index) = func.module.def(value) else { return None };
    control::initial(func.other(op)).get(index as usize).copied()
}

/// Makes two tensors one, with the place of the first: that is needed for as long as both, and written wherever one of
/// theirs is.
fn merge(found: &mut [Option<Placed>], into: usize, at: usize) {
    let Some(merged) = found[at].take() else { return };
    let Some(placed) = &mut found[into] else { return };
    placed.live = (placed.live.0.min(merged.live.0), placed.live.1.max(merged.live.1));
    placed.also.extend(merged.open);
    placed.also.extend(merged.also);
    if let (None, Some(address)) = (placed.address, merged.address) {
        placed.address = Some(address);
        placed.also.extend(placed.open.take());
    }
}
