//! The stages of the vector engine.

use crate::body::Body;
use crate::literals::constant;
use crate::refusals::{Export, refuse, refuse_if, refuse_with_fix};
use crate::vector_operand::Given;
use crate::words::{Operation, clip, comparison, fp, fxp, logic, reduce, slice_reduce};
use proc_macro2::Literal;
use quote::{format_ident, quote};
use visa_algebra::Expr;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::Dim;
use visa_numerics::{ArgMode, DType};
use visa_stream::branch::IdSource;
use visa_stream::ops::vector::{VectorFinal, VectorInit};
use visa_stream::ops::vector_alu::{
    VectorClip, VectorFp, VectorFpDiv, VectorFpToFxp, VectorFxp, VectorFxpToFp, VectorLogic,
};
use visa_stream::ops::vector_branch::VectorBranch;
use visa_stream::ops::vector_inter::VectorInterSliceReduce;
use visa_stream::ops::vector_intra_slice_reduce::VectorIntraSliceReduce;
use visa_stream::ops::vector_lanes::{VectorConcat, VectorPad, VectorSplit, VectorTrim};
use visa_stream::ops::vector_pair::{VectorClipZip, VectorFpZip, VectorFxpZip, VectorLogicZip, VectorUnzip};
use visa_stream::ops::vector_reinterpret::VectorReinterpret;
use visa_stream::ops::vector_stash::VectorStash;

/// The reason for refusing a write into the register file.
const WRITE_BACK: &str =
    "the language has no write into the register file that an operation reads (`write_back`)";

impl Body<'_, '_> {
    /// The stream that an operation takes.
    fn source(&self, op: OpRef<'_>) -> Export<ValueId> {
        op.operands().first().copied().ok_or_else(|| refuse(op, "it has no stream"))
    }

    /// The format of the stream that an operation takes.
    fn dtype_of_source(&self, op: OpRef<'_>) -> Export<DType> {
        Ok(self.tensor(op, self.source(op)?)?.dtype)
    }

    /// `stream.vector_init`.
    pub(crate) fn vector_init(&mut self, op: OpRef<'_>) -> Export<()> {
        let result = VectorInit::of(op)?.result_stream()?.id;
        self.chained(op, self.source(op)?, result, quote!(.vector_init()))
    }

    /// `stream.vector_final`.
    pub(crate) fn vector_final(&mut self, op: OpRef<'_>) -> Export<()> {
        let result = VectorFinal::of(op)?.result_stream()?.id;
        self.chained(op, self.source(op)?, result, quote!(.vector_final()))
    }

