//! `hw.program` and `hw.buffer`: an entry and the arrays that it is called with.

use crate::attrs::{DTYPE, PAIRED};
use crate::clauses::{Pes, at_least, machine};
use crate::memories::Memories;
use crate::ops::scalar::{SCALAR, Scalar};
use crate::program;
use std::collections::BTreeMap;
use std::rc::Rc;
use visa_engine::words::ProgramMemory;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::OpRef;
use visa_ir::words;
use visa_loops::PairedProgram;
use visa_machine::Machine;
use visa_machine::Medium;
use visa_numerics::DType;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&PROGRAM, &BUFFER];

words! {
    /// The role of a buffer of a program.
    pub enum Role {
        /// It goes in.
        Argument = "arg",
        /// It comes out.
        Result = "result",
    }
}

/// Most steps of a buffer's layout. Ours: it bounds the time to fill or read one.
pub const MAX_LAYOUT_STEPS: u64 = 1 << 36;

/// `hw.program`.
#[visa_ir::view(Program)]
pub static PROGRAM: OpDecl = OpDecl {
    name: "hw.program",
    summary: "an executable program",
    doc: "Buffers, then commands in program order (book 28). Every chip runs the same program in lockstep.",
    constraints: &[
        ("C1", "there are as many chips as a system can have (book 04)"),
        ("C2", "no two arguments have the same name, scalars among them, and no two results"),
        ("C3", "scalars are declared before commands"),
        ("C4", "there are as many processing elements as a device can have"),
    ],
    clauses: &[
        ClauseDecl::lead("name", ClauseKind::Symbol, "The entry's name."),
        ClauseDecl::required("chips", ClauseKind::Int, "Chips that run it."),
        ClauseDecl::optional(
            "pes",
            ClauseKind::Int,
            "Processing elements of a chip that run it; all if absent.",
        ),
    ],
    traits: &[Trait::TopLevel, Trait::Region],
    effects: Effects::Declares,
    interfaces: &[Interface(&Pes(|op| Program::of(op)?.pes()))],
    verify: Some(|op, _| {
        chips(op)?;
        pes(op)?;
        unique_names(op)?;
        scalars_first(op)
    }),
    example: "hw.program @copy, chips 1 {\n  hw.buffer \"in\", role arg, space hbm, dtype i8, shape [64], layout \
              [64 : 1 -> 1] : 1\n  hw.dma tensor, from hbm, to dm, loops [64 : 1 -> 1] : 64\n}",
    ..OpDecl::BASE
};

/// `hw.buffer`.
#[visa_ir::view(Buffer)]
pub static BUFFER: OpDecl = OpDecl {
    name: "hw.buffer",
    summary: "an argument or a result of a program",
    doc: "Where a C-order array is. The layout's read side is the element's number in the array, its write \
          side the byte address of the element in host memory or HBM, chips 2^40 bytes apart; the packet is one \
          element. For i4, of which two share a byte, the write side counts half bytes.",
    constraints: &[
        ("C1", "every extent of the shape is at least 1, and the array fits its memory"),
        ("C2", "the layout goes element by element (packet 1), within the array, in at most 2^36 steps"),
        ("C3", "every address is in the memory"),
        ("C4", "the layout has a step for every element"),
        ("C5", "the elements are not i5 or i9, whose sideband bit no memory holds (book 19)"),
    ],
    clauses: &[
        ClauseDecl::lead("name", ClauseKind::Str, "The name that data is given by."),
        ClauseDecl::required("role", ClauseKind::word::<Role>(), "Whether it goes in or comes out."),
        ClauseDecl::required("space", ClauseKind::word::<ProgramMemory>(), "The memory it is in."),
        ClauseDecl::required("dtype", ClauseKind::body::<DType>(&DTYPE), "Format of the elements."),
        ClauseDecl::required(
            "shape",
            ClauseKind::Ints,
            "Extents of the array, elements; empty for a scalar.",
        ),
        ClauseDecl::required(
            "layout",
            ClauseKind::body::<PairedProgram>(&PAIRED),
            "From element number to byte address.",
        ),
    ],
    traits: &[Trait::Inside("hw.program")],
    effects: Effects::Declares,
    verify: Some(|op, _| read(op).map(drop)),
    example: "hw.buffer \"matrix\", role arg, space hbm, dtype bf16, shape [256, 2048], layout [524288 : 1 -> 2] \
              : 1",
    ..OpDecl::BASE
};

/// The chips of a program.
pub(crate) fn chips(op: OpRef<'_>) -> Result<usize, Diagnostic> {
    let op = Program::of(op)?;
    let chips = at_least(*op, "C1", ("chips", op.chips()?), 1)?;
    let most = machine(*op).topology.max_chips;
    if chips > most {
        let message = format!("`chips` is {chips}, expected at most {most}");
        return Err(op.clause_error("C1", "chips", message));
    }
    Ok(chips as usize)
}

/// C4: the processing elements of a chip that run a program, if it specifies them.
pub(crate) fn pes(op: OpRef<'_>) -> Result<Option<u64>, Diagnostic> {
    let Some(pes) = Program::of(op)?.pes()? else { return Ok(None) };
    let device = op.ctx.data::<Machine>().device(pes);
    device.map_err(|why| op.clause_error("C4", "pes", why))?;
    Ok(u64::try_from(pes).ok())
}

