//! A small part of each campaign of this crate, with every change. What is in it:
//!
//! - random kernels: the first cases of seed 2026, so many that each feature is in enough of them;
//! - transposes: all;
//! - addresses: all but the kernels that take half of the time;
//! - kernels with open clauses: those that choose quickly, which have among them every engine, both accumulators, masks and
//!   tables;
//! - mutants: the first of each kind.
//!
//! Commands (`select`, `filecheck`, `decide`, `expressions`) have their own parts beside the code that they test;
//! `code-mutants` and `fuzz` have none.

use visa_campaigns::files::Files;
use visa_campaigns::list::{CAMPAIGNS, Run};
use visa_campaigns::{SEED, Settings};

/// As in the tools.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs a part of a campaign.
fn part(name: &str, count: u64, files: Files<'_>) {
    let campaign = CAMPAIGNS.iter().find(|campaign| campaign.name == name).expect("a campaign");
    match campaign.run {
        Run::Here(run) => run(&Settings { count, seed: SEED, files }),
        Run::Commands(_) => panic!("`{name}` is a command"),
    }
}

fn cases(name: &str, count: u64) {
    part(name, count, Files::All);
}

#[test]
fn pipelines() {
    cases("pipelines", 1_000);
}

#[test]
fn compute() {
    cases("compute", 1_000);
}

#[test]
fn contractions() {
    cases("contractions", 500);
}

#[test]
fn transfers() {
    cases("transfers", 1_000);
}

#[test]
fn raise() {
    cases("raise", 500);
}

#[test]
fn loops() {
    cases("loops", 150);
}

#[test]
fn orders() {
    cases("orders", 6);
}

#[test]
fn schedules() {
    cases("schedules", 150);
}

#[test]
fn rows() {
    cases("rows", 1_000);
}

#[test]
fn chips() {
    cases("chips", 1_000);
}

#[test]
fn choices() {
    cases("choices", 50);
}

#[test]
fn plans() {
    cases("plans", 30);
}

#[test]
fn enumeration() {
    cases("enumeration", 1);
}

#[test]
fn ranks() {
    cases("ranks", 100);
}

#[test]
fn layers() {
    cases("layers", 4);
}

#[test]
fn sweep() {
    cases("sweep", 6);
}

#[test]
fn host_rust() {
    cases("host-rust", 150);
}

#[test]
fn host_files() {
    part("host-files", 0, Files::All);
}

#[test]
fn imports() {
    cases("imports", 300);
}

#[test]
fn transposes() {
    cases("transposes", u64::MAX);
}

#[test]
fn addresses() {
    part("addresses", 0, Files::Except(LARGEST));
}

#[test]
fn overlaps() {
    cases("overlaps", 5_000);
}

#[test]
fn bounds() {
    part("bounds", 0, Files::All);
}

#[test]
fn open_clauses() {
    part("open-clauses", 0, Files::Named(CONFIGURATIONS));
}

#[test]
fn open_distributions() {
    part("open-distributions", 0, Files::Named(DISTRIBUTIONS));
}

#[test]
fn mutants() {
    let kinds = CAMPAIGNS.iter().map(|campaign| campaign.name).filter(|name| name.starts_with("mutants-"));
    kinds.for_each(|kind| cases(kind, MUTANTS));
}

/// Every kind of mutants is run, so every campaign of this crate has a part here.
#[test]
fn every_campaign_is_a_function_with_a_part_or_a_command() {
    let here = CAMPAIGNS.iter().filter(|campaign| matches!(campaign.run, Run::Here(_)));
    let parts = [
        "pipelines",
        "compute",
        "contractions",
        "transfers",
        "rows",
        "chips",
        "choices",
        "plans",
        "enumeration",
        "sweep",
        "layers",
        "ranks",
        "raise",
        "loops",
        "schedules",
        "orders",
        "overlaps",
        "host-rust",
        "host-files",
        "exports",
        "imports",
        "transposes",
        "addresses",
        "bounds",
        "open-clauses",
        "open-distributions",
    ];
    let without: Vec<_> = here
        .map(|campaign| campaign.name)
        .filter(|name| !parts.contains(name) && !name.starts_with("mutants-"))
        .collect();
    assert!(without.is_empty(), "{without:?}");
}

/// Mutants of each kind.
const MUTANTS: u64 = 8;

/// Kernels whose evaluation takes longest.
const LARGEST: &[&str] = &[
    "blocked_gemm",
    "contract_formats_in_time",
    "ffn",
    "flash_attention",
    "flash_attention_resident",
    "gemm",
    "gemm_blocked_steps",
    "gemm_broadcast",
    "gemm_copies",
    "gemm_tiled",
];

/// Files whose configurations are left open.
const CONFIGURATIONS: &[&str] = &[
    "activations",
    "c2-truncation",
    "casts",
    "commit_view",
    "constant_add",
    "conv2d_stride2_feed3",
    "dot",
    "f1-contiguous",
    "f2-padding-packets",
    "f4-masking",
    "f6-cast-size",
    "f7-tables-and-zero-points",
    "fast",
    "fetch_casts_rngd_s",
    "filter",
    "fma_values",
    "gather",
    "gemv",
    "i4",
    "k1-pad",
    "lane_copies",
    "masked_cast",
    "masked_dot",
    "masked_reduce",
    "reduce_scatter",
    "sigmoid",
    "stash_widths",
    "switch_custom",
    "t1-8x8",
    "two_groups",
    "v3-placements",
    "x1-axis-permutation",
];

/// Files whose distributions are left open too.
const DISTRIBUTIONS: &[&str] = &[
    "activations",
    "c2-truncation",
    "casts",
    "commit_view",
    "constant_add",
    "conv2d_stride1",
    "dot",
    "f1-contiguous",
    "f2-padding-packets",
    "f4-masking",
    "f6-cast-size",
    "f7-tables-and-zero-points",
    "fetch_casts_rngd_s",
    "filter",
    "gather",
    "gemv",
    "i4",
    "k1-pad",
    "masked_cast",
    "masked_dot",
    "reduce_scatter",
    "stash_widths",
    "t1-8x8",
    "two_groups",
    "v3-placements",
    "x1-axis-permutation",
];

#[test]
fn exports() {
    cases("exports", 60);
}
