//! `seq.fetch`, `seq.align`, `seq.vector`, `seq.vector_branch`, `seq.commit`: the engines that a sequencer drives.

use crate::dialect::{DTYPE, GUARDS, MASK, PROGRAM, STEPS, TABLE};
use visa_engine::place::{Station, rngd};
use visa_engine::words::RegionName;
use visa_ir::Word as _;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_loops::Mask;
use visa_loops::{Program, Steps};
use visa_numerics::DType;
use visa_numerics::Guards;
use visa_numerics::LookupTable;
use visa_numerics::VectorStage;
use visa_numerics::{AluStage, ArgMode};

/// `seq.fetch`.
#[visa_ir::view(Fetch)]
pub static FETCH: OpDecl = OpDecl {
    name: "seq.fetch",
    summary: "Reads data memory in nested loops.",
    doc: "The loops cover time and packet; the fetch delivers one packet at a time (book 07, 08).",
    clauses: &[
        ClauseDecl::lead("dtype", ClauseKind::body::<DType>(&DTYPE), "format in data memory"),
        ClauseDecl::optional(
            "mask",
            ClauseKind::body::<Mask>(&MASK),
            "elements that are masked; its entries stay apart from the others",
        ),
        ClauseDecl::optional(
            "table",
            ClauseKind::body::<LookupTable>(&TABLE),
            "look-up table of each element, as in `hw.fetch`",
        ),
        ClauseDecl::optional("to", ClauseKind::body::<DType>(&DTYPE), "format to convert to"),
        ClauseDecl::optional("zero", ClauseKind::Ints, "zero points, as `hw.fetch` has them"),
        ClauseDecl::required("loops", ClauseKind::body::<Program>(&PROGRAM), "addresses in elements"),
        ClauseDecl::optional(
            "starts",
            ClauseKind::body::<Program>(&PROGRAM),
            "how many elements past the base each slice starts, as `hw.fetch` has it",
        ),
        ClauseDecl::optional(
            "steps",
            ClauseKind::body::<Steps>(&STEPS),
            "how far all addresses move with each `hw.for` around the run, the outermost first, in bytes",
        ),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Memory("dm")), writes(Target::Stream)]),
    example: "seq.fetch bf16, loops [64 : 32, 32 : 1] : 32",
    interfaces: &[Interface(&rngd::FETCH)],
    ..OpDecl::BASE
};

/// `seq.align`.
#[visa_ir::view(Align)]
pub static ALIGN: OpDecl = OpDecl {
    name: "seq.align",
    summary: "Reads the tensor register file in nested loops, in parallel with the stream.",
    doc: "The packet is the contiguous part that is read in a cycle (`reg_read_size`, book 18).",
    clauses: &[
        ClauseDecl::lead("dtype", ClauseKind::body::<DType>(&DTYPE), "format of both operands"),
        ClauseDecl::required("region", ClauseKind::word::<RegionName>(), "which part of the register file"),
        ClauseDecl::required("flits", ClauseKind::Int, "flits collected into a packet"),
        ClauseDecl::optional(
            "shifts",
            ClauseKind::Int,
            "packets that are made of the flits after the first one (shift-reuse)",
        ),
        ClauseDecl::optional("distance", ClauseKind::Int, "elements from one of them to the next"),
        ClauseDecl::required("repeat", ClauseKind::Int, "how often each packet is repeated"),
        ClauseDecl::required("rows", ClauseKind::Int, "rows that compute"),
        ClauseDecl::required(
            "loops",
            ClauseKind::body::<Program>(&PROGRAM),
            "addresses within a row, in elements",
        ),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), reads(Target::Memory("trf")), writes(Target::Stream)]),
    example: "seq.align bf16, region full, flits 2, repeat 1, rows 1, loops [64 : 32, 32 : 1] : 32",
    interfaces: &[Interface(&rngd::ALIGN)],
    ..OpDecl::BASE
};

