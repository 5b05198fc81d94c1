//! Loads of look-up tables. A calibrated machine loads a table before the pass that looks it up: by a transfer, which
//! waits in the queue of transfers, and by a run. The transfer is a hidden task ([`crate::hidden`]).

use crate::price::Time;
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

    /// The transfer of the table that the command at a position looks up.
    pub(crate) fn transfer(&self, span: Span) -> Option<Time> {
        self.transfers.get(&span).copied()
    }
}
