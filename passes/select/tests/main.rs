//! `select-configs`: its budget, the distributions it proposes, and its choices against all configurations.

mod budget;
mod distributions;
#[expect(dead_code, reason = "the bench uses the rest")]
mod select;
mod select_configs;
mod transfers;

/// As in the tools.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
