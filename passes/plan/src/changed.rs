//! Arguments that a kernel writes over, and the results in their memory.

use visa_algebra::Axes;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::facts::placed::placements;
use visa_mapping::ops::func::{Func, inout, signature};

/// An argument that a kernel writes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The number of the argument.
    pub argument: usize,
    /// The number of the result in its memory.
    pub result: usize,
    /// True if the argument is `inout`: the caller finds the result there.
    pub is_inout: bool,
}

/// The arguments that a kernel writes over.
///
/// # Errors
/// An address or an argument that does not exist.
pub fn changes(func: OpRef<'_>, axes: &Axes) -> Result<Vec<Change>, Diagnostic> {
    let (arguments, results) = signature(func);
    let own = inout(Func::of(func)?)?;
    let first = results.len().saturating_sub(own.len());
    let mut all: Vec<Change> = own
        .iter()
        .enumerate()
        .map(|(at, &argument)| Change { argument, result: first + at, is_inout: true })
        .collect();
    let origins = Origins::of(func, axes)?;
    for (result, &value) in results.iter().enumerate().take(first) {
        let argument = arguments.iter().position(|argument| *argument == origins.first(value));
        let argument = argument.filter(|&at| arguments[at] != value && !own.contains(&at));
        all.extend(argument.map(|argument| Change { argument, result, is_inout: false }));
    }
    Ok(all)
}

/// The tensors that a function changes in place, with those that they were before.
pub struct Origins(Vec<(ValueId, ValueId)>);

impl Origins {
    /// The tensors of a function.
    ///
    /// # Errors
    /// An address that is no number.
    pub fn of(func: OpRef<'_>, axes: &Axes) -> Result<Self, Diagnostic> {
        let all = placements(func, axes)?.into_iter();
        Ok(Self(all.filter_map(|placed| Some((placed.value, placed.before?))).collect()))
    }

    /// The tensor whose memory a tensor is in: an argument, or the result of an operation that has an address.
    #[must_use]
    pub fn first(&self, mut value: ValueId) -> ValueId {
        while let Some(&(_, before)) = self.0.iter().find(|(own, _)| *own == value) {
            value = before;
        }
        value
    }
}