/// The chips of the program that an operation is inside.
pub(crate) fn program_chips(op: OpRef<'_>) -> Result<u64, Diagnostic> {
    let message = || format!("`{op}` is not inside `{}`", PROGRAM.name);
    let program = op.ancestors().find(|op| op.is(&PROGRAM));
    chips(program.ok_or_else(|| Diagnostic::error("structure", op.span(), message()))?)
        .map(|chips| chips as u64)
}

/// C2 of the program.
fn unique_names(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let mut seen = BTreeMap::new();
    let block = op.regions().first();
    for &id in block.into_iter().flat_map(|&block| op.module.ops(block)) {
        let declared = op.other(id);
        let Some((role, name)) = named(declared) else { continue };
        if let Some(first) = seen.insert((role, name.clone()), declared.span()) {
            let kind = match role {
                Role::Argument => "arguments",
                Role::Result => "results",
            };
            let error = op.error("C2", format!("two {kind} are called \"{name}\""));
            return Err(Diagnostic { span: declared.span(), ..error }.note("the first is here", Some(first)));
        }
    }
    Ok(())
}

/// C3 of the program.
fn scalars_first(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let block = op.regions().first();
    let ops = block.into_iter().flat_map(|&block| op.module.ops(block)).map(|&id| op.other(id));
    let commands = ops.skip_while(|op| op.is(&BUFFER) || op.is(&SCALAR));
    match commands.into_iter().find(|op| op.is(&SCALAR)) {
        Some(late) => {
            let error = op.error("C3", "a scalar is declared after a command");
            Err(Diagnostic { span: late.span(), ..error })
        }
        None => Ok(()),
    }
}

/// The role and the name of a declaration in a program. An operation without a name reports that itself.
fn named(op: OpRef<'_>) -> Option<(Role, Rc<str>)> {
    if let Some(buffer) = Buffer::cast(op) {
        return Some((buffer.role().ok()?, buffer.name().ok()?));
    }
    Some((Role::Argument, Scalar::cast(op)?.name().ok()?))
}

/// The buffer that the operation describes.
pub(crate) fn read(op: OpRef<'_>) -> Result<program::Buffer, Diagnostic> {
    let op = Buffer::of(op)?;
    let machine = machine(*op);
    let dtype = *op.dtype()?;
    if !dtype.is_stored() {
        return Err(op.clause_error(
            "C5",
            "dtype",
            format!("{dtype} has a sideband bit, which no memory holds"),
        ));
    }
    let space = Medium::from(op.space()?).into();
    let shape = shape(op)?;
    let layout = op.layout()?;
    let elements = shape.iter().try_fold(1_u64, |product, &extent| product.checked_mul(extent));
    let Some(elements) = elements.filter(|&count| count <= MAX_LAYOUT_STEPS) else {
        let message = format!("an array of shape {shape:?} has more than {MAX_LAYOUT_STEPS} elements");
        return Err(op.clause_error("C1", "shape", message));
    };
    steps(*op, &layout, elements)?;
    let mut write = layout.write();
    // Each address is the first byte of an element.
    write.entries.push(visa_loops::Entry::new(dtype.align(), 1));
    let memories = Memories {
        op: *op,
        machine: &machine,
        chips: program_chips(*op)?,
        per_byte: 8 / u64::from(dtype.bits()).min(8),
    };
    memories.inside(&write, space).map_err(|message| op.clause_error("C3", "layout", message))?;
    let (argument, name) = (op.role()? == Role::Argument, op.name()?.to_string());
    Ok(program::Buffer { argument, name, space, dtype, shape, layout: (*layout).clone(), span: op.span() })
}

/// C1, first half.
fn shape(op: Buffer<'_>) -> Result<Vec<u64>, Diagnostic> {
    let extent = |&extent: &i64| u64::try_from(extent).ok().filter(|&extent| extent > 0).ok_or(extent);
    op.shape()?.iter().map(extent).collect::<Result<_, _>>().map_err(|extent| {
        op.clause_error("C1", "shape", format!("an extent is {extent}, expected at least 1"))
    })
}

/// C2 and C4 of the buffer.
fn steps(op: OpRef<'_>, layout: &PairedProgram, elements: u64) -> Result<(), Diagnostic> {
    let error = |constraint, message| Err(op.clause_error(constraint, "layout", message));
    if layout.packet != 1 {
        return error("C2", format!("the packet of the layout is {}, expected 1", layout.packet));
    }
    let Some(steps) = layout.steps().filter(|&steps| steps <= MAX_LAYOUT_STEPS) else {
        return error("C2", format!("`{layout}` has more than {MAX_LAYOUT_STEPS} steps"));
    };
    match layout.read_extent() {
        Ok((start, end)) if start >= 0 && end.cast_unsigned() <= elements => {}
        Ok((start, end)) => {
            return error("C2", format!("`{layout}` reads elements {start} to {end} of {elements}"));
        }
        Err(problem) => return error("C2", problem.message),
    }
    if steps < elements {
        return error(
            "C4",
            format!("`{layout}` has {} for {}", counted(steps, "step"), counted(elements, "element")),
        );
    }
    Ok(())
}