    /// `stream.vector_branch`.
    pub(crate) fn vector_branch(&mut self, op: OpRef<'_>) -> Export<()> {
        let branch = VectorBranch::of(op)?;
        let result = branch.result_stream()?.id;
        let mode = match branch.mode()? {
            IdSource::Unconditional => quote!(TagMode::Zero),
            IdSource::Comparison => {
                let dtype = self.dtype_of_source(op)?;
                let all = branch.compare()?.ok_or_else(|| refuse(op, "it has no comparisons"))?;
                let mut items = Vec::new();
                for (kind, boundary) in &all.0 {
                    let name = format_ident!("{}", comparison(*kind));
                    items.push(match boundary {
                        Some(boundary) => {
                            let boundary = constant(op, *boundary, dtype)?;
                            quote!(Cmp::#name(#boundary))
                        }
                        None => quote!(Cmp::#name),
                    });
                }
                items.resize(4, quote!(Cmp::False));
                quote!(TagMode::Comparison([#(#items),*]))
            }
            IdSource::AxisToggle => {
                let axis = branch.axis()?.ok_or_else(|| refuse(op, "it names no axis"))?;
                let axis = self.axis(op, &axis)?;
                quote!(TagMode::AxisToggle { axis: #axis::NAME })
            }
            IdSource::ValidCount => {
                return Err(refuse(op, "the language's published versions withhold ids from valid counts"));
            }
            IdSource::Vrf => {
                return Err(refuse(
                    op,
                    "the language's published versions withhold ids from the register file",
                ));
            }
        };
        self.chained(op, self.source(op)?, result, quote!(.vector_intra_slice_tag(#mode)))
    }

    /// `stream.vector_stash`.
    pub(crate) fn vector_stash(&mut self, op: OpRef<'_>) -> Export<()> {
        let result = VectorStash::of(op)?.result_stream()?.id;
        self.chained(op, self.source(op)?, result, quote!(.vector_stash()))
    }

    /// `stream.vector_reinterpret`.
    pub(crate) fn vector_reinterpret(&mut self, op: OpRef<'_>) -> Export<()> {
        let reinterpret = VectorReinterpret::of(op)?;
        let format = self.format(op, *reinterpret.dtype()?)?;
        let result = reinterpret.result_stream()?.id;
        self.chained(op, self.source(op)?, result, quote!(.vector_reinterpret::<#format>()))
    }

    /// `stream.vector_trim`.
    pub(crate) fn vector_trim(&mut self, op: OpRef<'_>) -> Export<()> {
        let result = VectorTrim::of(op)?.result_stream()?.id;
        let (_, packet) = self.time_and_packet(op, result)?;
        self.chained(op, self.source(op)?, result, quote!(.vector_narrow_trim::<#packet>()))
    }

    /// `stream.vector_pad`.
    pub(crate) fn vector_pad(&mut self, op: OpRef<'_>) -> Export<()> {
        let result = VectorPad::of(op)?.result_stream()?.id;
        let (_, packet) = self.time_and_packet(op, result)?;
        self.chained(op, self.source(op)?, result, quote!(.vector_widen_pad::<#packet>()))
    }

    /// `stream.vector_split`.
    pub(crate) fn vector_split(&mut self, op: OpRef<'_>) -> Export<()> {
        let result = VectorSplit::of(op)?.result_stream()?.id;
        self.widths(op, result, "vector_narrow_split", 1)
    }

    /// `stream.vector_concat`.
    pub(crate) fn vector_concat(&mut self, op: OpRef<'_>) -> Export<()> {
        let result = VectorConcat::of(op)?.result_stream()?.id;
        self.widths(op, result, "vector_widen_concat", 0)
    }

    /// A change of the width. The language's time leaves out the axis of groups, which has `inside` terms after it.
    fn widths(&mut self, op: OpRef<'_>, result: ValueId, method: &str, inside: usize) -> Export<()> {
        let (source, own) = (self.source(op)?, self.tensor(op, result)?);
        let groups = self.streams.get(&source).and_then(|stream| stream.groups.clone());
        let mut time = own.dim(Dim::Time);
        if let Some(groups) = groups {
            let mut terms: Vec<Expr> = time.terms().into_iter().cloned().collect();
            let at =
                terms.len().checked_sub(1 + inside).filter(|&at| terms[at] == groups).ok_or_else(|| {
                    refuse(
                        op,
                        format!(
                            "time `{time}` has the groups `{groups}` at another position than the language"
                        ),
                    )
                })?;
            terms.remove(at);
            time = Expr::pair(terms);
        }
        let (time, packet) = (self.map(op, &time)?, self.map(op, &own.dim(Dim::Packet))?);
        let method = format_ident!("{method}");
        self.chained(op, source, result, quote!(.#method::<#time, #packet>()))
    }

    /// `stream.vector_intra_slice_reduce`.
    pub(crate) fn vector_intra_slice_reduce(&mut self, op: OpRef<'_>) -> Export<()> {
        let reduced = VectorIntraSliceReduce::of(op)?;
        let result = reduced.result_stream()?.id;
        let dtype = self.dtype_of_source(op)?;
        let name = slice_reduce(reduced.op()?, dtype).ok_or_else(|| {
            refuse(op, format!("the language has no such reduction of `{dtype}` in a slice"))
        })?;
        let axis = self.axis(op, &*reduced.axis()?)?;
        let (time, packet) = self.time_and_packet(op, result)?;
        let call = quote!(.vector_intra_slice_reduce::<#axis, #time, #packet>(#name));
        self.chained(op, self.source(op)?, result, call)
    }

    /// `stream.vector_inter_slice_reduce`.
    pub(crate) fn vector_inter_slice_reduce(&mut self, op: OpRef<'_>) -> Export<()> {
        let reduced = VectorInterSliceReduce::of(op)?;
        let result = reduced.result_stream()?.id;
        let over = reduced.over()?.map(|over| self.lacks("reduced-axis list", format!("over {over}")));
        let dtype = self.dtype_of_source(op)?;
        let name = reduce(reduced.op()?, dtype).ok_or_else(|| {
            refuse(op, format!("the language has no such reduction of `{dtype}` of slices"))
        })?;
        let own = self.tensor(op, result)?;
        let (slice, time) = (self.map(op, &own.dim(Dim::Slice))?, self.map(op, &own.dim(Dim::Time))?);
        let call = quote!(.vector_inter_slice_reduce::<#slice, #time>(#name));
        self.chained(op, self.source(op)?, result, call)?;
        if let Some(stream) = self.streams.get_mut(&result) {
            stream.comments.extend(over);
        }
        Ok(())
    }

    /// `stream.vector_unzip`.
    pub(crate) fn vector_unzip(&mut self, op: OpRef<'_>) -> Export<()> {
        let unzip = VectorUnzip::of(op)?;
        let (source, result) = (self.source(op)?, unzip.result_stream()?.id);
        let groups = unzip.axis()?;
        let axis = self.axis(op, &groups)?;
        let time = self.tensor(op, source)?.dim(Dim::Time);
        let terms: Vec<Expr> = time.terms().into_iter().cloned().collect();
        let with = |other: Option<Expr>| {
            Expr::pair(
                terms
                    .iter()
                    .filter_map(|term| if *term == *groups { other.clone() } else { Some(term.clone()) }),
            )
        };
        let split = self.map(op, &with(None))?;
        let tiled = with(Some(Expr::Literal(1).pad(2, visa_algebra::PadKind::Top)));
        let tiled = if self.file.spelling.unzip_tiles { Some(self.map(op, &tiled)?) } else { None };
        let tiled = tiled.map(|tiled| quote!(#tiled,));
        self.chained(op, source, result, quote!(.vector_intra_slice_unzip::<#axis, #tiled #split>()))?;
        if let Some(stream) = self.streams.get_mut(&result) {
            stream.groups = Some((*groups).clone());
        }
        Ok(())
    }

    /// `stream.vector_fxp_to_fp`.
    pub(crate) fn vector_fxp_to_fp(&mut self, op: OpRef<'_>) -> Export<()> {
        let convert = VectorFxpToFp::of(op)?;
        let (width, result) = (Literal::i64_unsuffixed(convert.width()?), convert.result_stream()?.id);
        self.chained(op, self.source(op)?, result, quote!(.vector_fxp_to_fp(#width)))
    }

    /// `stream.vector_fp_to_fxp`.
    pub(crate) fn vector_fp_to_fxp(&mut self, op: OpRef<'_>) -> Export<()> {
        let convert = VectorFpToFxp::of(op)?;
        let (width, result) = (Literal::i64_unsuffixed(convert.width()?), convert.result_stream()?.id);
        self.chained(op, self.source(op)?, result, quote!(.vector_fp_to_fxp(#width)))
    }

    /// `stream.vector_logic`.
    pub(crate) fn vector_logic(&mut self, op: OpRef<'_>) -> Export<()> {
        let alu = VectorLogic::of(op)?;
        refuse_if(op, alu.write_back()?, WRITE_BACK)?;
        let name = logic(alu.op()?, self.dtype_of_source(op)?);
        let given = Given::new(op, alu.constant()?, None, alu.when()?);
        self.alu(op, alu.result_stream()?.id, name, alu.mode()?, given)
    }

    /// `stream.vector_fxp`.
    pub(crate) fn vector_fxp(&mut self, op: OpRef<'_>) -> Export<()> {
        let alu = VectorFxp::of(op)?;
        refuse_if(op, alu.write_back()?, WRITE_BACK)?;
        let given = Given::new(op, alu.constant()?, None, alu.when()?);
        self.alu(op, alu.result_stream()?.id, Some(fxp(alu.op()?)), alu.mode()?, given)
    }

    /// `stream.vector_clip`.
    pub(crate) fn vector_clip(&mut self, op: OpRef<'_>) -> Export<()> {
        let alu = VectorClip::of(op)?;
        refuse_if(op, alu.write_back()?, WRITE_BACK)?;
        let name = clip(alu.op()?, self.dtype_of_source(op)?);
        let given = Given::new(op, alu.constant()?, None, alu.when()?);
        self.alu(op, alu.result_stream()?.id, name, alu.mode()?, given)
    }

    /// `stream.vector_fp`.
    pub(crate) fn vector_fp(&mut self, op: OpRef<'_>) -> Export<()> {
        let alu = VectorFp::of(op)?;
        refuse_if(op, alu.write_back()?, WRITE_BACK)?;
        let given = Given::new(op, alu.constant()?, alu.constant1()?, alu.when()?);
        self.alu(op, alu.result_stream()?.id, fp(alu.op()?), alu.mode()?, given)
    }

    /// `stream.vector_fp_div`.
    pub(crate) fn vector_fp_div(&mut self, op: OpRef<'_>) -> Export<()> {
        let alu = VectorFpDiv::of(op)?;
        refuse_if(op, alu.write_back()?, WRITE_BACK)?;
        let given = Given::new(op, alu.constant()?, None, alu.when()?);
        self.alu(op, alu.result_stream()?.id, Some(Operation::division()), alu.mode()?, given)
    }

    /// An operation of an ALU.
    fn alu(
        &mut self,
        op: OpRef<'_>,
        result: ValueId,
        operation: Option<Operation>,
        mode: Option<ArgMode>,
        given: Given,
    ) -> Export<()> {
        let (source, dtype) = (self.source(op)?, self.dtype_of_source(op)?);
        let operation = operation
            .ok_or_else(|| refuse(op, format!("the language has no such operation of `{dtype}`")))?;
        let stream = self.streams.get(&source);
        let is_pair = stream.is_some_and(|stream| stream.groups.is_some());
        let call = self.alu_call(op, &operation, mode, (&given, dtype), is_pair)?;
        self.chained(op, source, result, call)
    }

    /// `stream.vector_logic_zip`.
    pub(crate) fn vector_logic_zip(&mut self, op: OpRef<'_>) -> Export<()> {
        let zip = VectorLogicZip::of(op)?;
        let name = logic(zip.op()?, self.dtype_of_source(op)?);
        self.zip(op, zip.result_stream()?.id, name, zip.mode()?)
    }

    /// `stream.vector_fxp_zip`.
    pub(crate) fn vector_fxp_zip(&mut self, op: OpRef<'_>) -> Export<()> {
        let zip = VectorFxpZip::of(op)?;
        self.zip(op, zip.result_stream()?.id, Some(fxp(zip.op()?)), zip.mode()?)
    }

    /// `stream.vector_fp_zip`.
    pub(crate) fn vector_fp_zip(&mut self, op: OpRef<'_>) -> Export<()> {
        let zip = VectorFpZip::of(op)?;
        self.zip(op, zip.result_stream()?.id, fp(zip.op()?), zip.mode()?)
    }

    /// `stream.vector_clip_zip`.
    pub(crate) fn vector_clip_zip(&mut self, op: OpRef<'_>) -> Export<()> {
        let zip = VectorClipZip::of(op)?;
        let name = clip(zip.op()?, self.dtype_of_source(op)?);
        self.zip(op, zip.result_stream()?.id, name, zip.mode()?)
    }

    /// An operation that makes one group of two.
    fn zip(
        &mut self,
        op: OpRef<'_>,
        result: ValueId,
        operation: Option<Operation>,
        mode: Option<ArgMode>,
    ) -> Export<()> {
        let (source, dtype) = (self.source(op)?, self.dtype_of_source(op)?);
        let operation = operation.filter(|operation| operation.arguments == 2).ok_or_else(|| {
            refuse(op, format!("the language has no such operation of `{dtype}` for two groups"))
        })?;
        let (stage, name) = (operation.stage.trim_end_matches("_binary"), operation.name);
        let call = match mode {
            None => {
                let method = format_ident!("vector_{stage}_zip");
                quote!(.#method(#name))
            }
            Some(mode) => {
                let (method, mode) =
                    (format_ident!("vector_{stage}_zip_with_mode"), format_ident!("{}", mode.word()));
                quote!(.#method(#name, BinaryArgMode::#mode))
            }
        };
        let stream = self.streams.get_mut(&source);
        if let Some(stream) = stream {
            stream.groups = None;
        }
        self.chained(op, source, result, call)
    }

    /// An elementwise expression, which a pass puts onto the engine.
    pub(crate) fn vector_expr(&mut self, op: OpRef<'_>) -> Export<()> {
        let fix = "give the operations of the engine: `visa-opt --plan-vector`";
        Err(refuse_with_fix(
            op,
            "it is an expression, and the language has the operations of the engine",
            fix,
        ))
    }
}
