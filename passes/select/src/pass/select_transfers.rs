//! Chooses the streams of transfers.

use crate::transfer::choose::{Choice, Slot, Slots, TransferCx};
use visa_algebra::Expr;
use visa_cost::MemoryModel;
use visa_ir::diag::{Diagnostic, Severity, counted};
use visa_ir::module::{OpId, OpRef};
use visa_ir::open::{self, Opening};
use visa_ir::view::{BodyOf, unless_auto};
use visa_lowering::transfers::Start;
use visa_mapping::facts::frames::{Frame, Frames};
use visa_mapping::facts::{DeclaredAxes, Support, machine};
use visa_mapping::index::cases::Cases;
use visa_mapping::ops::func::FUNC;
use visa_mapping::ops::to_tile;
use visa_mapping::ops::to_tile::TileWrite;
use visa_mapping::ops::transfer::moved_axes;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Tensor, operand};
use visa_pass::{Configured, Level, Pass, PassCx};
use visa_stream::lower::address::{self, Addresses};

visa_pass::options! {
    /// The options.
    struct Settings {
        explain: bool = ("explain", "false", "report each choice: its cycles, and those of the lowering's default"),
    }
}

/// The pass.
pub static PASS: Pass = Pass {
    name: "select-transfers",
    summary: "chooses the engines' parts of transfers, their order and packets",
    doc: "`engines`, `time` and `packet` that are `auto` get the values with which the transfer takes the fewest \
          cycles by the memory model (`--memory-model`). An e-graph holds the streams: loops change places, loops \
          or parts of them go to engines, slices are taken network by network, and packets are cut at requests. \
          Each stream is lowered and priced. Addresses count: run it after `allocate`. Where a transfer has several \
          segments, the clauses go, and the lowering deals the segments to the engines.",
    takes: Level::Memory,
    gives: Level::Memory,
    open: true,
    closes: Some(Opening::Order),
    statistics: &[
        ("transfers", "transfers with open clauses"),
        ("left", "of them, those whose engines the lowering chooses"),
        ("e-nodes", "loops and streams of the e-graphs"),
        ("priced", "streams that were lowered and priced"),
        ("cycles-own", "cycles of the lowering's defaults, together"),
        ("cycles-best", "cycles of the chosen streams, together"),
    ],
    ..Pass::with::<Settings>()
};

/// The clauses of a stream.
const CLAUSES: [&str; 3] = ["engines", "time", "packet"];

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let ops: Vec<OpId> = cx.walk();
        let open = |id: &OpId| {
            open::clauses(cx.module.op(cx.ctx, *id)).any(|clause| clause.opening == Opening::Order)
        };
        let open: Vec<OpId> = ops.iter().copied().filter(open).collect();
        if open.is_empty() {
            return Ok(());
        }
        let functions = ops.iter().map(|&id| cx.module.op(cx.ctx, id)).filter(|op| op.is(&FUNC));
        let axes = cx.analysis::<DeclaredAxes>();
        let addresses: Result<Vec<_>, _> = functions.map(|func| address::all(func, &axes)).collect();
        let addresses = addresses.map_err(|refused| vec![refused])?.into_iter().flatten().collect();
        let mut choose = |id| choose(cx, id, &addresses, self.explain).map_err(|refused| vec![refused]);
        open.into_iter().try_for_each(&mut choose)
    }
}

/// Chooses the open clauses of a transfer.
fn choose(cx: &mut PassCx<'_>, id: OpId, addresses: &Addresses, explain: bool) -> Result<(), Diagnostic> {
    cx.count("transfers", 1);
    let op = cx.module.op(cx.ctx, id);
    let span = op.span();
    let slots = Slots { engines: slot(op, "engines")?, time: slot(op, "time")?, packet: slot(op, "packet")? };
    let found = chosen(cx, op, addresses, &slots);
    let values = found.as_ref().map(|choice| {
        let order = choice.order.clone();
        [Some(order.engines), order.time, order.packet].map(|map| map.map(|map| cx.ctx.body_attr(&MAP, map)))
    });
    for (at, clause) in CLAUSES.into_iter().enumerate() {
        if open::is_open(cx.module.op(cx.ctx, id), clause) {
            cx.module.set_clause(id, clause, values.as_ref().and_then(|values| values[at]));
        }
    }
    let Some(choice) = found else {
        cx.count("left", 1);
        return Ok(());
    };
    cx.count("e-nodes", choice.nodes);
    cx.count("priced", choice.priced);
    cx.count("cycles-own", choice.own.unwrap_or(choice.cycles));
    cx.count("cycles-best", choice.cycles);
    if explain {
        let by_itself = choice.own.map_or_else(|| "no price".to_owned(), |own| counted(own, "cycle"));
        let message = format!(
            "the best of {}: {}; the lowering's default: {by_itself}",
            counted(choice.priced, "stream"),
            counted(choice.cycles, "cycle")
        );
        let mut remark = Diagnostic::error("select-transfers", span, message);
        remark.severity = Severity::Remark;
        cx.report(remark);
    }
    Ok(())
}

/// The best stream of a transfer.
fn chosen(cx: &PassCx<'_>, op: OpRef<'_>, addresses: &Addresses, slots: &Slots) -> Option<Choice> {
    let (axes, support) = (cx.analysis::<DeclaredAxes>(), cx.analysis::<Support>());
    let (source, result) = (operand(op, 0)?, to_tile::written(op, &axes.0).ok()??);
    let (value, made) = (op.operands()[0], op.results()[0]);
    let free = |axis| !support.depends(value, axes.0.name(axis));
    let machine = machine(op);
    // An address that is open may be any, and of several cases the first one counts.
    let address = |value| addresses.get(&value).and_then(Cases::first).map_or(0, |address| address.base());
    // Tiles are as far from the tensor's start as any.
    let tile = TileWrite::cast(op).and_then(|tile| to_tile::tile(tile, &axes.0).ok()?.first()?.starts().ok());
    let tile = tile.and_then(|start| address::in_bytes(&start, &result)).map_or(0, |start| start.base);
    let frames = cx.analysis::<Frames>();
    let begins = |frames: &Cases<Frame>, tensor: &Tensor| {
        let bytes = frames.first().and_then(|frame| frame.bytes(tensor, &machine));
        bytes.map_or(0, |bytes| bytes.base)
    };
    let read = address(value).saturating_add(begins(frames.of(value), &source));
    let written = begins(&frames.written(op, &axes.0), &result);
    let write = address(made).saturating_add(tile).saturating_add(written);
    let start = Start { read, write, dtype: source.dtype };
    let model = *op.ctx.data::<MemoryModel>();
    let moved = moved_axes(op, "C0", [&source, &result], &axes.0).ok()?;
    let transfer = TransferCx {
        source: &source,
        result: &result,
        start,
        free: &free,
        pcie: frames.cross_chips(op, [&source, &result], &axes.0),
        queue: None,
        axes: &moved,
        machine: &machine,
        model,
    };
    transfer.choose(slots)
}

/// The value of a clause.
fn slot(op: OpRef<'_>, clause: &str) -> Result<Slot, Diagnostic> {
    if open::is_open(op, clause) {
        return Ok(Slot::Open);
    }
    let written = unless_auto::<BodyOf<Expr>>(&op, clause)?;
    Ok(written.map_or(Slot::Absent, |map| Slot::Written((*map).clone())))
}
