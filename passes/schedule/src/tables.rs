//! Loads of look-up tables. A calibrated machine loads a table before the pass that looks it up: by a transfer, which
//! waits in the queue of transfers, and by a run. No operation stands for the transfer, so it is a task without a
//! command. Here it is right before its pass, as in loops; outside of loops it may come earlier, which the report
//! counts.

use crate::price::Time;
use crate::tasks::{Task, Tasks};
use std::collections::HashMap;
use visa_cost::Report;
use visa_ir::span::Span;

/// Times of commands and of the transfers of their tables, by position.
pub(crate) struct TableTimes {
    /// The commands. A pass that looks up a table includes the run that stores it.
    pub(crate) commands: HashMap<Span, Time>,
    /// The transfers.
    transfers: HashMap<Span, Time>,
}

impl TableTimes {
    /// The times of a report, with `commands` as those without tables. `None` if no table is loaded: then no transfer
    /// is at the position of a pass.
    pub(crate) fn of(report: &Report, commands: &HashMap<Span, Time>) -> Option<Self> {
        let mut found = Self { commands: commands.clone(), transfers: HashMap::new() };
        let (transfers, passes): (Vec<_>, Vec<_>) =
            report.commands.iter().partition(|command| command.queues.are_dma());
        for transfer in transfers {
            let own = || passes.iter().filter(|pass| pass.span == transfer.span);
            let Some(first) = own().next() else { continue };
            let cycles = own().map(|pass| pass.alone).fold(0, u64::saturating_add);
            found.commands.insert(transfer.span, Time { queues: first.queues, cycles });
            let time = Time { queues: transfer.queues, cycles: transfer.alone };
            found.transfers.insert(transfer.span, time);
        }
        (!found.transfers.is_empty()).then_some(found)
    }

    /// The tasks of commands at these positions, each transfer of a table before its pass.
    pub(crate) fn tasks(&self, tasks: &Tasks, spans: &[Span]) -> WithTables {
        let (mut all, mut commands, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (task, span)) in tasks.0.iter().zip(spans).enumerate() {
            let mut after: Vec<usize> = task.after.iter().map(|&before: &usize| numbers[before]).collect();
            if let Some(transfer) = self.transfers.get(span) {
                after.push(all.len());
                all.push(Task { cycles: transfer.cycles, uses: transfer.queues, after: Vec::new() });
                commands.push(None);
            }
            numbers.push(all.len());
            all.push(Task { after, ..task.clone() });
            commands.push(Some(number));
        }
        WithTables { tasks: Tasks(all), commands }
    }
}

/// Tasks of commands and of the transfers of their tables.
pub(crate) struct WithTables {
    pub(crate) tasks: Tasks,
    /// The command of each task; `None` for a transfer of a table, whose pass is the next task.
    commands: Vec<Option<usize>>,
}

impl WithTables {
    /// The commands in the order of their tasks. A pass follows the transfer of its table as soon as its predecessors
    /// are there: the transfer has the pass's position in the queue.
    pub(crate) fn order(&self, order: &[usize]) -> Vec<usize> {
        let mut done = vec![false; self.tasks.0.len()];
        let (mut waiting, mut found): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for &task in order {
            match self.commands[task] {
                None => {
                    done[task] = true;
                    waiting.push(task + 1);
                }
                Some(command) if !done[task] => {
                    done[task] = true;
                    waiting.retain(|&other| other != task);
                    found.push(command);
                }
                Some(_) => {}
            }
            while let Some(at) = waiting.iter().position(|&pass| self.is_ready(pass, &done)) {
                let pass = waiting.remove(at);
                done[pass] = true;
                found.extend(self.commands[pass]);
            }
        }
        found
    }

    fn is_ready(&self, task: usize, done: &[bool]) -> bool {
        self.tasks.0[task].after.iter().all(|&before| done[before])
    }
}
