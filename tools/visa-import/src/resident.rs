//! Tensors that stay in data memory between launches, where a `tm.func` takes and gives tensors in HBM.

use crate::clauses::Dims;
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame};
use crate::value::{Memory, View};
use proc_macro2::Span;

impl Evaluator<'_> {
    /// Stores a result of a kernel that stays in data memory: the name of the tensor in HBM.
    pub(crate) fn stored_last(&mut self, frame: &Frame, span: Span, view: &View) -> Eval<String> {
        let message = "the result is in data memory between launches, but a kernel of visa gives tensors in HBM: it \
                       is stored last, and the cost has this transfer";
        self.state.remarks.push(Error::new(frame.place(span), message));
        let source = self.read(frame, span, view)?;
        let dims = Dims { chip: None, ..self.dims(&view.ty.in_hbm()) };
        let new = self.moved(frame, span, &source, (Memory::Hbm, None), dims)?;
        Ok(self.made(frame, span, None, new))
    }
}
