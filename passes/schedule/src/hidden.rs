//! Tasks that no operation stands for, on a calibrated machine: the transfer of a look-up table, and the wait of
//! clusters for each other between a store and a transfer that reads its bytes back.
//!
//! The transfer of a table is right before its pass, as in loops; outside of loops it may come earlier, which the
//! report counts.

use crate::tasks::{Task, Tasks};
use visa_cost::Queues;

/// The hidden tasks before a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// The transfer of the table that it looks up: cycles and queues.
    pub table: Option<(u64, Queues)>,
    /// The stores whose bytes it reads back, each with the cycles of the wait after it.
    pub reloads: Vec<(usize, u64)>,
}

/// Role of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The command of that number.
    Command(usize),
    /// The transfer of a table, whose pass is the next task.
    Table,
    /// A wait of clusters.
    Wait,
}

/// Tasks of commands, with the hidden ones.
pub struct WithHidden {
    /// The tasks. Hidden ones are right before their command.
    pub tasks: Tasks,
    roles: Vec<Role>,
}

impl WithHidden {
    /// The tasks of commands, each after its hidden ones.
    #[must_use]
    pub fn of(tasks: &Tasks, hidden: &[Hidden]) -> Self {
        let (mut all, mut roles, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (task, hidden)) in tasks.0.iter().zip(hidden).enumerate() {
            let mut after: Vec<usize> = task.after.iter().map(|&before: &usize| numbers[before]).collect();
            let waits = hidden.reloads.iter().map(|&(store, cycles)| {
                let wait = Task { cycles, uses: Queues::default(), after: vec![numbers[store]] };
                (wait, Role::Wait)
            });
            let table =
                hidden.table.map(|(cycles, uses)| (Task { cycles, uses, after: Vec::new() }, Role::Table));
            for (task, role) in waits.chain(table) {
                after.push(all.len());
                all.push(task);
                roles.push(role);
            }
            numbers.push(all.len());
            all.push(Task { after, ..task.clone() });
            roles.push(Role::Command(number));
        }
        Self { tasks: Tasks(all), roles }
    }

    /// The commands in the order of their tasks. A pass follows the transfer of its table as soon as its predecessors
    /// are there: the transfer has the pass's position in the queue.
    #[must_use]
    pub fn order(&self, order: &[usize]) -> Vec<usize> {
        let mut done = vec![false; self.tasks.0.len()];
        let (mut waiting, mut found): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for &task in order {
            match self.roles[task] {
                Role::Wait => done[task] = true,
                Role::Table => {
                    done[task] = true;
                    waiting.push(task + 1);
                }
                Role::Command(command) if !done[task] => {
                    done[task] = true;
                    waiting.retain(|&other| other != task);
                    found.push(command);
                }
                Role::Command(_) => {}
            }
            while let Some(at) = waiting.iter().position(|&pass| self.is_ready(pass, &done)) {
                let pass = waiting.remove(at);
                done[pass] = true;
                if let Role::Command(command) = self.roles[pass] {
                    found.push(command);
                }
            }
        }
        found
    }

    fn is_ready(&self, task: usize, done: &[bool]) -> bool {
        self.tasks.0[task].after.iter().all(|&before| done[before])
    }
}
