//! The campaigns by name.

use crate::commands::{CODE_MUTANTS, DECIDE, EXPRESSIONS, FILECHECK, FUZZ, SELECT, Step};
use crate::settings::Settings;
use crate::{
    addresses, bounds, chips, choices, compute, contractions, enumeration, exports, host_rust, imports,
    layers, loops, mutants, open_clauses, orders, overlaps, pipelines, plans, raised, ranks, rows, schedules,
    sweep, transfers, transposes,
};

/// What a campaign does.
#[derive(Clone, Copy)]
pub enum Run {
    /// It is a function of this crate.
    Here(fn(&Settings<'_>)),
    /// It is programs that run one after the other.
    Commands(&'static [Step]),
}

/// What `--count` counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Cases that are drawn.
    Cases,
    /// Nothing: `--kernels` says which files are run.
    Files,
    /// Seconds for each part.
    Seconds,
    /// Nothing: it always runs as a whole.
    Whole,
}

/// A long test.
pub struct Campaign {
    /// Its name.
    pub name: &'static str,
    /// What it checks.
    pub checks: &'static str,
    /// What it is counted in.
    pub unit: Unit,
    /// How many of them without `--count`.
    pub count: u64,
    /// What it does.
    pub run: Run,
}

const fn drawn(name: &'static str, checks: &'static str, count: u64, run: fn(&Settings<'_>)) -> Campaign {
    Campaign { name, checks, unit: Unit::Cases, count, run: Run::Here(run) }
}

const fn of_files(name: &'static str, checks: &'static str, run: fn(&Settings<'_>)) -> Campaign {
    Campaign { name, checks, unit: Unit::Files, count: 0, run: Run::Here(run) }
}

const fn commands(
    name: &'static str,
    checks: &'static str,
    unit: Unit,
    count: u64,
    steps: &'static [Step],
) -> Campaign {
    Campaign { name, checks, unit, count, run: Run::Commands(steps) }
}

/// All of them.
pub const CAMPAIGNS: &[Campaign] = &[
    drawn(
        "pipelines",
        "random pipelines that move data: lowered and run as the evaluator says",
        100_000,
        |settings| pipelines::KERNELS.run(settings),
    ),
    drawn(
        "compute",
        "random contractions and chains of vector operations: lowered and run as the evaluator says",
        100_000,
        |settings| compute::KERNELS.run(settings),
    ),
    drawn(
        "contractions",
        "random contractions and convolutions from their loops: lowered and run as the evaluator says",
        100_000,
        |settings| contractions::KERNELS.run(settings),
    ),
    drawn(
        "transfers",
        "random chains of transfers between memories: lowered and run as the evaluator says",
        100_000,
        |settings| transfers::KERNELS.run(settings),
    ),
    drawn(
        "rows",
        "random gathers and scatters by index tensors: lowered and run as the evaluator says",
        100_000,
        rows::run,
    ),
    drawn(
        "raise",
        "random kernels whose computation the generator knows: their raised functions compute the same bits",
        100_000,
        raised::run,
    ),
    drawn(
        "loops",
        "random loops over tiles: as loops and written out they give what the evaluator says, in as many cycles",
        100_000,
        loops::run,
    ),
    drawn(
        "schedules",
        "random loop programs in other orders, and pipelined: the same values under shadow",
        100_000,
        schedules::run,
    ),
    drawn(
        "orders",
        "what `schedule` makes of random programs of up to 8 commands, against all their orders",
        200,
        orders::run,
    ),
    drawn(
        "overlaps",
        "random pairs of ranges of addresses: whether they meet, against lists of their addresses",
        1_000_000,
        overlaps::run,
    ),
    drawn(
        "choices",
        "random products with everything open: what is chosen gives what the evaluator says, in shadow mode",
        10_000,
        choices::run,
    ),
    drawn(
        "plans",
        "random functions of the tensor level: the planned kernel has their results, in their order of sums",
        10_000,
        plans::run,
    ),
    drawn(
        "sweep",
        "products and maps with broadcasts, of sizes from 1 to 4,096: all have a plan, and none differs",
        60,
        sweep::run,
    ),
    drawn(
        "layers",
        "functions as layers of models, of odd sizes and in any order of axes: all have a plan, and none differs",
        500,
        layers::run,
    ),
    drawn(
        "ranks",
        "plans of random functions: the cycles that the planner predicts, against those of the report",
        10_000,
        ranks::run,
    ),
    drawn(
        "enumeration",
        "small products: the plan of `plan-kernel` against 1,500 plans that a separate generator writes",
        100,
        enumeration::run,
    ),
    drawn(
        "chips",
        "random shuffles and transfers between chips, and fills: lowered and run as the evaluator says",
        100_000,
        |settings| chips::KERNELS.run(settings),
    ),
    drawn(
        "transposes",
        "every shape of matrix that the transpose engine takes, and those just outside",
        u64::MAX,
        transposes::run,
    ),
    of_files("bounds", "no kernel takes fewer cycles than its bound, by any model of memories", bounds::run),
    of_files(
        "addresses",
        "kernels with open addresses: as fast as written, the same results",
        addresses::run,
    ),
    of_files(
        "open-clauses",
        "kernels with open configurations: as fast as written, the same results",
        open_clauses::configurations,
    ),
    of_files(
        "open-distributions",
        "kernels with open configurations and distributions: as fast as written, the same results",
        open_clauses::distributions,
    ),
    drawn(
        "mutants-lowered",
        "changed kernels are refused, or lowered and run as the evaluator says",
        45_000,
        mutants::lowered,
    ),
    drawn("mutants-configurations", "the same with open configurations", 2_000, mutants::configurations),
    drawn("mutants-distributions", "the same with open distributions too", 800, mutants::distributions),
    drawn("mutants-expressions", "the same with expressions that are planned", 2_000, mutants::expressions),
    drawn("mutants-addresses", "the same with open addresses", 19_000, mutants::addresses),
    drawn("mutants-npy", "changed npy files are read or refused", 20_000, mutants::npy),
    drawn(
        "mutants-safetensors",
        "changed safetensors files are read or refused",
        14_000,
        mutants::safetensors,
    ),
    drawn(
        "host-rust",
        "random Rust of the host, evaluated by the importer: the numbers that rustc's program prints, or a refusal",
        10_000,
        host_rust::run,
    ),
    of_files(
        "host-files",
        "functions of test/import/host, evaluated by the importer: the numbers of rustc's programs, or a refusal",
        host_rust::written,
    ),
    drawn(
        "exports",
        "random kernels, exported as the vendor's Rust and imported: equal, in the same cycles, or refused",
        10_000,
        exports::run,
    ),
    drawn(
        "imports",
        "changed Rust kernels are imported as text that parses, or refused",
        200_000,
        imports::run,
    ),
    drawn("mutants-machine", "changed machine descriptions are read or refused", 20_000, mutants::machine),
    commands(
        "select",
        "choices of select-configs against the least of all configurations",
        Unit::Cases,
        700,
        SELECT,
    ),
    commands(
        "filecheck",
        "random checks and inputs: the exit codes of LLVM's FileCheck",
        Unit::Cases,
        30_000,
        FILECHECK,
    ),
    commands("decide", "equality and refinement of mappings against enumeration", Unit::Whole, 0, DECIDE),
    commands(
        "expressions",
        "plans of 1000 expressions against the least number of passes",
        Unit::Whole,
        0,
        EXPRESSIONS,
    ),
    commands(
        "code-mutants",
        "small mistakes in the code of visa-hw, visa-cost and visa-numerics: a test notices",
        Unit::Whole,
        0,
        CODE_MUTANTS,
    ),
    commands(
        "fuzz",
        "the fuzzer's targets, with AddressSanitizer: no panic, no broken promise",
        Unit::Seconds,
        600,
        FUZZ,
    ),
];
