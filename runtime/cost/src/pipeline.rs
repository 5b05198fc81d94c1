//! Time of a pipeline, engine by engine: the report prints it and the choice of configurations minimises it.

use std::cmp::Ordering;

use visa_engine::StageCost;

/// The time of a pipeline's first engines. Engines work at the same time, so it takes as long as the busiest,
/// after the pipeline has filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PipelineTime {
    /// Cycles of the busiest engine.
    pub busiest: u64,
    /// Cycles until the pipeline has filled.
    pub latency: u64,
    /// Cycles of all engines together.
    pub total: u64,
    /// Cycles in which packets come in before later engines get their first one (book 22).
    pub wait: u64,
}

impl PipelineTime {
    /// The time with one more engine at the end, whose first result waits for `streaming` cycles of packets. Stages of
    /// one engine are stations of one pipeline: the slowest counts for `busiest`.
    #[must_use]
    pub fn then(self, stage: &StageCost, streaming: u64) -> Self {
        let StageCost { cycles, latency, .. } = *stage;
        self.join(Self { busiest: cycles, latency, total: cycles, wait: streaming })
    }

    /// The time with the engines of `other` at the end.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            busiest: self.busiest.max(self.wait.saturating_add(other.busiest)),
            latency: self.latency.saturating_add(other.latency),
            total: self.total.saturating_add(other.total),
            wait: self.wait.saturating_add(other.wait),
        }
    }

    /// Cycles from the first packet in to the last one out.
    #[must_use]
    pub fn cycles(self) -> u64 {
        self.busiest.saturating_add(self.latency)
    }

    /// Returns true if this is at least as good as `other`, for all later engines.
    #[must_use]
    pub fn dominates(self, other: Self) -> bool {
        self.busiest <= other.busiest
            && self.latency <= other.latency
            && self.total <= other.total
            && self.wait <= other.wait
    }
}

/// Cheaper first: by cycles, then by the cycles of all engines.
impl Ord for PipelineTime {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |time: &Self| (time.cycles(), time.total, time.latency);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for PipelineTime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_engine::{Engine, Flow};

    fn stage(cycles: u64, latency: u64) -> StageCost {
        let out = Flow { packets: 1, packet: 32 };
        StageCost { engine: Engine::FETCH, cycles, latency, macs: 0, out }
    }

    #[test]
    fn a_pipeline_takes_as_long_as_its_busiest_engine_once_it_has_filled() {
        let stages = [stage(8, 2), stage(64, 1), stage(16, 5)];
        let time = stages.iter().fold(PipelineTime::default(), |time, stage| time.then(stage, 0));
        assert_eq!(time, PipelineTime { busiest: 64, latency: 8, total: 88, wait: 0 });
        assert_eq!(time.cycles(), 72);
    }

    /// Sums of 64 packets each come out of a reduction of 128: packets come in for 128 cycles, and the last sum leaves
    /// with the last one. A commit of 4 cycles for each of two sums ends before; one of 80 begins with the first sum,
    /// after 64 cycles.
    #[test]
    fn engines_after_a_reduction_begin_with_its_first_result() {
        let reduced = PipelineTime::default().then(&stage(128, 1), 0).then(&stage(128, 1), 64);
        assert_eq!(reduced.cycles(), 130);
        assert_eq!(reduced.then(&stage(8, 1), 0).cycles(), 131);
        assert_eq!(reduced.then(&stage(160, 1), 0).cycles(), 64 + 160 + 3);
    }

    #[test]
    fn the_order_is_that_of_cycles_and_dominance_is_less() {
        let (short, even) = (
            PipelineTime { busiest: 9, latency: 1, total: 9, wait: 0 },
            PipelineTime { busiest: 5, latency: 5, total: 20, wait: 0 },
        );
        assert!(short < even);
        assert!(!short.dominates(even) && !even.dominates(short));
        for worse in [
            PipelineTime { busiest: 6, ..even },
            PipelineTime { latency: 6, ..even },
            PipelineTime { total: 21, ..even },
            PipelineTime { wait: 1, ..even },
        ] {
            assert!(even.dominates(even) && even.dominates(worse) && !worse.dominates(even));
        }
        // With an engine of 9 cycles after them the other one is the cheaper by its latency.
        let busy = |time: PipelineTime| time.then(&stage(9, 0), 0).cycles();
        assert!((busy(short), busy(even)) == (10, 14));
    }
}
