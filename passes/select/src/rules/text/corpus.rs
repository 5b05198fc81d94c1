//! The small pipelines that rules are tried on: every engine whose configurations can be compared, several axes
//! and sizes, formats from 4 to 32 bits, padding, and sizes that fill no flit. Everything is open.

use visa_ir::context::Context;
use visa_ir::module::{Module, OpId};
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_ir::verify::has_errors;
use visa_machine::Machine;
use visa_stream::pipeline;
use visa_stream::pipeline::Pipeline;

/// A pipeline.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// The axes. `SLICES` stands for the slices of a cluster, here and in the stages; `CLUSTERS` for the clusters
    /// of a chip.
    axes: &'static str,
    dtype: &'static str,
    /// The layout of the tensor in a slice.
    element: &'static str,
    /// The tensor in HBM.
    flat: &'static str,
    /// Stages after `stream.begin`.
    stages: &'static [&'static str],
}

const FETCH: &str = "%1 = stream.fetch %0 time auto, packet auto";
const COLLECT: &str = "%2 = stream.collect %1 time auto, packet auto";
const COMMIT: &str = "%y = stream.commit %2 at 65536, element auto";

/// Fetch, collect and commit.
const MOVE: &[&str] = &[FETCH, COLLECT, COMMIT];

/// The same with packets that change slices.
const SWITCH: &[&str] = &[
    FETCH,
    "%s = stream.switch auto %1 slice1 auto, slice0 auto, time0 auto, ring auto, slice auto, time auto",
    "%2 = stream.collect %s time auto, packet auto",
    COMMIT,
];

/// The same, after which the stream meets a register file that is the same in every four slices.
const MEET: &[&str] = &[
    "%g = tm.to_dm %x at 131072, cluster [1 # CLUSTERS], slice [S / 4, X], element [S % 4, A, B]",
    "%w0 = stream.begin main %g",
    "%w1 = stream.fetch %w0 time [S % 4, A], packet [B]",
    "%w2 = stream.collect %w1 time [S % 4, A], packet [B # 32]",
    "%w = stream.to_trf %w2 at full, row [1], element [S % 4, A, B # 32]",
    FETCH,
    "%s = stream.switch auto %1 slice1 auto, slice0 auto, time0 auto, ring auto, slice auto, time auto",
    "%2 = stream.collect %s time auto, packet auto",
    "%3 = stream.align %2, %w time auto, packet auto",
];

/// The same with the contents of each slice afterwards.
const GATHER: &[&str] = &[
    FETCH,
    "%s = stream.switch auto %1 slice1 auto, slice0 auto, time0 auto, ring auto, slice [S / 4, X], time auto",
    "%2 = stream.collect %s time auto, packet auto",
    COMMIT,
];

/// A product with a register file.
const ALIGN: &[&str] = &[
    "%w0 = stream.begin main %d",
    "%w1 = stream.fetch %w0 time [A], packet [K]",
    "%w2 = stream.collect %w1 time [A, K / 32], packet [K % 32]",
    "%w = stream.to_trf %w2 at full, row [1], element [A, K]",
    FETCH,
    COLLECT,
    "%3 = stream.align %2, %w time auto, packet auto",
    "%4 = stream.contract %3 over [K], packet auto",
    "%5 = stream.accumulate auto %4 time auto, packet auto",
    "%y = stream.commit %5 at 65536, element auto",
];

