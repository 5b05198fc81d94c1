//! Extra time of commands of the sub context in parallel with passes of main, on a calibrated machine. No law explains
//! it: some take as long as alone, others up to 758 ticks longer. So it is a part of the range of the total, and not
//! of the total.

use visa_machine::Measured;

use crate::report::{Assumed, CommandReport, NoiseReport, Resource};

/// Commands of the sub context that run in parallel with passes of main, and the ticks that these may take longer.
pub(crate) struct InParallel {
    commands: u64,
    least: f64,
    most: f64,
    source: String,
}

/// The commands of the sub context that overlap a pass of main, each in all its runs; `None` without any.
pub(crate) fn in_parallel(commands: &[CommandReport], measured: &Measured) -> Option<InParallel> {
    let observed = measured.parallel.as_ref()?;
    let of = |kind: Resource| commands.iter().filter(move |command| command.kind == kind);
    let overlap =
        |sub: &&CommandReport| of(Resource::Main).any(|main| main.start < sub.end && sub.start < main.end);
    let count: u64 = of(Resource::Sub).filter(overlap).map(|sub| sub.runs).sum();
    let [least, most] = observed.ticks.map(|ticks| ticks * count as f64);
    (count > 0).then(|| InParallel { commands: count, least, most, source: observed.source.clone() })
}

/// The range of runs with that time.
pub(crate) fn widened(noise: NoiseReport, found: Option<&InParallel>) -> NoiseReport {
    let [sooner, later] =
        found.map_or([0, 0], |found| [found.least, found.most].map(|ticks| ticks.round() as u64));
    let wide = |[least, most]: [u64; 2]| [least.saturating_add(sooner), most.saturating_add(later)];
    NoiseReport { jobs: wide(noise.jobs), cold: wide(noise.cold) }
}

impl InParallel {
    /// The note for reports.
    pub(crate) fn assumption(&self) -> Assumed {
        let why = format!(
            "{} of sub in parallel with passes of main may take {:.0} to {:.0} ticks longer in all, which the range \
             includes and the total does not ({})",
            visa_ir::diag::counted(self.commands, "command"),
            self.least,
            self.most,
            self.source
        );
        Assumed { field: "measured.parallel", why }
    }
}
