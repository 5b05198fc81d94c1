//! Tests of the command.

mod clauses;
