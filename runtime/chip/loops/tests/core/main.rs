//! Sequencer programs against the book's figures, a plain loop oracle and the hardware's limits.

mod book;
mod condition;
mod limits;
mod oracle;
mod overlap;
mod rewrites;
mod sizes;
mod text;

use visa_loops::{PairedProgram, Program, SeqError};

fn program(text: &str) -> Program {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn paired(text: &str) -> PairedProgram {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn codes(errors: &[SeqError]) -> Vec<&'static str> {
    errors.iter().map(|error| error.code).collect()
}

fn merged(text: &str) -> String {
    let mut program = program(text);
    program.merge();
    program.to_string()
}
