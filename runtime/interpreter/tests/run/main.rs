//! Whole runs of hand-built programs, with stages that are simple enough to work out by hand.

mod bounds;
mod doubles;
mod kernel;
mod shadow;
mod transfers;
mod units;
