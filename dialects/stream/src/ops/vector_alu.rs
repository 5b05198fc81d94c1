//! The stages of the vector engine that hold ALUs: logic, fxp, fxp_to_fp, fp, fp_div, fp_to_fxp, clip (book 21).

use crate::attrs::GUARDS;
use crate::chain::{axes, check_place, check_same, coarse, input};
use crate::formula::Formula;
use crate::lower::loops::accessed;
use crate::lower::{LowerStage, StageCx, address};
use crate::ops::vector_stash::check_stashed;
use crate::plan::{self, Plan, Shared};
use crate::planner::{Planner, StagePlan, planned};
use crate::raise::{Applied, by_id, constant, result, value_of};
use crate::topology::same;
use crate::vector::{
    Arguments, Station, arguments, check_alu, check_order, configuration, elementwise, next_stage, row,
    station,
};
use std::collections::BTreeMap;
use std::rc::Rc;
use visa_algebra::{Axes, AxisId, Expr};
use visa_engine::place::rngd;
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effect, Effects, Target, reads, writes};
use visa_ir::module::{OpRef, OpSpec};
use visa_ir::verify::VerifyCx;
use visa_ir::view;
use visa_loops::Program;
use visa_mapping::expression::{Expression, FUNCTIONS, Term};
use visa_mapping::facts::machine;
use visa_mapping::ops::sequence::Scan;
use visa_mapping::ops::transfer::free_axes;
use visa_mapping::raise::{Raising, Semantics};
use visa_mapping::tensor::numbers::{NUMBER, Number};
use visa_mapping::{Dim, Tensor, operand};
use visa_numerics::{
    AluOp, AluStage, Arg, ArgMode, Bits, ClipName, DType, FpDivName, FpName, FxpName, Guards, LogicName,
    VectorStage, default_mode, to_f64,
};
use visa_sequencer::access::Accessor;
use visa_sequencer::ops::stages;

const WAY8: &[&str] = &["stream.vector", "stream.pair"];
const WAY4: &[&str] = &["stream.vector4", "stream.pair4"];
/// A value is read; with `write_back` it is also written.
const VALUE_EFFECTS: &[Effect] =
    &[reads(Target::Operand("operand")), writes(Target::Operand("operand")).with("write_back")];
const VALUE: &[&str] = &["tm.vrf", "stream.vector", "stream.vector4"];
#[visa_ir::clause]
pub(crate) const MODE: ClauseDecl = ClauseDecl::optional(
    "mode",
    ClauseKind::word::<ArgMode>(),
    "which argument is the stream (0), operand 0 (1) and operand 1 (2)",
);
#[visa_ir::clause]
const CONSTANT: ClauseDecl = ClauseDecl::optional(
    "constant",
    ClauseKind::body::<Number>(&NUMBER),
    "operand 0, the same for every element",
);
#[visa_ir::clause]
const CONSTANT1: ClauseDecl = ClauseDecl::optional(
    "constant1",
    ClauseKind::body::<Number>(&NUMBER),
    "operand 1 of three arguments, the same for every element",
);

#[visa_ir::clause]
pub(crate) const WHEN: ClauseDecl = ClauseDecl::optional(
    "when",
    ClauseKind::body::<Guards<Number>>(&GUARDS),
    "where it applies, by execution id, and with which operand",
);

#[visa_ir::clause]
pub(crate) const WRITE_BACK: ClauseDecl = ClauseDecl::optional(
    "write_back",
    ClauseKind::body::<Guards<Number>>(&GUARDS),
    "where the result also replaces the register-file element that was read, by execution id",
);

const OPERATION: &str = "the operation";

const DOC: &str = "The other arguments than the stream are constants, or one of them a value (of three arguments \
                   both, the first value is the first that is no constant): an element of the vector register file, \
                   the one with the same index, along axes that the register file does not depend on the same for \
                   all; or the same element of a stream stashed before in this pass (book 21; semantics in \
                   docs/numerics.md). With `when` the operation is conditional: where no guard holds, the element \
                   passes unchanged. With `write_back` the result of a packet goes to the register file too, before \
                   the next packet reads it, as in a running sum (book 35, section 4; docs/compute.md).";

