//! Products with rows that an index chooses, as in a mixture of experts: the products with all rows of the table, of
//! which a comparison with the index selects one. The rows themselves then move nowhere.

use crate::contraction::layout::SUMS;
use std::sync::Arc;
use visa_algebra::Axes;
use visa_engine::words::ContractionKind;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef, ValueId};
use visa_machine::Machine;
use visa_mapping::ops::contract::{self, Contract};
use visa_mapping::ops::gather::{GATHER, Gather};
use visa_mapping::tensor::value::{Value, axis_list, one_axis};

/// Lanes of the vector engine, which hold whole groups of rows (book 21).
const LANES: u64 = SUMS;
/// Bytes of a product: of a sum of the Contraction Engine.
const SUM_BYTES: u64 = 4;
/// Bytes of HBM for each byte of rows: they are read and written within HBM, and loaded.
const MOVES: u64 = 3;

/// Rows that an index chooses, and that one contraction alone reads.
#[derive(Clone, Debug)]
pub struct SelectedRows {
    /// The gather.
    pub op: OpId,
    /// The table.
    pub table: ValueId,
    /// The index.
    pub index: ValueId,
    /// The axis of the rows.
    pub along: Arc<str>,
}

impl SelectedRows {
    /// The rows of a gather, if the products with all rows of its table are fewer bytes than the chosen rows, and
    /// take fewer cycles than their moves.
    ///
    /// # Errors
    /// An operation without its clauses.
    pub fn of(
        ctx: &Context,
        module: &Module,
        op: OpRef<'_>,
        (axes, machine): (&Axes, &Machine),
    ) -> Result<Option<Self>, Diagnostic> {
        let reader = op.results().first().filter(|_| op.is(&GATHER)).map(|value| module.uses(*value));
        let Some(&[user]) = reader else { return Ok(None) };
        let user = module.op(ctx, user);
        if !user.is(&contract::DECL) {
            return Ok(None);
        }
        let (gather, user) = (Gather::of(op)?, Contract::of(user)?);
        if gather.unit()? != 1 || user.kind()? != ContractionKind::Add || user.keep()?.is_some() {
            return Ok(None);
        }
        let along = one_axis(op, "C1", "along", &*gather.along()?)?;
        let &[table, index] = op.operands() else { return Ok(None) };
        let other = user.operands().iter().copied().find(|value| *value != op.results()[0]);
        let ty = |value: ValueId| ctx.type_value::<Value>(module.ty(value));
        let (Some(rows), Some(chosen), Some(other)) = (ty(op.results()[0]), ty(index), other.and_then(ty))
        else {
            return Ok(None);
        };
        let Ok(summed) = axis_list(&*user.over()?) else { return Ok(None) };
        let indexed = chosen.axes.iter().all(|axis| other.has(axis) && !summed.contains(axis));
        let size = |axis: &Arc<str>| axes.id(axis).map_or(1, |id| axes.size(id));
        let number = size(&along);
        if !indexed || other.has(&along) || !number.is_multiple_of(LANES) {
            return Ok(None);
        }
        let kept = rows.axes.iter().chain(other.axes.iter().filter(|axis| !rows.has(axis)));
        let products = kept.filter(|axis| !summed.contains(axis)).map(size).product::<u64>() * number;
        let bytes = rows.axes.iter().map(size).product::<u64>() * u64::from(rows.dtype.bits()) / 8;
        let terms: u64 = summed.iter().map(size).product();
        // The contraction refuses other formats by name.
        let Some(peak) = machine.peak_operations_per_cycle(rows.dtype) else { return Ok(None) };
        let (computed, moved) =
            (2 * products * terms / peak.max(1), MOVES * bytes / machine.timing.hbm_bytes_per_cycle.max(1));
        let fewer = products * SUM_BYTES <= bytes && computed <= moved;
        Ok(fewer.then_some(Self { op: op.id, table, index, along }))
    }
}
