//! Commands whose effects stay in their slices. A slice runs consecutive ones one after the other, while its memories
//! are in the processor's cache; memory that they share, HBM, they only read.

use rayon::prelude::*;
use visa_engine::{SliceMemory, Space};
use visa_hw::program::{Command, CommandKind, Exec};

use crate::dma;
use crate::error::RunError;
use crate::exec::{self, ExecCx, Growth};
use crate::memory::{Memories, PagedMemory, Scatter};

/// The work of a slice in a command.
enum SliceWork<'a> {
    Scatter(Scatter),
    Exec(&'a Exec, ExecCx<'a>),
}

/// Commands that were reserved for, ready to run.
pub(crate) struct Group<'a> {
    work: Vec<SliceWork<'a>>,
    /// Operations of them.
    pub(crate) ops: u32,
}

impl<'a> Group<'a> {
    /// The first commands that keep to their slices, as many as there are, `cx` being that of the first. In shadow
    /// mode it is one at most: marks are made in program order.
    pub(crate) fn of(
        commands: &'a [Command],
        memories: &mut Memories,
        cx: ExecCx<'a>,
    ) -> Result<Self, RunError> {
        let mut group = Self { work: Vec::new(), ops: 0 };
        let mut growth = Growth::default();
        for command in commands.iter().take_while(|command| command.runs_in(cx.indices)) {
            let cx = ExecCx { first_op: cx.first_op + group.ops, ..cx };
            // An error of a later command is its own: it comes when that command is the first.
            match work(&command.kind, memories, cx, &mut growth) {
                Ok(Some((work, ops))) => {
                    group.work.push(work);
                    group.ops += ops;
                }
                Err(error) if group.work.is_empty() => return Err(error),
                Ok(None) | Err(_) => break,
            }
            if cx.log.is_some() {
                break;
            }
        }
        Ok(group)
    }

    /// Commands of the group.
    pub(crate) fn commands(&self) -> usize {
        self.work.len()
    }

    /// Runs the commands on every chip.
    pub(crate) fn run(&self, memories: &mut Memories) {
        let Memories { hbm, chips, .. } = memories;
        let hbm = &*hbm;
        for (chip, slices) in chips.iter_mut().enumerate() {
            slices.par_iter_mut().enumerate().for_each(|(slice, memory)| {
                self.work.iter().for_each(|work| work.run(hbm, chip, slice, memory));
            });
        }
    }
}

impl SliceWork<'_> {
    fn run(&self, hbm: &PagedMemory, chip: usize, slice: usize, memory: &mut SliceMemory) {
        match self {
            Self::Scatter(scatter) => scatter.run(hbm, chip, slice, memory),
            Self::Exec(exec, cx) => exec::run_slice(exec, slice, memory, ExecCx { chip, ..*cx }),
        }
    }
}

/// A command as the work of each slice and the number of its operations; `None` if slices need each other.
fn work<'a>(
    kind: &'a CommandKind,
    memories: &mut Memories,
    cx: ExecCx<'a>,
    growth: &mut Growth,
) -> Result<Option<(SliceWork<'a>, u32)>, RunError> {
    match kind {
        CommandKind::Exec(exec) if !exec::exchanges(exec) => {
            exec::reserve(exec, memories, (cx.machine, cx.indices), growth)?;
            Ok(Some((SliceWork::Exec(exec, cx), exec.stages.len() as u32)))
        }
        CommandKind::Dma(dma) if cx.log.is_none() => {
            let Some(scatter) = dma::by_slices(&dma.at(cx.indices), memories)? else { return Ok(None) };
            let ends = scatter.parts.iter().enumerate();
            let reaches: Vec<_> = ends.map(|(slice, part)| ((Space::DM, slice), part.end)).collect();
            growth.take(memories, &reaches, 0)?;
            Ok(Some((SliceWork::Scatter(scatter), 1)))
        }
        CommandKind::Exec(_)
        | CommandKind::Dma(_)
        | CommandKind::Indexed(_)
        | CommandKind::Launch(_)
        | CommandKind::Loop(_) => Ok(None),
    }
}
