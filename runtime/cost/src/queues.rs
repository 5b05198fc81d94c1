//! Resources that run commands one at a time, in program order (book 28): the contexts, the link to the host, and a
//! DMA queue for each cluster.
//!
//! A chip has a DMA engine for each processing element (book 10), and a cluster's transfers are in order. So a
//! transfer takes the queues of the clusters whose engines it uses, for all memories that it moves between: any engine
//! reaches all of them (book 10, "DMA Engine assignment is flexible"). The `flat` model shares every transfer among
//! all engines, so that it takes the queues of all clusters.

use visa_hw::program::{Context, Dma, DmaPart};
use visa_machine::Machine;

use crate::model::MemoryModel;

/// Clusters that have a separate queue: as many as a machine description can have.
const MAX_CLUSTERS: u64 = 16;

/// Some of the queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Queues(u32);

impl Queues {
    /// Greatest number of queues.
    pub const COUNT: usize = 3 + MAX_CLUSTERS as usize;
    /// That of the Tensor Unit's main context.
    pub const MAIN: Self = Self(1);
    /// That of its sub context.
    pub const SUB: Self = Self(1 << 1);
    /// That of the link to the host.
    pub const PCIE: Self = Self(1 << 2);

    /// Those that a context's pipelines take.
    pub(crate) const fn of_context(context: Context) -> Self {
        match context {
            Context::Main => Self::MAIN,
            Context::Sub => Self::SUB,
            Context::Dual => Self::MAIN.and(Self::SUB),
        }
    }

    /// Name of a queue, by its number.
    #[must_use]
    pub fn name(number: usize) -> String {
        match number {
            0 => "main".to_owned(),
            1 => "sub".to_owned(),
            2 => "pcie".to_owned(),
            cluster => format!("dma cluster {}", cluster - 3),
        }
    }

    /// The DMA queue of a cluster.
    #[must_use]
    pub const fn of_cluster(cluster: u64) -> Self {
        let last = MAX_CLUSTERS - 1;
        Self(1 << (3 + if cluster < last { cluster } else { last }))
    }

    /// The DMA queues of all clusters.
    pub(crate) fn of_all_clusters(machine: &Machine) -> Self {
        (0..machine.topology.clusters_per_chip).map(Self::of_cluster).fold(Self::default(), Self::and)
    }

    /// Those that a transfer takes whose parts run on these engines.
    pub(crate) fn of_parts<'a>(
        parts: impl IntoIterator<Item = &'a DmaPart>,
        machine: &Machine,
        model: MemoryModel,
    ) -> Self {
        let all = Self::of_all_clusters(machine);
        let own = match model {
            MemoryModel::Flat => all,
            MemoryModel::Book | MemoryModel::Detailed => {
                let clusters = parts.into_iter().flat_map(|part| clusters(part, machine));
                clusters.map(Self::of_cluster).fold(Self::default(), Self::and)
            }
        };
        if own == Self::default() { all } else { own }
    }

    /// Those that a transfer takes.
    pub(crate) fn of_transfer(dma: &Dma, machine: &Machine, model: MemoryModel) -> Self {
        if dma.pcie { Self::PCIE } else { Self::of_parts(&dma.parts, machine, model) }
    }

    /// These and others.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns true if all of these are among others.
    pub(crate) const fn are_in(self, others: Self) -> bool {
        self.0 & !others.0 == 0
    }

    /// Returns true if one of these is among others.
    #[must_use]
    pub const fn meet(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns true if they run tensor transfers.
    #[must_use]
    pub const fn are_dma(self) -> bool {
        self.0 >> 3 != 0
    }

    /// Their numbers, below [`Self::COUNT`].
    pub fn numbers(self) -> impl Iterator<Item = usize> {
        (0..Self::COUNT).filter(move |number| self.0 >> number & 1 == 1)
    }

    /// The least of their numbers.
    pub(crate) const fn first(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// The clusters whose DMA queue is among these.
    pub(crate) fn clusters(self) -> Vec<u64> {
        (0..MAX_CLUSTERS).filter(|cluster| Self::of_cluster(*cluster).are_in(self)).collect()
    }
}

/// The clusters that have engines of a part.
fn clusters(part: &DmaPart, machine: &Machine) -> std::ops::Range<u64> {
    let count: u64 = part
        .loops
        .entries
        .iter()
        .take(part.engine_loops)
        .map(|entry| entry.limit)
        .fold(1, u64::saturating_mul);
    let own = machine.topology.pes_per_cluster.max(1);
    part.first / own..part.first.saturating_add(count).div_ceil(own).min(MAX_CLUSTERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_engine::Space;

    /// The clusters of a transfer of some engines, the first of which has this number.
    fn of(first: u64, engines: u64, model: MemoryModel) -> Vec<u64> {
        let loops = format!("[{engines} : 64 -> 524288, 64 : 1 -> 1] : 64").parse().unwrap();
        let mut dma = Dma::homogeneous(false, [Space::HBM, Space::DM], loops, 1);
        dma.parts[0].first = first;
        Queues::of_transfer(&dma, &Machine::rngd(), model).clusters()
    }

    #[test]
    fn a_transfer_takes_the_queues_of_its_engines_clusters() {
        let book = |first, engines| of(first, engines, MemoryModel::Book);
        assert_eq!(book(0, 8), [0, 1]);
        // Engines 0 to 3 are of cluster 0, 4 to 7 of cluster 1.
        assert_eq!(book(0, 4), [0]);
        assert_eq!(book(0, 5), [0, 1]);
        assert_eq!(book(3, 1), [0]);
        assert_eq!(book(4, 1), [1]);
        assert_eq!(book(3, 2), [0, 1]);
        assert_eq!(of(4, 4, MemoryModel::Detailed), [1]);
        // An empty set of engines runs nothing, wherever that is.
        assert_eq!(book(0, 0), [0, 1]);
    }

    #[test]
    fn the_flat_model_shares_every_transfer() {
        assert_eq!(of(4, 1, MemoryModel::Flat), [0, 1]);
    }

    #[test]
    fn queues_have_numbers() {
        let numbers = |queues: Queues| queues.numbers().collect::<Vec<_>>();
        assert_eq!(numbers(Queues::of_context(Context::Dual)), [0, 1]);
        assert_eq!(numbers(Queues::PCIE), [2]);
        assert_eq!(numbers(Queues::of_cluster(15)), [Queues::COUNT - 1]);
        assert!(!Queues::PCIE.are_dma() && Queues::of_cluster(0).are_dma());
        assert!(!Queues::of_cluster(0).meet(Queues::of_cluster(1)));
    }
}