/// `seq.vector`.
#[visa_ir::view(Vector)]
pub static VECTOR: OpDecl = OpDecl {
    name: "seq.vector",
    summary: "An elementwise operation of which an operand is read from the vector register file in nested loops.",
    doc: "The packet is the elements of the stream's packet, 8 or 4 (book 21). Of two values each is read in \
          loops or from the stash.",
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::Str, "the operation"),
        ClauseDecl::default("stage", ClauseKind::word::<AluStage>(), "fxp", "the stage that holds the ALU"),
        ClauseDecl::optional("mode", ClauseKind::word::<ArgMode>(), "the arguments, as `hw.vector` has it"),
        ClauseDecl::optional("constant", ClauseKind::Int, "operand 0, as `hw.vector` has it"),
        ClauseDecl::optional("constant1", ClauseKind::Int, "operand 1, as `hw.vector` has it"),
        ClauseDecl::optional(
            "when",
            ClauseKind::body::<Guards<i32>>(&GUARDS),
            "where it applies, as `hw.vector` has it",
        ),
        ClauseDecl::optional(
            "write_back",
            ClauseKind::body::<Guards<i32>>(&GUARDS),
            "where the result goes to the register file, as `hw.vector` has it",
        ),
        ClauseDecl::optional(
            "loops",
            ClauseKind::body::<Program>(&PROGRAM),
            "the first value: addresses in elements of 32 bits",
        ),
        ClauseDecl::optional(
            "loops1",
            ClauseKind::body::<Program>(&PROGRAM),
            "the second value: addresses in elements of 32 bits",
        ),
        ClauseDecl::optional("stash", ClauseKind::Flag, "the first value is the stash"),
        ClauseDecl::optional("stash1", ClauseKind::Flag, "the second value is the stash"),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[
        reads(Target::Stream),
        reads(Target::Memory("vrf")).with("loops"),
        reads(Target::Memory("vrf")).with("loops1"),
        writes(Target::Memory("vrf")).with("write_back"),
        writes(Target::Stream),
    ]),
    example: "seq.vector MulInt, loops [8 : 1] : 8",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Station::Word("stage", |word| AluStage::from_word(word).map(AluStage::stage))),
    ],
    ..OpDecl::BASE
};

/// `seq.vector_branch`.
#[visa_ir::view(VectorBranch)]
pub static VECTOR_BRANCH: OpDecl = OpDecl {
    name: "seq.vector_branch",
    summary: "Reads the execution ids of the stream from the vector register file in nested loops.",
    doc: "The packet is the elements of the stream's packet (book 21).",
    clauses: &[ClauseDecl::required(
        "loops",
        ClauseKind::body::<Program>(&PROGRAM),
        "addresses in elements of 32 bits",
    )],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), reads(Target::Memory("vrf")), writes(Target::Stream)]),
    example: "seq.vector_branch loops [8 : 1] : 8",
    interfaces: &[Interface(&rngd::VECTOR), Interface(&Station::At(VectorStage::Branch))],
    ..OpDecl::BASE
};

/// `seq.commit`.
#[visa_ir::view(Commit)]
pub static COMMIT: OpDecl = OpDecl {
    name: "seq.commit",
    summary: "Writes data memory in nested loops.",
    doc: "The packet is the stored part of each flit (book 09).",
    clauses: &[
        ClauseDecl::lead("dtype", ClauseKind::body::<DType>(&DTYPE), "format of the stream"),
        ClauseDecl::required("loops", ClauseKind::body::<Program>(&PROGRAM), "addresses in elements"),
        ClauseDecl::optional("slices", ClauseKind::Ints, "slices that are written, as `hw.commit` has them"),
        ClauseDecl::optional(
            "steps",
            ClauseKind::body::<Steps>(&STEPS),
            "how addresses move in bytes, as `hw.commit` has it",
        ),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Memory("dm"))]),
    example: "seq.commit bf16, loops [32 : 32, 4 : 8, 8 : 1] : 8",
    interfaces: &[Interface(&rngd::COMMIT)],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&FETCH, &ALIGN, &VECTOR, &VECTOR_BRANCH, &COMMIT];
