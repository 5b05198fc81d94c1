//! The operations of memory level, each with its export or the reason for its refusal.

use crate::body::Body;
use crate::parts::counts_alike;
use crate::refusals::{Export, has_only, refuse, refuse_with_fix};
use visa_ir::decl::OpDecl;
use visa_ir::module::{BlockId, OpRef};
use visa_ir::open::{self, Opening};
use visa_mapping::ops as tm;
use visa_stream::ops as stream;

/// The treatment of an operation.
pub(crate) enum Row {
    /// Written by this method, which reads these clauses. Any other clause is refused.
    Exported(&'static [&'static str], fn(&mut Body<'_, '_>, OpRef<'_>) -> Export<()>),
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
const GATHER: &Refusal = &Refusal {
    reason: "the language gathers rows into data memory alone",
    fix: Some("use `tm.gather_to_dm`, and move the rows from there"),
};
const WINDOWS: &Refusal =
    &Refusal { reason: "it slides over an axis, and the language's mappings do not", fix: None };
const LOG: &Refusal =
    &Refusal { reason: "the language's published versions do not keep execution ids", fix: None };
const FILL_PADDING: &Refusal = &Refusal {
    reason: "the language writes no padding",
    fix: Some(
        "mask the padding where it is fetched: `# n {0}` in the time or packet, or plan its computation within the \
         language: `visa-opt --plan-kernel='replan rust'`",
    ),
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
    (&tm::control::FOR, Row::Exported(&["over"], |body, op| body.for_loop(op))),
    (&tm::control::IF, Row::Exported(&["from", "below"], |body, op| body.branch(op))),
    (&tm::number::AFFINE, Row::Exported(&["by", "plus"], |body, op| body.sum(op))),
    (&tm::number::SELECT, Row::Exported(&["from", "below"], |body, op| body.select(op))),
    (
        &tm::empty::EMPTY,
        Row::Exported(&["memory", "dtype", "at", "chip", "cluster", "slice", "element"], |body, op| {
            body.empty(op)
        }),
    ),
    (
        &tm::to_tile::TO_TILE,
        Row::Exported(
            &["along", "size", "index", "element", "padded", "queue", "engines", "time", "packet"],
            |body, op| body.to_tile(op),
        ),
    ),
    (
        &tm::transfer::TO_HBM,
        Row::Exported(
            &["at", "chip", "element", "padded", "queue", "engines", "time", "packet"],
            |body, op| body.to_hbm(op),
        ),
    ),
    (
        &tm::transfer::TO_DM,
        Row::Exported(
            &["at", "then", "chip", "cluster", "slice", "element", "queue", "engines", "time", "packet"],
            |body, op| body.to_dm(op),
        ),
    ),
    (
        &tm::transfer::TO_SPM,
        Row::Exported(
            &["at", "then", "cluster", "pe", "element", "queue", "engines", "time", "packet"],
            |body, op| body.to_spm(op),
        ),
    ),
    (&tm::chip_shuffle::CHIP_SHUFFLE, Row::Exported(&["by", "at"], |body, op| body.chip_shuffle(op))),
    (
        &tm::indexed::GATHER_TO_DM,
        Row::Exported(&["along", "at", "then", "cluster", "slice", "element"], |body, op| {
            body.gather_to_dm(op)
        }),
    ),
    (&tm::indexed::SCATTER, Row::Exported(&["along"], |body, op| body.scatter(op))),
    (&tm::call::LAUNCH, Row::Exported(&["callee"], |body, op| body.launch(op))),
    (&tm::view::TILE, Row::Exported(&["along", "size", "index", "element"], |body, op| body.tile(op))),
    (&tm::view::PAD, Row::Exported(&["element"], |body, op| body.pad(op))),
    (&tm::view::UNPAD, Row::Exported(&["element"], |body, op| body.unpad(op))),
    (&tm::view::RESHAPE, Row::Exported(&["element"], |body, op| body.reshape(op))),
    (
        &tm::view::RELABEL,
        Row::Exported(&["chip", "cluster", "slice", "element"], |body, op| body.relabel(op)),
    ),
    (&tm::call::CALL, Row::Refused(CALL)),
    (&tm::call::BEGIN_LAUNCH, Row::Refused(BEGIN_LAUNCH)),
    (&tm::transfer::TO_HOST, Row::Exported(&["element"], |body, op| body.to_host(op))),
    (&tm::indexed::GATHER_TO_HBM, Row::Refused(GATHER)),
    (&tm::indexed::GATHER_TO_SPM, Row::Refused(GATHER)),
    (&tm::view::SLICE, Row::Exported(&["element"], |body, op| body.slice(op))),
    (&tm::view::WINDOW, Row::Refused(WINDOWS)),
    (&tm::view::TRANSPOSE, Row::Exported(&["axes", "to"], |body, op| body.transposed(op))),
    (&stream::begin::DECL, Row::Exported(&["context"], |body, op| body.begin(op))),
    (
        &stream::begin_interleaved::DECL,
        Row::Exported(&["context", "axis"], |body, op| body.begin_interleaved(op)),
    ),
    (&stream::cast::DECL, Row::Exported(&["dtype", "packet"], |body, op| body.cast(op))),
    (&stream::collect::DECL, Row::Exported(&["time", "packet"], |body, op| body.collect(op))),
    (&stream::commit::DECL, Row::Exported(&["at", "then", "slice", "element"], |body, op| body.commit(op))),
    (
        &stream::commit_tile::DECL,
        Row::Exported(&["along", "size", "index", "element"], |body, op| body.commit_tile(op)),
    ),
    (&stream::commit_view::DECL, Row::Exported(&["slice", "element"], |body, op| body.commit_view(op))),
    (&stream::contract::ALIGN_DECL, Row::Exported(&["time", "packet"], |body, op| body.align(op))),
    (
        &stream::contract::CONTRACT_DECL,
        Row::Exported(&["op", "over", "packet"], |body, op| body.contract(op)),
    ),
    (
        &stream::contract::ACCUMULATE_DECL,
        Row::Exported(&["mode", "time", "packet"], |body, op| body.accumulate(op)),
    ),
    (
        &stream::fetch::DECL,
        Row::Exported(
            &["table", "dtype", "zero_points", "pad", "chip", "cluster", "slice", "time", "packet"],
            |body, op| body.fetch(op),
        ),
    ),
    (
        &stream::fill::DECL,
        Row::Exported(
            &["value", "at", "then", "dtype", "chip", "cluster", "slice", "element"],
            |body, op| body.fill(op),
        ),
    ),
    (&stream::fill_view::DECL, Row::Exported(&["value", "slice", "element"], |body, op| body.fill_view(op))),
    (&stream::store::TO_TRF, Row::Exported(&["at", "row", "element"], |body, op| body.to_trf(op))),
    (&stream::store::TO_VRF, Row::Exported(&["at", "element"], |body, op| body.to_vrf(op))),
    (
        &stream::switch::DECL,
        Row::Exported(&["topology", "slice1", "slice0", "time0", "ring", "slice", "time"], |body, op| {
            body.switch(op)
        }),
    ),
    (&stream::transpose::DECL, Row::Exported(&["time", "packet"], |body, op| body.transpose(op))),
    (&stream::vector::INIT_DECL, Row::Exported(&[], |body, op| body.vector_init(op))),
    (&stream::vector::FINAL_DECL, Row::Exported(&[], |body, op| body.vector_final(op))),
    (
        &stream::vector_alu::LOGIC_DECL,
        Row::Exported(&["op", "mode", "constant", "when", "write_back"], |body, op| body.vector_logic(op)),
    ),
    (
        &stream::vector_alu::FXP_DECL,
        Row::Exported(&["op", "mode", "constant", "when", "write_back"], |body, op| body.vector_fxp(op)),
    ),
    (
        &stream::vector_alu::FP_DECL,
        Row::Exported(&["op", "mode", "constant", "constant1", "when", "write_back"], |body, op| {
            body.vector_fp(op)
        }),
    ),
    (
        &stream::vector_alu::FP_DIV_DECL,
        Row::Exported(&["op", "mode", "constant", "when", "write_back"], |body, op| body.vector_fp_div(op)),
    ),
    (
        &stream::vector_alu::CLIP_DECL,
        Row::Exported(&["op", "mode", "constant", "when", "write_back"], |body, op| body.vector_clip(op)),
    ),
    (
        &stream::vector_alu::FXP_TO_FP_DECL,
        Row::Exported(&["int_width"], |body, op| body.vector_fxp_to_fp(op)),
    ),
    (
        &stream::vector_alu::FP_TO_FXP_DECL,
        Row::Exported(&["int_width"], |body, op| body.vector_fp_to_fxp(op)),
    ),
    (
        &stream::vector_branch::DECL,
        Row::Exported(&["mode", "axis", "compare"], |body, op| body.vector_branch(op)),
    ),
    (&stream::vector_expr::DECL, Row::Exported(&["expression", "fast"], |body, op| body.vector_expr(op))),
    (
        &stream::vector_inter::DECL,
        Row::Exported(&["op", "over", "slice", "time"], |body, op| body.vector_inter_slice_reduce(op)),
    ),
    (
        &stream::vector_intra_slice_reduce::DECL,
        Row::Exported(&["op", "axis", "time", "packet"], |body, op| body.vector_intra_slice_reduce(op)),
    ),
    (&stream::vector_lanes::SPLIT_DECL, Row::Exported(&["time", "packet"], |body, op| body.vector_split(op))),
    (&stream::vector_lanes::TRIM_DECL, Row::Exported(&["packet"], |body, op| body.vector_trim(op))),
    (
        &stream::vector_lanes::CONCAT_DECL,
        Row::Exported(&["time", "packet"], |body, op| body.vector_concat(op)),
    ),
    (&stream::vector_lanes::PAD_DECL, Row::Exported(&["packet"], |body, op| body.vector_pad(op))),
    (&stream::vector_pair::UNZIP_DECL, Row::Exported(&["axis"], |body, op| body.vector_unzip(op))),
    (
        &stream::vector_pair::LOGIC_ZIP_DECL,
        Row::Exported(&["op", "mode", "time"], |body, op| body.vector_logic_zip(op)),
    ),
    (
        &stream::vector_pair::FXP_ZIP_DECL,
        Row::Exported(&["op", "mode", "time"], |body, op| body.vector_fxp_zip(op)),
    ),
    (
        &stream::vector_pair::FP_ZIP_DECL,
        Row::Exported(&["op", "mode", "time"], |body, op| body.vector_fp_zip(op)),
    ),
    (
        &stream::vector_pair::CLIP_ZIP_DECL,
        Row::Exported(&["op", "mode", "time"], |body, op| body.vector_clip_zip(op)),
    ),
    (&stream::vector_reinterpret::DECL, Row::Exported(&["dtype"], |body, op| body.vector_reinterpret(op))),
    (&stream::vector_stash::DECL, Row::Exported(&[], |body, op| body.vector_stash(op))),
    (&stream::commit_packed::DECL, Row::Exported(&["at", "element"], |body, op| body.commit_packed(op))),
    (&stream::vector_filter::DECL, Row::Exported(&["keep"], |body, op| body.vector_filter(op))),
    (&stream::vector_log::DECL, Row::Refused(LOG)),
    (
        &stream::generate::DECL,
        Row::Exported(&["value", "at", "dtype", "chip", "cluster", "slice", "element"], |body, op| {
            body.generate(op)
        }),
    ),
    (&stream::fill_padding::DECL, Row::Refused(FILL_PADDING)),
];

impl Body<'_, '_> {
    /// Writes the operations of a block.
    pub(crate) fn operations(&mut self, of: OpRef<'_>, block: BlockId) -> Export<()> {
        let own = of.module.ops(block).iter().filter(|id| !self.left_out.contains(id)).collect::<Vec<_>>();
        own.into_iter().try_for_each(|&id| self.operation(of.other(id)))
    }

    fn operation(&mut self, op: OpRef<'_>) -> Export<()> {
        closed(op)?;
        let row = ROWS.iter().find(|(decl, _)| op.is(decl)).map(|(_, row)| row);
        match row {
            Some(Row::Exported(read, write)) => {
                has_only(op, read)?;
                counts_alike(op, self.file.mappings.axes)?;
                write(self, op)
            }
            Some(Row::Written) => Ok(()),
            Some(Row::Value) => Err(refuse_with_fix(
                op,
                "it is at tensor level, without memories and transfers",
                "plan the kernel first: `visa-opt --plan-kernel=rust`",
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
            "plan-kernel=rust"
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

    #[test]
    fn exports_read_declared_clauses() {
        for (decl, row) in ROWS {
            let Row::Exported(read, _) = row else { continue };
            for name in *read {
                assert!(decl.clause(name).is_some(), "{} has no clause `{name}`", decl.name);
            }
        }
    }

    fn tm_dialect() -> Vec<&'static OpDecl> {
        visa_mapping::DIALECT.ops.iter().flat_map(|ops| ops.iter().copied()).collect()
    }

    fn stream_dialect() -> Vec<&'static OpDecl> {
        visa_stream::DIALECT.ops.iter().flat_map(|ops| ops.iter().copied()).collect()
    }
}
