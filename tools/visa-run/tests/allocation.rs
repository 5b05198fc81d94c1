//! Every kernel of `test/kernels` with every address left open: `allocate` closes them, the kernel runs and checks, and takes no more
//! cycles than with the addresses that its author wrote.

use std::fs;
use std::path::{Path, PathBuf};
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::open::{self, Opening, open_up};
use visa_ir::parse::parse;
use visa_ir::print::{Form, print};
use visa_ir::span::Source;
use visa_ir::verify::{has_errors, verify};
use visa_machine::Machine;
use visa_opt::Io;
use visa_pass::{PassManager, Pipeline, Silent};
use visa_passes::standard_passes;

/// Kernels that must at least check: a wrong path must not pass for a good result.
const LEAST_KERNELS: usize = 150;

/// A kernel, and what it takes.
#[derive(Debug)]
struct Outcome {
    name: String,
    /// Cycles with the addresses as written, and as chosen.
    cycles: [u64; 2],
    /// Whether the results are those of the logical evaluator. A kernel may refuse random data, but then both ways.
    checked: bool,
    /// Both outcomes, if they differ.
    failed: Option<String>,
}

/// A test file: its text, and the machine that its first line with one names.
struct File {
    path: PathBuf,
    text: String,
    machine: Option<String>,
}

fn files() -> Vec<File> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/kernels");
    let entries = fs::read_dir(folder).expect("a readable folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "visa"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a readable file");
        let machine = text.lines().filter(|line| line.starts_with("// RUN:")).find_map(|line| {
            line.split_whitespace().skip_while(|word| *word != "--machine").nth(1).map(str::to_owned)
        });
        let machine = machine.filter(|name| Machine::named(name).is_some());
        File { path, text, machine }
    };
    paths.into_iter().map(read).collect()
}

fn context(file: &File) -> Context {
    let mut ctx = Context::new(&visa_opt::standard_dialects());
    if let Some(machine) = file.machine.as_deref().and_then(Machine::named) {
        ctx.set_data(machine);
    }
    ctx
}

/// The modules of a file that verify.
fn modules(ctx: &Context, text: &str) -> Vec<Module> {
    let read = |text: &str| {
        let source = Source::new("text", text.to_owned());
        let parsed = parse(ctx, &source, 0..text.len());
        (!has_errors(&parsed.diagnostics) && !has_errors(&verify(ctx, &parsed.module)))
            .then_some(parsed.module)
    };
    text.split("// -----\n").filter_map(read).collect()
}

fn pass(ctx: &Context, module: &mut Module, pipeline: &str) {
    let passes = standard_passes();
    let pipeline = Pipeline::parse(pipeline, &passes).expect("a pipeline");
    PassManager::new(&pipeline, &passes).run(ctx, module, &mut Silent).expect("passes that run");
}

/// The cycles of a kernel.
fn cycles(ctx: &Context, module: &Module, entry: &str) -> u64 {
    let mut module = module.clone();
    pass(ctx, &mut module, "lower-to-seq,lower-to-hw");
    let program = visa_hw::compile(ctx, &module, Some(entry)).expect("a program");
    visa_cost::price(&program, &ctx.data::<Machine>()).totals.cycles
}

/// Runs and checks a kernel through the tool: its exit code, what it says of the results, and the first line of its errors (a
/// kernel may refuse random data).
fn run(file: &File, text: &str, entry: &str, allocate: bool) -> (i32, Vec<String>, Option<String>) {
    let mut io = Io::buffered(text.as_bytes(), "");
    let mut args = vec!["-", "--entry", entry, "--check"];
    args.extend(allocate.then_some("--allocate"));
    args.extend(file.machine.iter().flat_map(|machine| ["--machine", machine]));
    let args: Vec<_> = args.into_iter().map(str::to_owned).collect();
    let code = visa_run::run(&args, &mut io);
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
    let mut results = said(&io.stdout);
    results.retain(|line| !line.contains(" cycles on "));
    (code, results, said(&io.stderr).into_iter().next())
}

/// Whether a kernel leaves nothing to other passes, which would have to run before addresses are chosen.
fn is_closed(ctx: &Context, module: &Module) -> bool {
    let planned = |id| !module.op(ctx, id).is(&visa_stream::ops::vector_expr::DECL);
    open::first(ctx, module, |_| true).is_none() && module.walk_all().into_iter().all(planned)
}

/// The kernels of a file, opened and closed.
fn outcomes(file: &File) -> Vec<Outcome> {
    let ctx = context(file);
    let mut found = Vec::new();
    for written in modules(&ctx, &file.text).into_iter().filter(|written| is_closed(&ctx, written)) {
        let mut module = written.clone();
        open_up(&ctx, &mut module, |_, clause| clause.opening == Opening::Address).expect("types stay");
        let (text, closed) = (print(&ctx, &module, Form::Pretty), print(&ctx, &written, Form::Pretty));
        // What is written in bytes already has no address that could be open.
        if open::first(&ctx, &module, |_| true).is_none() {
            continue;
        }
        pass(&ctx, &mut module, "allocate");
        for &id in written.ops(written.body()) {
            let func = written.op(&ctx, id);
            let Some(name) = func.symbol("name").filter(|_| func.is(&visa_mapping::ops::func::FUNC)) else {
                continue;
            };
            let (chosen, by_hand) = (run(file, &text, &name, true), run(file, &closed, &name, false));
            let place = format!("{}: @{name}", file.path.display());
            found.push(Outcome {
                name: place,
                checked: chosen.0 == 0,
                failed: (chosen != by_hand).then(|| format!("{chosen:?}, by hand {by_hand:?}")),
                cycles: [cycles(&ctx, &written, &name), cycles(&ctx, &module, &name)],
            });
        }
    }
    found
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures of docs/benchmarks.md")]
fn kernels_with_chosen_addresses_check_and_are_no_slower() {
    // One after the other: a run takes all cores by itself.
    let all: Vec<Outcome> = files().iter().flat_map(outcomes).collect();
    let checked = all.iter().filter(|kernel| kernel.checked).count();
    assert!(checked >= LEAST_KERNELS, "{checked} kernels check, expected at least {LEAST_KERNELS}");
    let failed: Vec<_> =
        all.iter().filter_map(|kernel| Some((&kernel.name, kernel.failed.as_ref()?))).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let slower: Vec<_> = all.iter().filter(|kernel| kernel.cycles[1] > kernel.cycles[0]).collect();
    assert!(slower.is_empty(), "{slower:?}");
    let faster = all.iter().filter(|kernel| kernel.cycles[1] < kernel.cycles[0]);
    faster.clone().for_each(|kernel| println!("faster: {} {:?}", kernel.name, kernel.cycles));
    println!("{} kernels, {checked} check, {} faster, none slower", all.len(), faster.count());
}
