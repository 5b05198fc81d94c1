//! Prices of hand-built programs, worked out by hand from the figures of books 10, 11, 19 and 28.

mod banks;
mod bound;
mod conflicts;
mod doubles;
mod indexed;
mod kernel;
mod known;
mod loops;
mod memory;
mod order;
mod queues;
mod rates;
mod setup;
mod shown;
