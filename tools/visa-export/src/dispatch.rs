//! The operations of memory level, each with its export or the reason for its refusal.

use crate::body::Body;
use crate::refusals::{Export, refuse, refuse_with_fix};
use visa_ir::decl::OpDecl;
use visa_ir::module::{BlockId, OpRef};
use visa_ir::open::{self, Opening};
use visa_mapping::ops as tm;
use visa_stream::ops as stream;

/// The treatment of an operation.
pub(crate) enum Row {
    /// Written by this method.
    Exported(fn(&mut Body<'_, '_>, OpRef<'_>) -> Export<()>),
    /// Written with the operation around it, or with those that use it.
    Written,
    /// An operation on values, which are in no memory.
    Value,
    /// Refused for this reason.
    Refused(&'static Refusal),
}

/// A reason, and the change that makes the kernel exportable.
pub(crate) struct Refusal {
    reason: &'static str,
    fix: Option<&'static str>,
}

const CALL: &Refusal = &Refusal {
    reason: "a kernel of the language calls no other kernel",
    fix: Some("put the bodies in place of the calls: `visa-opt --inline`"),
};
const BEGIN_LAUNCH: &Refusal = &Refusal {
    reason: "it is a launch whose kernel was put in its place",
    fix: Some("export the host program with `tm.launch`"),
};
const HOST: &Refusal = &Refusal {
    reason: "a kernel of the language has no tensors in host memory",
    fix: Some("give the kernel tensors in HBM, as `!tm.hbm`"),
};
const GATHER: &Refusal = &Refusal {
    reason: "the language gathers rows into data memory alone",
    fix: Some("use `tm.gather_to_dm`, and move the rows from there"),
};
const WINDOWS: &Refusal =
    &Refusal { reason: "it slides over an axis, and the language's mappings do not", fix: None };
const TRANSPOSED: &Refusal = &Refusal {
    reason: "the language has no view in another order of elements",
    fix: Some("let the transfer or the fetch read in that order"),
};
const PACKED: &Refusal = &Refusal {
    reason: "the language's published versions declare filters and packed commits and do not run them",
    fix: None,
};
const LOG: &Refusal =
    &Refusal { reason: "the language's published versions do not keep execution ids", fix: None };
const GENERATE: &Refusal = &Refusal {
    reason: "the language fills tensors by `memset`, which is `stream.fill`",
    fix: Some("use `stream.fill`"),
};
const FILL_PADDING: &Refusal = &Refusal {
    reason: "the language writes no padding",
    fix: Some("mask the padding where it is fetched: `# n {0}` in the time or packet"),
};

/// Every operation of the dialects `tm` and `stream`.
pub(crate) static ROWS: &[(&OpDecl, Row)] = &[
    (&tm::cast::DECL, Row::Value),
    (&tm::cast::SUBTRACT_ZERO, Row::Value),
    (&tm::constant::CONSTANT, Row::Value),
    (&tm::constant::INDEX, Row::Value),
    (&tm::constant::UNDEFINED, Row::Value),
    (&tm::contract::DECL, Row::Value),
    (&tm::gather::GATHER, Row::Value),
    (&tm::gather::SCATTER_INTO, Row::Value),
    (&tm::gather::LOOKUP, Row::Value),
    (&tm::map::DECL, Row::Value),
    (&tm::reduce::DECL, Row::Value),
    (&tm::rename::RENAME, Row::Value),
    (&tm::rename::SPLIT, Row::Value),
    (&tm::rename::MERGE, Row::Value),
    (&tm::rename::REARRANGE, Row::Value),
    (&tm::rename::BROADCAST, Row::Value),
    (&tm::restrict::RESTRICT, Row::Value),
    (&tm::restrict::EXTRACT, Row::Value),
    (&tm::restrict::INSERT, Row::Value),
    (&tm::restrict::EXTEND, Row::Value),
    (&tm::restrict::CONCAT, Row::Value),
    (&tm::sequence::PACK, Row::Value),
    (&tm::sequence::SCAN, Row::Value),
    (&tm::skew::SKEW, Row::Value),
    (&tm::skew::EXCHANGE, Row::Value),
    (&tm::where_::DECL, Row::Value),
    (&tm::where_::COMPARE, Row::Value),
    (&tm::func::AXES, Row::Written),
    (&tm::func::ALIAS, Row::Written),
    (&tm::func::FUNC, Row::Written),
    (&tm::func::RETURN, Row::Written),
    (&tm::control::YIELD, Row::Written),
    (&tm::table::TABLE, Row::Written),
    (&tm::control::FOR, Row::Exported(|body, op| body.for_loop(op))),
    (&tm::control::IF, Row::Exported(|body, op| body.branch(op))),
    (&tm::number::AFFINE, Row::Exported(|body, op| body.sum(op))),
    (&tm::number::SELECT, Row::Exported(|body, op| body.select(op))),
    (&tm::empty::EMPTY, Row::Exported(|body, op| body.empty(op))),
    (&tm::to_tile::TO_TILE, Row::Exported(|body, op| body.to_tile(op))),
    (&tm::transfer::TO_HBM, Row::Exported(|body, op| body.to_hbm(op))),
    (&tm::transfer::TO_DM, Row::Exported(|body, op| body.to_dm(op))),
    (&tm::transfer::TO_SPM, Row::Exported(|body, op| body.to_spm(op))),
    (&tm::chip_shuffle::CHIP_SHUFFLE, Row::Exported(|body, op| body.chip_shuffle(op))),
    (&tm::indexed::GATHER_TO_DM, Row::Exported(|body, op| body.gather_to_dm(op))),
    (&tm::indexed::SCATTER, Row::Exported(|body, op| body.scatter(op))),
    (&tm::call::LAUNCH, Row::Exported(|body, op| body.launch(op))),
    (&tm::view::TILE, Row::Exported(|body, op| body.tile(op))),
    (&tm::view::PAD, Row::Exported(|body, op| body.pad(op))),
    (&tm::view::UNPAD, Row::Exported(|body, op| body.unpad(op))),
    (&tm::view::RESHAPE, Row::Exported(|body, op| body.reshape(op))),
    (&tm::view::RELABEL, Row::Exported(|body, op| body.relabel(op))),
    (&tm::call::CALL, Row::Refused(CALL)),
    (&tm::call::BEGIN_LAUNCH, Row::Refused(BEGIN_LAUNCH)),
    (&tm::transfer::TO_HOST, Row::Refused(HOST)),
    (&tm::indexed::GATHER_TO_HBM, Row::Refused(GATHER)),
    (&tm::indexed::GATHER_TO_SPM, Row::Refused(GATHER)),
    (&tm::view::SLICE, Row::Exported(|body, op| body.slice(op))),
    (&tm::view::WINDOW, Row::Refused(WINDOWS)),
    (&tm::view::TRANSPOSE, Row::Refused(TRANSPOSED)),
    (&stream::begin::DECL, Row::Exported(|body, op| body.begin(op))),
    (&stream::begin_interleaved::DECL, Row::Exported(|body, op| body.begin_interleaved(op))),
    (&stream::cast::DECL, Row::Exported(|body, op| body.cast(op))),
    (&stream::collect::DECL, Row::Exported(|body, op| body.collect(op))),
    (&stream::commit::DECL, Row::Exported(|body, op| body.commit(op))),
    (&stream::commit_tile::DECL, Row::Exported(|body, op| body.commit_tile(op))),
    (&stream::commit_view::DECL, Row::Exported(|body, op| body.commit_view(op))),
    (&stream::contract::ALIGN_DECL, Row::Exported(|body, op| body.align(op))),
    (&stream::contract::CONTRACT_DECL, Row::Exported(|body, op| body.contract(op))),
    (&stream::contract::ACCUMULATE_DECL, Row::Exported(|body, op| body.accumulate(op))),
    (&stream::fetch::DECL, Row::Exported(|body, op| body.fetch(op))),
    (&stream::fill::DECL, Row::Exported(|body, op| body.fill(op))),
    (&stream::fill_view::DECL, Row::Exported(|body, op| body.fill_view(op))),
    (&stream::store::TO_TRF, Row::Exported(|body, op| body.to_trf(op))),
    (&stream::store::TO_VRF, Row::Exported(|body, op| body.to_vrf(op))),
    (&stream::switch::DECL, Row::Exported(|body, op| body.switch(op))),
    (&stream::transpose::DECL, Row::Exported(|body, op| body.transpose(op))),
    (&stream::vector::INIT_DECL, Row::Exported(|body, op| body.vector_init(op))),
    (&stream::vector::FINAL_DECL, Row::Exported(|body, op| body.vector_final(op))),
    (&stream::vector_alu::LOGIC_DECL, Row::Exported(|body, op| body.vector_logic(op))),
    (&stream::vector_alu::FXP_DECL, Row::Exported(|body, op| body.vector_fxp(op))),
    (&stream::vector_alu::FP_DECL, Row::Exported(|body, op| body.vector_fp(op))),
    (&stream::vector_alu::FP_DIV_DECL, Row::Exported(|body, op| body.vector_fp_div(op))),
    (&stream::vector_alu::CLIP_DECL, Row::Exported(|body, op| body.vector_clip(op))),
    (&stream::vector_alu::FXP_TO_FP_DECL, Row::Exported(|body, op| body.vector_fxp_to_fp(op))),
    (&stream::vector_alu::FP_TO_FXP_DECL, Row::Exported(|body, op| body.vector_fp_to_fxp(op))),
    (&stream::vector_branch::DECL, Row::Exported(|body, op| body.vector_branch(op))),
    (&stream::vector_expr::DECL, Row::Exported(|body, op| body.vector_expr(op))),
    (&stream::vector_inter::DECL, Row::Exported(|body, op| body.vector_inter_slice_reduce(op))),
    (&stream::vector_intra_slice_reduce::DECL, Row::Exported(|body, op| body.vector_intra_slice_reduce(op))),
    (&stream::vector_lanes::SPLIT_DECL, Row::Exported(|body, op| body.vector_split(op))),
    (&stream::vector_lanes::TRIM_DECL, Row::Exported(|body, op| body.vector_trim(op))),
    (&stream::vector_lanes::CONCAT_DECL, Row::Exported(|body, op| body.vector_concat(op))),
    (&stream::vector_lanes::PAD_DECL, Row::Exported(|body, op| body.vector_pad(op))),
    (&stream::vector_pair::UNZIP_DECL, Row::Exported(|body, op| body.vector_unzip(op))),
    (&stream::vector_pair::LOGIC_ZIP_DECL, Row::Exported(|body, op| body.vector_logic_zip(op))),
    (&stream::vector_pair::FXP_ZIP_DECL, Row::Exported(|body, op| body.vector_fxp_zip(op))),
    (&stream::vector_pair::FP_ZIP_DECL, Row::Exported(|body, op| body.vector_fp_zip(op))),
    (&stream::vector_pair::CLIP_ZIP_DECL, Row::Exported(|body, op| body.vector_clip_zip(op))),
    (&stream::vector_reinterpret::DECL, Row::Exported(|body, op| body.vector_reinterpret(op))),
    (&stream::vector_stash::DECL, Row::Exported(|body, op| body.vector_stash(op))),
    (&stream::commit_packed::DECL, Row::Refused(PACKED)),
    (&stream::vector_filter::DECL, Row::Refused(PACKED)),
    (&stream::vector_log::DECL, Row::Refused(LOG)),
    (&stream::generate::DECL, Row::Refused(GENERATE)),
    (&stream::fill_padding::DECL, Row::Refused(FILL_PADDING)),
];

impl Body<'_, '_> {
    /// Writes the operations of a block.
    pub(crate) fn operations(&mut self, of: OpRef<'_>, block: BlockId) -> Export<()> {
        of.module.ops(block).iter().try_for_each(|&id| self.operation(of.other(id)))
    }

    fn operation(&mut self, op: OpRef<'_>) -> Export<()> {
        closed(op)?;
        let row = ROWS.iter().find(|(decl, _)| op.is(decl)).map(|(_, row)| row);
        match row {
            Some(Row::Exported(write)) => write(self, op),
            Some(Row::Written) => Ok(()),
            Some(Row::Value) => Err(refuse_with_fix(
                op,
                "it is at tensor level, without memories and transfers",
                "plan the kernel first: `visa-opt --plan-kernel`",
            )),
            Some(Row::Refused(Refusal { reason, fix })) => {
                Err(refuse(op, reason).fix(fix.map(str::to_owned)))
            }
            None => {
                Err(refuse(op, "it is no operation of memory level: expected those of `tm` and `stream`"))
            }
        }
    }
}

/// Refuses open clauses, except for addresses, which the language leaves open.
fn closed(op: OpRef<'_>) -> Export<()> {
    let Some(clause) = open::clauses(op).find(|clause| clause.opening != Opening::Address) else {
        return Ok(());
    };
    let pass = match clause.opening {
        Opening::Order => "select-transfers",
        Opening::Configuration if op.is(&tm::transfer::TO_DM) || op.is(&tm::transfer::TO_SPM) => {
            "plan-kernel"
        }
        Opening::Configuration | Opening::Never | Opening::Address => "select-configs",
    };
    let message = format!("clause `{}` is open", clause.name);
    Err(refuse_with_fix(op, message, format!("close it first: `visa-opt --{pass}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_one_row() {
        for decl in [tm_dialect(), stream_dialect()].into_iter().flatten() {
            let rows = ROWS.iter().filter(|(own, _)| std::ptr::eq(*own, decl)).count();
            assert_eq!(rows, 1, "{}", decl.name);
        }
    }

    fn tm_dialect() -> Vec<&'static OpDecl> {
        visa_mapping::DIALECT.ops.iter().flat_map(|ops| ops.iter().copied()).collect()
    }

    fn stream_dialect() -> Vec<&'static OpDecl> {
        visa_stream::DIALECT.ops.iter().flat_map(|ops| ops.iter().copied()).collect()
    }
}