/// Constraints of all operations of this file.
const CONSTRAINTS: &[(&str, &str)] = &[
    ("C1", "the operation works on the stream's format (book 21)"),
    (
        "C2",
        "every operand that the mode reads is given, as a constant or as a value; no other is (book 21: pairs of \
         operands)",
    ),
    ("C3", "the stages follow the engine's order, and each ALU is used once a pass (book 21)"),
    ("C4", "the register file is in the same chips, clusters and slices, in the same format"),
    ("C5", "the register file holds every element asked for, a packet at a time (book 21)"),
    ("C6", "a constant is of the stream's format"),
    (
        "C7",
        "the stash was written in this pass and is read once; it holds the stream's elements in their order, in \
         packets of either width, and in its format (book 21)",
    ),
    ("C8", "the mode has as many arguments as the operation (book 21)"),
    (
        "C9",
        "the slots of `when` all have an operand or none has: 3 immediates at most, then the value (book 21)",
    ),
    (
        "C10",
        "every guard holds for an execution id that the branch mode gives and that no guard before it takes",
    ),
    (
        "C11",
        "`write_back` has guards without operands that can hold, and a register-file operand that nothing else \
         reads",
    ),
    (
        "C12",
        "with `write_back` time and packet hold elements only, each once, and the stream depends on every axis of \
         time",
    ),
];

/// Common parts of the operations of this file.
#[visa_ir::view(Alu)]
pub const BASE: OpDecl = OpDecl {
    doc: DOC,
    constraints: CONSTRAINTS,
    operands: &[OperandDecl::one("stream", WAY8), OperandDecl::optional("operand", VALUE)],
    results: &["stream"],
    effects: Effects::Are(VALUE_EFFECTS),
    infer: Some(|op| next_stage(op, false, None)),
    verify: Some(verify),
    ..OpDecl::BASE
};

/// `stream.vector_logic`.
#[visa_ir::view(VectorLogic: Alu)]
pub static LOGIC_DECL: OpDecl = OpDecl {
    name: "stream.vector_logic",
    summary: "A bitwise operation on every element, 8 lanes wide.",
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::word::<LogicName>(), OPERATION),
        MODE,
        CONSTANT,
        WHEN,
        WRITE_BACK,
    ],
    example: "%x = stream.vector_logic BitAnd %b constant 255",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(raised)),
        Interface(&Formula::Elementwise(elementwise)),
        Interface(&LowerStage(lower)),
        Interface(&Station(VectorStage::Logic)),
    ],
    ..BASE
};

/// `stream.vector_fxp`.
#[visa_ir::view(VectorFxp: Alu)]
pub static FXP_DECL: OpDecl = OpDecl {
    name: "stream.vector_fxp",
    summary: "An integer or fixed-point operation on every element, 8 lanes wide.",
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::word::<FxpName>(), OPERATION),
        MODE,
        CONSTANT,
        WHEN,
        WRITE_BACK,
    ],
    example: "%x = stream.vector_fxp AddFxp %b constant 1",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(raised)),
        Interface(&Formula::Elementwise(elementwise)),
        Interface(&LowerStage(lower)),
        Interface(&Station(VectorStage::Fxp)),
    ],
    ..BASE
};

/// `stream.vector_fp`.
#[visa_ir::view(VectorFp: Alu)]
pub static FP_DECL: OpDecl = OpDecl {
    name: "stream.vector_fp",
    summary: "A floating-point operation or function of every element, 4 lanes wide.",
    operands: &[
        OperandDecl::one("stream", WAY4),
        OperandDecl::optional("operand", VALUE),
        OperandDecl::optional("operand1", VALUE),
    ],
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::word::<FpName>(), OPERATION),
        MODE,
        CONSTANT,
        CONSTANT1,
        WHEN,
        WRITE_BACK,
    ],
    effects: Effects::Are(&[
        reads(Target::Operand("operand")),
        reads(Target::Operand("operand1")),
        writes(Target::Operand("operand")).with("write_back"),
    ]),
    infer: Some(|op| next_stage(op, true, None)),
    example: "%x = stream.vector_fp FmaF %n constant 2, constant1 0.5",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(raised)),
        Interface(&Formula::Elementwise(elementwise)),
        Interface(&LowerStage(lower)),
        Interface(&Station(VectorStage::Float)),
    ],
    ..BASE
};

