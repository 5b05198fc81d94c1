//! From the IR to plain data.

use crate::ops::{dma, dma_indexed, exec, program};
use crate::program::{Command, CommandKind, Program};
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, nearest};
use visa_ir::level::Level;
use visa_ir::module::{Module, OpRef};
use visa_ir::span::Span;

/// The program called `entry` of a module, or its only one.
///
/// # Errors
/// An operation that is not hw (it says which pass lowers it), no program, several and no `entry`, an unknown
/// `entry`, or whatever an operation's verifier refuses.
pub fn compile(ctx: &Context, module: &Module, entry: Option<&str>) -> Result<Program, Vec<Diagnostic>> {
    let ops: Vec<_> = module.ops(module.body()).iter().map(|&id| module.op(ctx, id)).collect();
    let foreign: Vec<_> = ops.iter().filter(|op| !op.is(&program::PROGRAM)).map(|&op| not_hw(op)).collect();
    if !foreign.is_empty() {
        return Err(foreign);
    }
    build(select(&ops, entry).map_err(|error| vec![error])?)
}

fn not_hw(op: OpRef<'_>) -> Diagnostic {
    let pass = match op.level() {
        Level::Tensor => "`--lower-to-seq` and then `--lower-to-hw`",
        Level::Sequencer => "`--lower-to-hw`",
        Level::Hardware | Level::Any => "a pass of its dialect",
    };
    let message = format!("`{op}` is not hw, and only hw runs");
    Diagnostic::error("not-hw", op.span(), message).fix(format!("lower it with {pass}"))
}

fn select<'a>(ops: &[OpRef<'a>], entry: Option<&str>) -> Result<OpRef<'a>, Diagnostic> {
    let named = ops.iter().map(|&op| Ok((program::Program::of(op)?.name()?, op)));
    let named = named.collect::<Result<Vec<_>, Diagnostic>>()?;
    let names: Vec<_> = named.iter().map(|(name, _)| &**name).collect();
    let listed = format!("`{}`", names.join("`, `"));
    let error = |span, message| Err(Diagnostic::error("entry", span, message));
    match (entry, named.as_slice()) {
        (_, []) => error(Span::default(), "the module has no `hw.program`".to_owned()),
        (None, [(_, only)]) => Ok(*only),
        (None, [(_, first), ..]) => {
            error(first.span(), format!("the module has several programs, choose an entry: {listed}"))
        }
        (Some(entry), _) => match named.iter().find(|(name, _)| **name == *entry) {
            Some(&(_, op)) => Ok(op),
            None => {
                let near =
                    nearest(entry, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
                let message = format!("there is no program `{entry}`; there are {listed}");
                Err(Diagnostic::error("entry", named[0].1.span(), message).fix(near))
            }
        },
    }
}

fn build(op: OpRef<'_>) -> Result<Program, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let (mut buffers, mut commands) = (Vec::new(), Vec::new());
    for &id in op.regions().first().into_iter().flat_map(|&block| op.module.ops(block)) {
        let inner = op.other(id);
        let mut command = |kind| commands.push(Command { span: inner.span(), kind });
        let read = if inner.is(&program::BUFFER) {
            program::read(inner).map(|buffer| buffers.push(buffer))
        } else if inner.is(&dma::DMA) {
            dma::read(inner).map(CommandKind::Dma).map(&mut command)
        } else if inner.is(&dma_indexed::DMA_INDEXED) {
            dma_indexed::read(inner).map(CommandKind::Indexed).map(&mut command)
        } else if inner.is(&exec::EXEC) {
            exec::read(inner).map(CommandKind::Exec).map(&mut command)
        } else {
            Err(not_hw(inner))
        };
        errors.extend(read.err());
    }
    // Stable: arguments and results keep their own order.
    buffers.sort_by_key(|buffer| !buffer.argument);
    let entry = program::chips(op).and_then(|chips| Ok((program::Program::of(op)?.name()?, chips)));
    match entry {
        Ok((name, chips)) if errors.is_empty() => {
            Ok(Program { name: name.to_string(), chips, buffers, commands })
        }
        entry => {
            errors.splice(0..0, entry.err());
            Err(errors)
        }
    }
}
