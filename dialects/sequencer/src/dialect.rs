//! The seq dialect: the operations of a pipeline that a sequencer drives, as nested loops over elements.

use std::rc::Rc;
use std::str::FromStr;
use visa_ir::decl::{Body, BodyDef, BodyError, Dialect};
use visa_loops::{EngineTable, Mask, PairedProgram, Program, Segments, SeqError, Steps};
use visa_numerics::{Comparisons, DType, Guards, LookupTable};

/// `#seq.program<[8 : 32, 16 : 1] : 16 @ 0>`.
pub static PROGRAM: BodyDef = BodyDef {
    name: "seq.program",
    syntax: "[LIMIT : STRIDE, LIMIT : (OFFSET, ...), ...] : PACKET @ BASE",
    doc: "Nested loops, outermost first, with the distance in elements between two iterations, or for an indirect \
          loop the offset in elements of each; the elements of a packet; the first address in elements (0 if left \
          out) (book 07).",
    parse: parse::<Program>,
    ..BodyDef::BASE
};

/// `#seq.paired<[256 : 4096 -> 524288, 4096 : 1 -> 1] : 1>`.
pub static PAIRED: BodyDef = BodyDef {
    name: "seq.paired",
    syntax: "[LIMIT : READ -> WRITE, ...] : PACKET @ READ -> WRITE",
    doc: "Nested loops that read and write together, in bytes; either side may have an offset table (book 07, \
          10).",
    parse: parse::<PairedProgram>,
    ..BodyDef::BASE
};

/// `#seq.segments<[256 : 4096 -> 524288, 4096 : 1 -> 1] : 1>`.
pub static SEGMENTS: BodyDef = BodyDef {
    name: "seq.segments",
    syntax: "[LIMIT : READ -> WRITE, ...] : PACKET @ READ -> WRITE, or a list of such: [LOOPS, LOOPS, ...]",
    doc: "Nested loops that read and write together, in elements; either side may have an offset table (book 07, \
          10). A transfer that no single loop nest can do has several segments.",
    parse: parse::<Segments>,
    ..BodyDef::BASE
};

/// `#seq.engines<[0..3 : [3 : 8 -> 8, 8 : 1 -> 1] : 8, 3 : [8 : 1 -> 1] : 8 @ 24 -> 24]>`.
pub static ENGINES: BodyDef = BodyDef {
    name: "seq.engines",
    syntax: "[ENGINE : LOOPS, FIRST..END : LOOPS, ...]",
    doc: "The loops of each engine of a DMA (book 10), in elements: loops for an engine, or for all engines from \
          FIRST to before END, whose outermost loops count them.",
    parse: parse::<EngineTable>,
    ..BodyDef::BASE
};

/// `#seq.steps<[512, (0, 4096)]>`.
pub static STEPS: BodyDef = BodyDef {
    name: "seq.steps",
    syntax: "[STEP, (OFFSET, ...), STEP + (OFFSET, ...), ...]",
    doc: "How far addresses move, in bytes: with each `hw.scalar` of the program, and then with each `hw.for` \
    around the command, the outermost first. A step is multiplied by the loop's index. Of offsets, as rotating \
    buffers have them, one is added in each iteration, and after the last the first again; there are at most 64.",
    parse: parse::<Steps>,
    ..BodyDef::BASE
};

/// `#seq.mask<[dim 1, left 2, valid [28]]>`.
pub static MASK: BodyDef = BodyDef {
    name: "seq.mask",
    syntax: "[dim ENTRY, left COUNT, by ENTRY, valid [COUNT, ...], value BITS]",
    doc: "Which elements of each run of the innermost loop are replaced by `value` (0 if left out), in elements \
          (book 08): in the first iteration of entry `dim` those before `left`, in its last one those from the \
          valid count on. There is one count, or one for each iteration of entry `by`. Entries count from the \
          outermost.",
    parse: parse::<Mask>,
    ..BodyDef::BASE
};

