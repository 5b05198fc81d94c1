//! Parts of flits that memory keeps without gaps: those that a filter keeps, or a number of each flit. The published
//! versions declare both, and panic where they evaluate them.

use crate::body::Body;
use crate::refusals::{Export, refuse, refuse_with_fix};
use crate::vector_operand::guard_tokens;
use proc_macro2::Literal;
use quote::quote;
use visa_ir::module::{OpRef, ValueDef, ValueId};
use visa_mapping::Dim;
use visa_numerics::Slot;
use visa_stream::ops::commit_packed::{self, CommitPacked};
use visa_stream::ops::generate::Generate;
use visa_stream::ops::vector_filter::VectorFilter;

/// The kind of notes about methods that the published versions do not evaluate.
const DECLARED: &str = "method that the published crate declares and does not evaluate";

impl Body<'_, '_> {
    /// `stream.vector_filter`, which leaves the vector engine.
    pub(crate) fn vector_filter(&mut self, op: OpRef<'_>) -> Export<()> {
        let filter = VectorFilter::of(op)?;
        let kept = filter.keep()?;
        let &[(guard, Slot::Apply)] = &*kept.0 else {
            return Err(refuse(op, "it keeps elements of several guards, and the language's filter has one"));
        };
        let (guard, result) = (guard_tokens(guard), filter.result_stream()?.id);
        let time = self.tensor(op, result)?.dim(Dim::Time);
        let time = self.map(op, &time)?;
        let note = self.lacks(DECLARED, "`vector_filter` is declared, and not evaluated");
        self.chained(op, op.operands()[0], result, quote!(.vector_filter::<#time>(#guard).vector_final()))?;
        if let Some(stream) = self.streams.get_mut(&result) {
            stream.comments.push(note);
        }
        Ok(())
    }

    /// `stream.commit_packed`: of the elements that pass a filter, or with a number for all flits.
    pub(crate) fn commit_packed(&mut self, op: OpRef<'_>) -> Export<()> {
        let packed = CommitPacked::of(op)?;
        let mut lacking = self.address(packed.at_unless_auto()?);
        let packet = self.tensor(op, op.operands()[0])?.dim(Dim::Packet);
        let packet = self.map(op, &packet)?;
        let mut stream = self.stream(op, op.operands()[0])?.then(quote!(.commit_trim::<#packet>()));
        if let Some(&counts) = op.operands().get(1) {
            let count = number(op, counts).ok_or_else(|| {
                let message =
                    "each flit has its number, from data memory, and the language gives one number to all";
                refuse_with_fix(op, message, "write one number with `stream.generate`")
            })?;
            let count = Literal::u64_unsuffixed(count);
            lacking.push(self.lacks(DECLARED, "`commit_valid_count_pack` is declared, and not evaluated"));
            stream = stream.then(quote!(.commit_valid_count_pack(#count)));
        }
        self.ended(op, stream, packed.result_tensor()?.id, &lacking, quote!(.commit()))
    }

    /// Returns true if a tensor only gives the number for packed commits, which the language gives as an argument.
    pub(crate) fn only_counts(&self, op: OpRef<'_>, tensor: ValueId) -> bool {
        let uses = op.module.uses(tensor);
        !uses.is_empty() && uses.iter().all(|&own| op.other(own).is(&commit_packed::DECL))
    }
}

/// The number that a tensor holds everywhere; `None` if it is another tensor.
fn number(op: OpRef<'_>, value: ValueId) -> Option<u64> {
    let ValueDef::Result(maker, _) = op.module.def(value) else { return None };
    let number = Generate::cast(op.other(maker))?.value().ok()?.0;
    (number >= 0.0 && number.fract() == 0.0).then_some(number as u64)
}
