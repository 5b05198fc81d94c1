//! The order of commands, and loops whose iterations overlap (book 28): what pass `schedule` works with.
//!
//! [`tasks`] is a block's commands as work on resources; [`list`], [`improve`] and [`exact`] find orders. `commands`
//! says what is moved as one, `places` and `dependences` what must stay in order; `stages` plans loops, and
//! `rotate` writes them. `driver` tries, prices, and keeps what takes fewer cycles.

pub mod chance;
pub mod exact;
pub mod improve;
pub mod list;
pub mod tasks;

mod commands;
mod dependences;
mod driver;
mod emit;
mod explain;
mod places;
mod price;
mod rotate;
mod stages;

/// The passes of this crate, a module a file.
pub mod passes {
    use visa_pass::Pass;
    include!(concat!(env!("OUT_DIR"), "/pass.rs"));
}
