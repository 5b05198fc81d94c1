//! Prices of transfers that other programs had: a search prices many programs with the same transfers.

use std::cell::RefCell;
use std::collections::HashMap;

use visa_engine::Space;
use visa_hw::program::{Dma, DmaPart};
use visa_machine::Machine;

use crate::command::CommandCost;
use crate::model::MemoryModel;

/// Most prices that are known: each has the load of every channel and network.
const MOST: usize = 1 << 14;

/// The prices of transfers by the `book` model. Those of the `flat` model take no longer than a look at them, and the
/// `detailed` model averages over the iterations of a program.
#[derive(Default)]
pub struct KnownPrices {
    /// The machine of all prices.
    machine: RefCell<Option<Machine>>,
    transfers: RefCell<HashMap<TransferKey, CommandCost>>,
}

/// Everything that the price of a transfer depends on, but the machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct TransferKey {
    pcie: bool,
    spaces: [Space; 2],
    parts: Vec<DmaPart>,
    chips: usize,
}

impl KnownPrices {
    /// Forgets all prices if they are those of another machine.
    pub(crate) fn on(&self, machine: &Machine) {
        if self.machine.borrow().as_ref() != Some(machine) {
            self.transfers.borrow_mut().clear();
            self.machine.replace(Some(machine.clone()));
        }
    }

    /// The price of a transfer on the machine: a known one, or the result of `work`.
    ///
    /// # Errors
    /// That of `work`.
    pub(crate) fn transfer<E>(
        &self,
        dma: &Dma,
        chips: usize,
        model: MemoryModel,
        work: impl FnOnce() -> Result<CommandCost, E>,
    ) -> Result<CommandCost, E> {
        match model {
            MemoryModel::Flat | MemoryModel::Detailed => return work(),
            MemoryModel::Book => {}
        }
        let key = TransferKey { pcie: dma.pcie, spaces: [dma.from, dma.to], parts: dma.parts.clone(), chips };
        if let Some(known) = self.transfers.borrow().get(&key) {
            return Ok(known.clone());
        }
        let found = work()?;
        let mut transfers = self.transfers.borrow_mut();
        if transfers.len() < MOST {
            transfers.insert(key, found.clone());
        }
        Ok(found)
    }

    /// Number of known prices.
    #[must_use]
    pub fn count(&self) -> usize {
        self.transfers.borrow().len()
    }
}