/// `#seq.dtype<bf16>`.
pub static DTYPE: BodyDef = BodyDef {
    name: "seq.dtype",
    syntax: "i4 | i5 | i8 | i9 | i16 | i32 | u8 | f4e2m1 | f8e4m3 | f8e5m2 | f16 | bf16 | f32",
    doc: "A number format.",
    parse: |text| {
        let text = text.trim();
        let dtype = DType::parse(text)
            .ok_or_else(|| BodyError::unknown("unknown-dtype", "format", text, DType::names()))?;
        Ok(Rc::new(dtype) as Rc<dyn Body>)
    },
    ..BodyDef::BASE
};

/// `#seq.table<i8 [0x00, 0x02]>`.
pub static TABLE: BodyDef = BodyDef {
    name: "seq.table",
    syntax: "DTYPE [BITS, ...]",
    doc: "A lookup table (book 08): the format of its entries and their bit patterns, from index 0 on.",
    parse: |text| {
        let table = text.parse::<LookupTable>().map_err(|why| BodyError::new("table-text", why))?;
        Ok(Rc::new(table) as Rc<dyn Body>)
    },
    ..BodyDef::BASE
};

/// `#seq.guards<[0xxx: 10, 1xxx: value]>`: [`Guards`] of i32.
pub static GUARDS: BodyDef = BodyDef {
    name: "seq.guards",
    syntax: "[GUARD, ...] or [GUARD: INTEGER, ..., GUARD: value]",
    doc: "The elements that an operation of the vector engine applies to, by the 4 bits of their execution id, bit \
          3 first; and the operand: a signed 32-bit integer, for a float its bit pattern, or the element that the \
          port reads (book 21).",
    parse: |text| {
        let guards = Guards::parse(text, signed).map_err(|why| BodyError::new("guards", why))?;
        Ok(Rc::new(guards) as Rc<dyn Body>)
    },
    ..BodyDef::BASE
};

/// `#seq.comparisons<[less 0, true]>`: [`Comparisons`] of i32.
pub static COMPARISONS: BodyDef = BodyDef {
    name: "seq.comparisons",
    syntax: "[less INTEGER, equal INTEGER, greater INTEGER, less_unsigned INTEGER, greater_unsigned INTEGER, \
             true, false]",
    doc: "The conditions that set the bits of an execution id, bit 0 first: comparisons with signed 32-bit \
          integers, for floats their bit patterns (book 21).",
    parse: |text| {
        let comparisons =
            Comparisons::parse(text, signed).map_err(|why| BodyError::new("comparisons", why))?;
        Ok(Rc::new(comparisons) as Rc<dyn Body>)
    },
    ..BodyDef::BASE
};

/// A register of 32 bits.
fn signed(text: &str) -> Option<i32> {
    text.parse().ok()
}

fn parse<P: Body + FromStr<Err = SeqError>>(text: &str) -> Result<Rc<dyn Body>, BodyError> {
    text.parse::<P>().map(|program| Rc::new(program) as Rc<dyn Body>).map_err(|error| BodyError {
        code: error.code.into(),
        message: error.message,
        range: error.range,
        fix: error.fix,
    })
}

/// The seq dialect.
pub static DIALECT: Dialect = Dialect {
    name: "seq",
    level: visa_ir::level::Level::Sequencer,
    doc: "Sequencer programs. An operation here is inside an `hw.program` or `hw.exec` and counts elements, while \
          its hw counterpart counts bytes: loops before they are merged, cut to the sizes of the machine and \
          checked against its limits. Axes are gone; addresses, limits and strides are left.",
    ops: crate::ops::OPS,
    types: &[],
    attrs: &[&PROGRAM, &PAIRED, &SEGMENTS, &ENGINES, &STEPS, &MASK, &DTYPE, &TABLE, &GUARDS, &COMPARISONS],
};
