//! The lit trees, and what holds of every text in this folder and of the pages' examples.

mod constraints;
mod floors;
mod imports;
mod layout;
mod lit;
mod once;
mod open;
mod pages;
mod prose;
mod raised;
mod references;
mod refused_plan;
mod rewriting;
mod tensor;
mod text;

/// As in the tools: a quarter of the time of the lit trees is spent in glibc's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
