//! From the IR to plain data.

use crate::ops::{control, dma, dma_indexed, exec, launch, program, scalar};
use crate::program::{Buffer, Command, CommandKind, Loop, Program, Scalar};
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, nearest};
use visa_ir::level::Level;
use visa_ir::module::{BlockId, Module, OpRef};
use visa_ir::span::Span;

/// The program called `entry` of a module, or its only one.
///
/// # Errors
/// An operation that is not hw (the message names the pass that lowers it), no program, several and no `entry`, an
/// unknown `entry`, or an error of an operation's verifier.
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
        Level::Tensor => "a plan, which puts values into memories",
        Level::Memory => "`--lower-to-seq` and then `--lower-to-hw`",
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
        (_, []) => {
            let message =
                "the input has no kernel: expected a function (`tm.func`), or `hw.program` in hw text";
            let fix = "write `tm.func @NAME(%x: !tm.hbm<...>) at [0], chips 1 { ... }`";
            Err(Diagnostic::error("entry", Span::default(), message).fix(fix.to_owned()))
        }
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
    let mut built = Built::default();
    let commands = op.regions().first().map_or_else(Vec::new, |&block| built.block(op, block));
    let Built { mut buffers, scalars, mut errors } = built;
    // Stable: arguments and results keep their own order.
    buffers.sort_by_key(|buffer| !buffer.argument);
    let entry = || Ok((program::Program::of(op)?.name()?, program::chips(op)?, program::pes(op)?));
    match entry() {
        Ok((name, chips, pes)) if errors.is_empty() => {
            Ok(Program { name: name.to_string(), chips, pes, buffers, scalars, commands })
        }
        entry => {
            errors.splice(0..0, entry.err());
            Err(errors)
        }
    }
}

/// The declarations of a program in addition to its commands, and its errors.
#[derive(Default)]
struct Built {
    buffers: Vec<Buffer>,
    scalars: Vec<Scalar>,
    errors: Vec<Diagnostic>,
}

impl Built {
    /// The commands of a block.
    fn block(&mut self, around: OpRef<'_>, block: BlockId) -> Vec<Command> {
        let mut commands = Vec::new();
        for &id in around.module.ops(block) {
            let op = around.other(id);
            if op.is(&control::IF) {
                commands.extend(op.regions().iter().flat_map(|&block| self.block(op, block)));
                continue;
            }
            match self.command(op) {
                Ok(kind) => commands.extend(kind.map(|kind| self.guarded(op, kind))),
                Err(error) => self.errors.push(error),
            }
        }
        commands
    }

    /// The command that an operation is, where the branches around it let it run.
    fn guarded(&mut self, op: OpRef<'_>, kind: CommandKind) -> Command {
        let branches = op.ancestors().filter_map(control::If::cast);
        let when: Result<Vec<_>, _> = branches.map(control::condition).collect();
        let when = when.unwrap_or_else(|error| {
            self.errors.push(error);
            Vec::new()
        });
        let name = op.location_name().map(|name| name.to_string());
        Command { name, when, ..Command::new(op.span(), kind) }
    }

    /// The command that an operation is; `None` if it declares an argument or a result of the program.
    fn command(&mut self, op: OpRef<'_>) -> Result<Option<CommandKind>, Diagnostic> {
        if let Some(repeat) = control::For::cast(op) {
            let times = control::times(repeat)?;
            let body = op.regions().first().map_or_else(Vec::new, |&block| self.block(op, block));
            Ok(Some(CommandKind::Loop(Loop { times, body })))
        } else if let Some(launch) = launch::Launch::cast(op) {
            Ok(Some(CommandKind::Launch(launch.kernel()?.to_string())))
        } else if op.is(&program::BUFFER) {
            program::read(op).map(|buffer| self.buffers.push(buffer)).map(|()| None)
        } else if op.is(&scalar::SCALAR) {
            scalar::read(op).map(|scalar| self.scalars.push(scalar)).map(|()| None)
        } else if op.is(&dma::DMA) {
            dma::read(op).map(CommandKind::Dma).map(Some)
        } else if op.is(&dma_indexed::DMA_INDEXED) {
            dma_indexed::read(op).map(CommandKind::Indexed).map(Some)
        } else if op.is(&exec::EXEC) {
            exec::read(op).map(CommandKind::Exec).map(Some)
        } else {
            Err(not_hw(op))
        }
    }
}