/// `stream.vector_fp_div`.
#[visa_ir::view(VectorFpDiv: Alu)]
pub static FP_DIV_DECL: OpDecl = OpDecl {
    name: "stream.vector_fp_div",
    summary: "A division of every element, after the reduction, 4 lanes wide.",
    operands: &[OperandDecl::one("stream", WAY4), OperandDecl::optional("operand", VALUE)],
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::word::<FpDivName>(), OPERATION),
        MODE,
        CONSTANT,
        WHEN,
        WRITE_BACK,
    ],
    infer: Some(|op| next_stage(op, true, None)),
    example: "%x = stream.vector_fp_div DivF %n constant 3",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(raised)),
        Interface(&Formula::Elementwise(elementwise)),
        Interface(&LowerStage(lower)),
        Interface(&Station(VectorStage::FpDiv)),
    ],
    ..BASE
};

/// `stream.vector_clip`.
#[visa_ir::view(VectorClip: Alu)]
pub static CLIP_DECL: OpDecl = OpDecl {
    name: "stream.vector_clip",
    summary: "A minimum, a maximum or a last addition on every element, 8 lanes wide.",
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::word::<ClipName>(), OPERATION),
        MODE,
        CONSTANT,
        WHEN,
        WRITE_BACK,
    ],
    example: "%x = stream.vector_clip Max %b constant 0",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(raised)),
        Interface(&Formula::Elementwise(elementwise)),
        Interface(&LowerStage(lower)),
        Interface(&Station(VectorStage::Clip)),
    ],
    ..BASE
};

#[visa_ir::clause]
pub(crate) const WIDTH: ClauseDecl = ClauseDecl::required(
    "int_width",
    ClauseKind::Int,
    "the integer width w, 0 to 31 bits: the integer counts units of 2^(w - 31)",
);

const WIDTH_CONSTRAINTS: &[(&str, &str)] = &[
    ("C1", "the operation works on the stream's format (book 21)"),
    ("C3", "the stages follow the engine's order, and each is used once a pass (book 21)"),
    ("C6", "the integer width is 0 to 31"),
];

/// `stream.vector_fxp_to_fp`.
#[visa_ir::view(VectorFxpToFp: Alu)]
pub static FXP_TO_FP_DECL: OpDecl = OpDecl {
    name: "stream.vector_fxp_to_fp",
    summary: "Converts i32, a fixed-point number, to f32, 8 lanes wide.",
    doc: "With an integer width of 31 the number is an integer, with 0 it is between -1 and 1 (book 21; \
          docs/numerics.md).",
    constraints: WIDTH_CONSTRAINTS,
    operands: &[OperandDecl::one("stream", WAY8)],
    clauses: &[WIDTH],
    effects: Effects::PURE,
    infer: Some(|op| next_stage(op, false, Some(DType::F32))),
    verify: Some(verify_conversion),
    example: "%x = stream.vector_fxp_to_fp %b int_width 31",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(raised)),
        Interface(&Formula::Elementwise(elementwise)),
        Interface(&LowerStage(lower)),
        Interface(&Station(VectorStage::FxpToFp)),
    ],
    ..BASE
};

/// `stream.vector_fp_to_fxp`.
#[visa_ir::view(VectorFpToFxp: Alu)]
pub static FP_TO_FXP_DECL: OpDecl = OpDecl {
    name: "stream.vector_fp_to_fxp",
    summary: "Converts f32 to i32, a fixed-point number, 8 lanes wide.",
    doc: "With an integer width of 31 the number is an integer, with 0 it is between -1 and 1 (book 21; \
          docs/numerics.md).",
    constraints: WIDTH_CONSTRAINTS,
    operands: &[OperandDecl::one("stream", WAY8)],
    clauses: &[WIDTH],
    effects: Effects::PURE,
    infer: Some(|op| next_stage(op, false, Some(DType::I32))),
    verify: Some(verify_conversion),
    example: "%x = stream.vector_fp_to_fxp %b int_width 31",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(raised)),
        Interface(&Formula::Elementwise(elementwise)),
        Interface(&LowerStage(lower)),
        Interface(&Station(VectorStage::FpToFxp)),
    ],
    ..BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] =
    &[&LOGIC_DECL, &FXP_DECL, &FXP_TO_FP_DECL, &FP_DECL, &FP_DIV_DECL, &FP_TO_FXP_DECL, &CLIP_DECL];

/// C1, C3 and the arguments.
fn checked(op: OpRef<'_>) -> Result<Arguments, Diagnostic> {
    let source = input(op)?;
    let stage = station(op).ok_or_else(|| op.error("C1", "no stage of the vector engine"))?;
    let row = row(op, stage, source.dtype)?;
    check_order(op, stage, "C3")?;
    check_alu(op, row, "C3")?;
    arguments(op, row)
}

