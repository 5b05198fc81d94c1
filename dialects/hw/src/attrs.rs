//! The bodies of hw clauses: number formats, sequencer programs, lookup tables.

pub use crate::snoop::SNOOP;
pub use crate::valid_count::{COUNTERS, GATES};
use std::rc::Rc;
use visa_ir::decl::{Body, BodyDef, BodyError};
use visa_loops::{EngineTable, Mask, PairedProgram, Program, SeqError};
use visa_numerics::{DType, LookupTable};
pub use visa_sequencer::{COMPARISONS, GUARDS, STEPS};

/// `#hw.dtype<bf16>`: a [`DType`].
pub static DTYPE: BodyDef = BodyDef {
    name: "hw.dtype",
    syntax: "i4 | i5 | i8 | i9 | i16 | i32 | u8 | f4e2m1 | f8e4m3 | f8e5m2 | f16 | bf16 | f32",
    doc: "A number format.",
    parse: parse_dtype,
    ..BodyDef::BASE
};

/// `#hw.program<[128 : 32, 32 : 1] : 32 @ 0>`: a [`Program`].
pub static PROGRAM: BodyDef = BodyDef {
    name: "hw.program",
    syntax: "[LIMIT : STRIDE, LIMIT : (OFFSET, ...), ...] : PACKET @ BASE",
    doc: "A sequencer program (book 07): nested loops, outermost first, with the distance in bytes between two \
          iterations, or the offset in bytes of each; the bytes of one access; the first address in bytes (0 if \
          left out).",
    parse: parse_program::<Program>,
    ..BodyDef::BASE
};

/// `#hw.paired<[256 : 4096 -> 524288, 4096 : 1 -> 1] : 4096 @ 0 -> 0>`: a [`PairedProgram`].
pub static PAIRED: BodyDef = BodyDef {
    name: "hw.paired",
    syntax: "[LIMIT : READ -> WRITE, ...] : PACKET @ READ -> WRITE",
    doc: "A sequencer program with a read and a write side that iterate together; either may have an offset table \
          (book 07, 10).",
    parse: parse_program::<PairedProgram>,
    ..BodyDef::BASE
};

/// `#hw.engines<[0..3 : [3 : 8 -> 8, 8 : 1 -> 1] : 8, 3 : [8 : 1 -> 1] : 8 @ 24 -> 24]>`: an [`EngineTable`].
pub static ENGINES: BodyDef = BodyDef {
    name: "hw.engines",
    syntax: "[ENGINE : LOOPS, FIRST..END : LOOPS, ...]",
    doc: "The work of each engine of a DMA (book 10): paired loops for an engine, or for all engines from FIRST to \
          before END, whose outermost loops count them. An engine that comes several times runs one after the \
          other.",
    parse: parse_program::<EngineTable>,
    ..BodyDef::BASE
};

/// `#hw.table<i8 [0x00, 0x02]>`: a [`LookupTable`].
pub static TABLE: BodyDef = BodyDef {
    name: "hw.table",
    syntax: "DTYPE [BITS, ...]",
    doc: "A lookup table of the Fetch Adapter (book 08): the format of its entries and their bit patterns, from \
          index 0 on.",
    parse: |text| {
        let table = text.parse::<LookupTable>().map_err(|why| BodyError::new("table-text", why))?;
        Ok(Rc::new(table) as Rc<dyn Body>)
    },
    ..BodyDef::BASE
};

/// `#hw.mask<[dim 1, left 2, valid [28]]>`: a [`Mask`].
pub static MASK: BodyDef = BodyDef {
    name: "hw.mask",
    syntax: "[dim ENTRY, left COUNT, by ENTRY, valid [COUNT, ...], value BITS]",
    doc: "Which elements the fetch adapter replaces by `value` (bits of the format in data memory, 0 if left out; \
          book 08). In the first iteration of loop `dim`, the first `left` elements of the innermost loop; in its \
          last iteration, those from the valid count on. There is one count, or one for each iteration of loop \
          `by`. Loops count from the outermost; the innermost is the one over elements: where the innermost entry \
          is an element's bytes, the one above it.",
    parse: parse_program::<Mask>,
    ..BodyDef::BASE
};

/// Every attribute of the dialect.
pub(crate) static ATTRS: &[&BodyDef] =
    &[&DTYPE, &PROGRAM, &PAIRED, &ENGINES, &MASK, &SNOOP, &TABLE, &COUNTERS, &GATES];

fn parse_dtype(text: &str) -> Result<Rc<dyn Body>, BodyError> {
    let name = text.trim();
    let dtype = DType::parse(name)
        .ok_or_else(|| BodyError::unknown("unknown-dtype", "format", name, DType::names()))?;
    Ok(Rc::new(dtype))
}

fn parse_program<P: Body + std::str::FromStr<Err = SeqError>>(text: &str) -> Result<Rc<dyn Body>, BodyError> {
    text.parse::<P>().map(|program| Rc::new(program) as Rc<dyn Body>).map_err(|error| BodyError {
        code: error.code.into(),
        message: error.message,
        range: error.range,
        fix: error.fix,
    })
}