const CASES: &[Case] = &[
    Case {
        axes: "S = 2, A = 4, B = 6, C = 5",
        dtype: "i8",
        element: "[A, B, C]",
        flat: "A, B, C",
        stages: MOVE,
    },
    Case { axes: "S = 2, A = 16, B = 8", dtype: "i4", element: "[A, B]", flat: "A, B", stages: MOVE },
    Case { axes: "S = 2, A = 8, B = 64", dtype: "i8", element: "[A, B]", flat: "A, B", stages: MOVE },
    Case { axes: "S = 2, A = 4, B = 32", dtype: "bf16", element: "[B, A]", flat: "A, B", stages: MOVE },
    Case { axes: "S = 2, A = 12, B = 7", dtype: "f32", element: "[A, B # 8]", flat: "A, B", stages: MOVE },
    Case { axes: "S = 2, A = 65", dtype: "i8", element: "[A # 96]", flat: "A", stages: MOVE },
    Case { axes: "S = 2, A = 3, B = 5", dtype: "i8", element: "[[A, B] # 32]", flat: "A, B", stages: MOVE },
    Case { axes: "S = 2, A = 512", dtype: "bf16", element: "[A]", flat: "A", stages: MOVE },
    Case {
        axes: "S = 2, A = 8, B = 16",
        dtype: "bf16",
        element: "[A, B]",
        flat: "A, B",
        stages: &["%1 = stream.fetch %0 dtype f32, time auto, packet auto", COLLECT, COMMIT],
    },
    Case {
        axes: "S = 2, A = 4, B = 16, C = 2",
        dtype: "i8",
        element: "[A, B, C]",
        flat: "A, B, C",
        stages: SWITCH,
    },
    Case {
        axes: "S = SLICES, X = 4, A = 4, B = 8",
        dtype: "i8",
        element: "[A, B]",
        flat: "A, B",
        stages: GATHER,
    },
    Case {
        axes: "S = SLICES, X = 4, A = 4, B = 8",
        dtype: "i8",
        element: "[A, B]",
        flat: "A, B",
        stages: MEET,
    },
    Case {
        axes: "S = 2, A = 6, B = 8",
        dtype: "i32",
        element: "[A, B]",
        flat: "A, B",
        stages: &[
            FETCH,
            COLLECT,
            "%3 = stream.cast i8 %2 packet auto",
            "%y = stream.commit %3 at 65536, element auto",
        ],
    },
    Case {
        axes: "S = 2, A = 8, B = 40",
        dtype: "i8",
        element: "[A, B]",
        flat: "A, B",
        stages: &[FETCH, COLLECT, "%w = stream.to_trf %2 at full, row auto, element auto"],
    },
    Case {
        axes: "S = 2, A = 8, B = 16",
        dtype: "bf16",
        element: "[A, B]",
        flat: "A, B",
        stages: &[FETCH, COLLECT, "%w = stream.to_trf %2 at full, row auto, element auto"],
    },
    Case {
        axes: "S = 2, A = 6, B = 12",
        dtype: "f32",
        element: "[A, B]",
        flat: "A, B",
        stages: &[FETCH, COLLECT, "%w = stream.to_vrf %2 at 0, element auto"],
    },
    Case { axes: "S = 2, A = 4, K = 64", dtype: "i8", element: "[A, K]", flat: "A, K", stages: ALIGN },
];

/// A pipeline of the corpus, read.
pub(super) struct Example {
    /// Its axes, as they are declared.
    pub(super) axes: String,
    /// The kernel.
    pub(super) module: Module,
    /// The pipeline's operations.
    pub(super) chain: Vec<OpId>,
}

/// The corpus for the machine of a context. Examples that its machine does not take are left out.
pub(super) fn corpus(ctx: &Context) -> Vec<Example> {
    CASES.iter().filter_map(|case| example(ctx, case)).collect()
}

fn example(ctx: &Context, case: &Case) -> Option<Example> {
    let topology = &ctx.data::<Machine>().topology;
    let sized = |text: &str| {
        let text = text.replace("SLICES", &topology.slices_per_cluster.to_string());
        text.replace("CLUSTERS", &topology.clusters_per_chip.to_string())
    };
    let text = sized(&text(case));
    let parsed = parse(ctx, &Source::new("corpus", text.as_str()), 0..text.len());
    if has_errors(&parsed.diagnostics) {
        return None;
    }
    let module = parsed.module;
    // The last operation in front of `tm.return` ends the pipeline.
    let last = module.walk_all().into_iter().rfind(|&id| pipeline::contains(module.op(ctx, id)))?;
    let chain = Pipeline::up_to(module.op(ctx, last)).ops;
    Some(Example { axes: sized(case.axes), module, chain })
}

/// The kernel: its slices hold different parts.
fn text(case: &Case) -> String {
    let Case { axes, dtype, element, flat, stages } = case;
    let stages = stages.join("\n  ");
    format!(
        "visa 1
tm.axes [{axes}]
tm.func @case(%x: !tm.hbm<{dtype}, [1], [S, {flat}]>) at [0] {{
  %d = tm.to_dm %x at 0, cluster [1 # CLUSTERS], slice [S # SLICES], element {element}
  %0 = stream.begin main %d
  {stages}
  tm.return %x
}}
"
    )
}