fn verify_conversion(op: OpRef<'_>, _cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    checked(op).map(drop)
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let arguments = checked(op)?;
    if arguments.write_back.is_some() {
        check_running(op, cx)?;
    }
    (1..=arguments.values).try_for_each(|index| verify_value(op, index, cx))
}

/// C4, C5 and C7 of operand `index`, if it has a type.
fn verify_value(op: OpRef<'_>, index: usize, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let Some(value) = operand(op, index) else { return Ok(()) };
    if value.kind.stream {
        return verify_stash(op, index, &value, cx);
    }
    let source = input(op)?;
    if source.dtype != value.dtype {
        return Err(
            op.error("C4", format!("the stream is `{}`, the register file `{}`", source.dtype, value.dtype))
        );
    }
    verify_register_file(op, index, &value, lanes(op), cx)
}

/// C12: every packet that the engine runs is one of the stream's elements, each once.
fn check_running(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    let source = input(op)?;
    let refuse = |message: String| Err(op.clause_error("C12", "write_back", message));
    for dim in [Dim::Time, Dim::Packet] {
        let map: Expr = source.dim(dim);
        let digits = plan::digits_of(&map, axes).map_err(|why| op.clause_error("C12", "write_back", why))?;
        if digits.live_count() != Some(digits.size()) {
            return refuse(format!(
                "{} `{map}` has padding, whose results would be written back too",
                dim.name()
            ));
        }
        if digits.iter().any(|digit| digit.axis.is_none() && digit.live > 1) {
            return refuse(format!("{} `{map}` has elements more than once", dim.name()));
        }
    }
    let time: Expr = source.dim(Dim::Time);
    let free = free_axes(op, cx, 0);
    let same = time.axis_names(axes).into_iter().find(|name| axes.id(name).is_some_and(&free));
    match same {
        Some(name) => {
            refuse(format!("the stream is the same along `{name}` in time `{time}`, the results are not"))
        }
        None => Ok(()),
    }
}

/// C4 and C5: operand `index` of `op` is in the stream's slices and holds the elements of each packet. A written-back
/// one has a word for each lane.
///
/// # Errors
/// The part that it lacks.
pub fn verify_register_file(
    op: OpRef<'_>,
    index: usize,
    file: &Tensor,
    lanes: u64,
    cx: &VerifyCx<'_>,
) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    let source = input(op)?;
    let (free, slice) = (free_axes(op, cx, index), source.dim(Dim::Slice));
    // The stream may divide an axis among slices that hold copies of the file.
    let copies = same(&file.dim(Dim::Slice), &slice, &free, axes).is_ok();
    let slices = Tensor::build(file.kind, file.unit, file.dtype, &[(Dim::Slice, slice)], file);
    let file_there = slices.ok().filter(|_| copies);
    check_place(op, "C4", (file_there.as_ref().unwrap_or(file), &free), &source, axes)?;
    let reads = planned::<RegisterReads>(op, cx)?;
    let Some(read) = reads.of(index) else { return Ok(()) };
    if op.attr("write_back").is_none() || read.packet == lanes {
        return Ok(());
    }
    let (element, packet): (Expr, Expr) = (file.dim(Dim::Element), source.dim(Dim::Packet));
    let message = format!(
        "packet `{packet}` reads {} of `{element}`, expected all {lanes}: a written-back value has a word for each \
         lane",
        counted(read.packet, "contiguous element")
    );
    Err(op.error("C5", message))
}

/// Reads of the register files that an operation takes.
pub struct RegisterReads(Vec<Option<Plan>>);

impl RegisterReads {
    /// The reads of operand `index`, if it is a register file.
    #[must_use]
    pub fn of(&self, index: usize) -> Option<&Plan> {
        self.0.get(index)?.as_ref()
    }
}

impl StagePlan for RegisterReads {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let source = input(op)?;
        let read = |index: usize| {
            let file = operand(op, index).filter(|value| index > 0 && !value.kind.stream);
            file.map(|file| register_read(op, &file, &source, &planner.free(op, index), planner.axes))
                .transpose()
        };
        (0..op.operands().len()).map(read).collect::<Result<_, _>>().map(Self)
    }
}

