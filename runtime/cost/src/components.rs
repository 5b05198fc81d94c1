//! The parts of a program's cycles by the work of its commands, to compare two programs; and the resource that binds.

use crate::report::{CommandReport, Report, Resource};
use visa_ir::diag::counted;
use visa_machine::Medium;

/// Cycles of a program by the work of its commands. A command in a loop counts as often as it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Components {
    /// Transfers from HBM into data memory.
    pub loads: u64,
    /// Transfers from data memory to HBM.
    pub stores: u64,
    /// Transfers between other memories.
    pub transfers: u64,
    /// Pipelines that multiply.
    pub contractions: u64,
    /// Other pipelines: those that load register files, and those of the vector engine.
    pub pipelines: u64,
    /// The whole program.
    pub total: u64,
}

/// A kind of command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// Transfers from HBM into data memory.
    Loads,
    /// Transfers from data memory to HBM.
    Stores,
    /// Transfers between other memories.
    Transfers,
    /// Pipelines that multiply.
    Contractions,
    /// Other pipelines.
    Pipelines,
}

impl Component {
    /// The component that a command is a part of.
    #[must_use]
    pub fn of(command: &CommandReport) -> Self {
        match command.kind {
            Resource::Main | Resource::Sub | Resource::Dual if command.macs > 0 => Self::Contractions,
            Resource::Main | Resource::Sub | Resource::Dual => Self::Pipelines,
            Resource::Dma | Resource::Pcie => {
                let [hbm, dm] = [Medium::Hbm, Medium::Dm].map(|medium| command.bytes.of(medium));
                if hbm.read > 0 && dm.written > 0 {
                    Self::Loads
                } else if dm.read > 0 && hbm.written > 0 {
                    Self::Stores
                } else {
                    Self::Transfers
                }
            }
        }
    }

    /// The plural of its commands.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loads => "loads",
            Self::Stores => "stores",
            Self::Transfers => "other transfers",
            Self::Contractions => "contractions",
            Self::Pipelines => "other pipelines",
        }
    }
}

impl Components {
    /// The components of a report.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let mut all = Self { total: report.totals.cycles, ..Self::default() };
        for command in &report.commands {
            let part = match Component::of(command) {
                Component::Loads => &mut all.loads,
                Component::Stores => &mut all.stores,
                Component::Transfers => &mut all.transfers,
                Component::Contractions => &mut all.contractions,
                Component::Pipelines => &mut all.pipelines,
            };
            *part = part.saturating_add(command.cycles.saturating_mul(command.runs));
        }
        all
    }

    /// The components by name.
    #[must_use]
    pub fn named(&self) -> [(&'static str, i128); 6] {
        self.each().map(|(part, cycles)| (part.map_or("overlap", Component::name), cycles))
    }

    /// The components, and at the end their overlap. Their sum is the total: cycles in which several commands run
    /// count as negative.
    #[must_use]
    pub fn each(&self) -> [(Option<Component>, i128); 6] {
        let work =
            [self.loads, self.stores, self.transfers, self.contractions, self.pipelines].map(i128::from);
        let overlap = i128::from(self.total) - work.iter().sum::<i128>();
        let [loads, stores, transfers, contractions, pipelines] = work;
        [
            (Some(Component::Loads), loads),
            (Some(Component::Stores), stores),
            (Some(Component::Transfers), transfers),
            (Some(Component::Contractions), contractions),
            (Some(Component::Pipelines), pipelines),
            (None, overlap),
        ]
    }

    /// The component that grows most from these to `other`, and by which number of cycles; `None` if none grows.
    #[must_use]
    pub fn greatest_growth(&self, other: &Self) -> Option<(&'static str, i128)> {
        let pairs = self.named().into_iter().zip(other.named());
        let growth = pairs.map(|((name, before), (_, after))| (name, after - before));
        // The first of equals, in the order of the components.
        growth.rev().filter(|(_, cycles)| *cycles > 0).max_by_key(|(_, cycles)| *cycles)
    }
}

impl Report {
    /// The resource that is busy longest, and its longest command, in words; `None` without commands.
    #[must_use]
    pub fn binding(&self) -> Option<String> {
        let busy =
            self.totals.busy.iter().rev().max_by_key(|busy| busy.cycles).filter(|busy| busy.cycles > 0)?;
        let runs_on = |command: &&CommandReport| match busy.resource {
            Resource::Main | Resource::Sub => [busy.resource, Resource::Dual].contains(&command.kind),
            Resource::Dual | Resource::Dma | Resource::Pcie => command.kind == busy.resource,
        };
        let cycles = |command: &CommandReport| command.cycles.saturating_mul(command.runs);
        let longest = self.commands.iter().rev().filter(runs_on).max_by_key(|command| cycles(command))?;
        let name = longest.name.as_ref().unwrap_or(&longest.label);
        let unit = self.unit.name();
        Some(format!(
            "`{}` binds: it is busy for {} of {}, longest with `{name}`, {} by {}",
            busy.resource.name(),
            busy.cycles,
            counted(self.totals.cycles, unit),
            counted(cycles(longest), unit),
            longest.bottleneck
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Components =
        Components { loads: 100, stores: 40, transfers: 0, contractions: 60, pipelines: 10, total: 180 };

    #[test]
    fn the_components_add_up_to_the_total() {
        // 210 cycles of commands in 180.
        assert_eq!(ALL.named().map(|(_, cycles)| cycles), [100, 40, 0, 60, 10, -30]);
        let idle = Components { total: 250, ..ALL };
        assert_eq!(idle.named()[5], ("overlap", 40));
        for all in [ALL, idle, Components::default()] {
            assert_eq!(all.named().map(|(_, cycles)| cycles).iter().sum::<i128>(), i128::from(all.total));
        }
    }

    #[test]
    fn the_greatest_growth_is_that_of_one_component() {
        let other = |loads, stores, total| Components { loads, stores, total, ..ALL };
        assert_eq!(ALL.greatest_growth(&other(130, 50, 220)), Some(("loads", 30)));
        // Equal growth: the first one.
        assert_eq!(ALL.greatest_growth(&other(110, 50, 200)), Some(("loads", 10)));
        // Less work, but less in parallel: 30 cycles before, 5 now.
        assert_eq!(ALL.greatest_growth(&other(95, 40, 200)), Some(("overlap", 25)));
        assert_eq!(ALL.greatest_growth(&ALL), None);
        assert_eq!(ALL.greatest_growth(&other(90, 30, 160)), None);
    }
}
