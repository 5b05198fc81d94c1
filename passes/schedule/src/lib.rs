//! The order of commands, and loops whose iterations overlap (book 28), for pass `schedule`.
//!
//! [`tasks`] is a block's commands as work on resources; [`list`], [`improve`] and [`exact`] find orders. `commands`
//! defines the units of motion, `places` and `dependences` the order constraints, `registers` those of the register
//! files, and [`hidden`] adds the loads of `tables` and the waits of clusters; `stages` plans loops, and `rotate`
//! writes them. `driver` makes and estimates candidates, and selects the one with fewer cycles. [`vendor`] is the
//! order of the vendor's scheduler, and [`issue`] puts the commands of a kernel in it, or in a given order.

pub mod chance;
pub mod exact;
pub mod hidden;
pub mod improve;
pub mod issue;
pub mod list;
pub mod tasks;
pub mod vendor;

mod commands;
mod dependences;
mod driver;
mod emit;
mod explain;
mod places;
mod price;
mod registers;
mod rotate;
mod stages;
mod tables;

/// The passes of this crate, a module a file.
pub mod passes {
    use visa_pass::Pass;
    include!(concat!(env!("OUT_DIR"), "/pass.rs"));
}