/// The reads of a register file of this type, given a stream of that type. `free` names the axes that it does not
/// depend on. Its copies along such an axis are the same until `write_back` makes them differ. Lanes beyond the live
/// ones read on into the following elements and are padding; fewer elements than live lanes are repeated. C5.
fn register_read(
    op: OpRef<'_>,
    file: &Tensor,
    source: &Tensor,
    free: &dyn Fn(AxisId) -> bool,
    axes: &Axes,
) -> Result<Plan, Diagnostic> {
    let element: Expr = file.dim(Dim::Element);
    let written = op.attr("write_back").is_some();
    let own = element.axis_names(axes);
    let free = |axis: AxisId| free(axis) && !(written && own.iter().any(|name| **name == *axes.name(axis)));
    let shared = if written { Shared::Repeated } else { Shared::Copied };
    let (time, packet): (Expr, Expr) = (source.dim(Dim::Time), source.dim(Dim::Packet));
    let refuse = |why| op.error("C5", why);
    let mut read = plan::register_read(&element, &time, &packet, &free, (shared, &coarse(file, axes)), axes)
        .map_err(refuse)?;
    let live = plan::digits_of(&packet, axes).map_err(refuse)?.live_count();
    if live.is_some_and(|live| read.packet >= live) {
        read.packet = lanes(op);
        if let Some(inner) = read.loops.last_mut() {
            inner.entry.limit = read.packet;
        }
    }
    Ok(read)
}

/// The lanes at the stage of `op`.
#[must_use]
pub fn lanes(op: OpRef<'_>) -> u64 {
    let wide = machine(op).limits.vector_lanes;
    if station(op).is_some_and(VectorStage::is_narrow) { wide / 2 } else { wide }
}

/// C7.
fn verify_stash(op: OpRef<'_>, index: usize, stash: &Tensor, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    let source = input(op)?;
    check_stashed(op, index)?;
    if source.dtype != stash.dtype {
        return Err(
            op.error("C7", format!("the stash holds `{}`, the stream is `{}`", stash.dtype, source.dtype))
        );
    }
    let mapping = |tensor: &Tensor| Expr::pair([tensor.dim(Dim::Time), tensor.dim(Dim::Packet)]);
    let regrouped = check_same(op, "C7", "packet", &mapping(stash), &mapping(&source), axes);
    if regrouped.is_ok() {
        return Ok(());
    }
    // Packets of which the upper lanes are padding, or have been.
    let (stashed, now): (Expr, Expr) = (stash.dim(Dim::Packet), source.dim(Dim::Packet));
    let (Ok(stashed_lanes), Ok(lanes)) = (stashed.size(axes), now.size(axes)) else { return regrouped };
    let common = stashed_lanes.min(lanes);
    let live = |map: &Expr| plan::digits_of(map, axes).ok().and_then(|digits| digits.live_count());
    let lower = (stashed.resize(common), now.clone().resize(common));
    if live(&now).is_none() || live(&now) != live(&lower.1) {
        return regrouped;
    }
    check_same(op, "C7", "time", &stash.dim(Dim::Time), &source.dim(Dim::Time), axes)?;
    check_same(op, "C7", "packet", &lower.0, &lower.1, axes)
}

/// The operation on each element; where no guard holds for its execution id, the element itself.
fn raised(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (row, Arguments { mode, constants, guards, write_back, .. }) = configuration(op)?;
    let to = result(op)?;
    let stream = cx.held(op, 0, &to)?;
    let ids = cx.ids(op, 0);
    if let Some(write_back) = write_back {
        return running(cx, op, (row, mode, constants), (guards, write_back));
    }
    let values = (1..op.operands().len()).map(|index| value_of(cx, op, index, &to));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    let applied = Applied { row, mode, constants, guards: guards.as_ref() };
    let known = applied.apply(cx, op, &stream, &values, ids.as_deref())?;
    cx.bind(op, known)
}

/// An operation whose results replace elements of the register file that later packets read.
fn running(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    (row, mode, constants): (&'static AluOp, ArgMode, [Option<Bits>; 2]),
    (guards, write_back): (Option<Guards<Bits>>, Guards<Bits>),
) -> Result<(), Diagnostic> {
    let to = result(op)?;
    cx.depends_on_open(op, &[Dim::Slice, Dim::Time, Dim::Packet]);
    let file = operand(op, 1).ok_or_else(|| op.error("C0", "there is no register file"))?;
    let (stream, state) = (cx.held(op, 0, &to)?, cx.held(op, 1, &to)?);
    let applies = |id: u8| guards.as_ref().is_none_or(|guards| guards.slot(id).is_some());
    let entry = |id: u8| Bits::from(applies(id)) | Bits::from(write_back.slot(id).is_some()) << 1;
    let modes = match cx.ids(op, 0) {
        Some(ids) => by_id(cx, op, &ids, entry)?,
        None => constant(cx, op, DType::I32, entry(0))?,
    };
    let term = scanned(op, row, mode, constants)?;
    let expression = Expression { names: vec!["x".into(), "s".into()], term };
    let keys = file.axis_names(cx.axes);
    let dims = |dims: &[Dim]| Expr::pair(dims.iter().map(|&dim| to.dim(dim)));
    let spec = Scan::build(op, [stream.value, state.value, modes.value])
        .expression(expression)
        .outer(Rc::new(dims(&[Dim::Chip, Dim::Cluster, Dim::Slice])))
        .steps(Rc::new(to.dim(Dim::Time)))
        .within(Rc::new(to.dim(Dim::Packet)))
        .keys(Expr::pair(keys.iter().map(|name| Expr::axis(name))))
        .spec();
    let known = cx.emit(spec, BTreeMap::new())?;
    cx.bind(op, known)
}

/// The operation as an expression of the element and of the state.
fn scanned(
    op: OpRef<'_>,
    row: &AluOp,
    mode: ArgMode,
    constants: [Option<Bits>; 2],
) -> Result<Term, Diagnostic> {
    let operand = |constant: Option<Bits>| match constant {
        Some(bits) => Term::Number(to_f64(row.from, bits)),
        None => Term::Name(1),
    };
    let argument = |arg: &Arg| match arg {
        Arg::Stream => Term::Name(0),
        Arg::Operand0 => operand(constants[0]),
        Arg::Operand1 => operand(constants[1]),
    };
    let function = FUNCTIONS.iter().find(|function| function.operations.contains(&row.name));
    let function = function.ok_or_else(|| op.error("C1", format!("`{}` is no function", row.name)))?;
    Ok(Term::Call(function.name.into(), mode.args().iter().map(argument).collect()))
}

fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (row, Arguments { mode, constants, guards, write_back, .. }) = configuration(op)?;
    let stage = AluStage::of(row.stage).ok_or_else(|| op.error("C1", "no stage with ALUs"))?;
    let values: Vec<_> = (1..op.operands().len()).filter_map(|index| operand(op, index)).collect();
    let streams = [0, 1].map(|at| values.get(at).is_some_and(|value| value.kind.stream));
    let mode = Some(mode).filter(|&mode| mode != default_mode(row.apply.arity()));
    let [constant, constant1] = constants.map(|bits| bits.map(|bits| i64::from(bits.cast_signed())));
    let signed = |guards: Option<Guards<Bits>>| {
        guards.map(|guards| guards.try_map(|bits| Ok::<_, Diagnostic>(bits.cast_signed()))).transpose()
    };
    let (when, write_back) = (signed(guards)?, signed(write_back)?);
    if values.iter().all(|value| value.kind.stream) {
        let lowered = hw::vector::Vector::build(op)
            .op(row.name)
            .stage_unless_default(stage)
            .mode(mode)
            .constant(constant)
            .constant1(constant1)
            .when(when)
            .write_back(write_back)
            .stash(streams[0])
            .stash1(streams[1]);
        return Ok(Some(lowered.spec()));
    }
    let loops = |at: usize| {
        let file = values.get(at).is_some_and(|value| !value.kind.stream);
        file.then(|| register_loops(cx, op, at + 1)).transpose()
    };
    let lowered = stages::Vector::build(op)
        .op(row.name.word())
        .stage_unless_default(stage)
        .mode(mode)
        .constant(constant)
        .constant1(constant1)
        .when(when)
        .write_back(write_back)
        .loops(loops(0)?)
        .stash(streams[0])
        .loops1(loops(1)?)
        .stash1(streams[1]);
    Ok(Some(lowered.spec()))
}

/// The loops in which operand `index` is read from the vector register file.
pub(crate) fn register_loops(cx: &StageCx<'_>, op: OpRef<'_>, index: usize) -> Result<Program, Diagnostic> {
    let reads = cx.plan::<RegisterReads>(op)?;
    let plan = reads.of(index).ok_or_else(|| op.error("C0", "no register file"))?;
    let base = address::in_elements(cx, op, view::operand(&op, index, "register file")?)?;
    accessed(cx, op, (plan, base), DType::I32, Accessor::Vector)
}
