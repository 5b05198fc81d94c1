//! Every kernel of `test/kernels` with every address left open: `allocate` closes them, the kernel runs and
//! checks, and takes no more cycles than with the addresses that its author wrote.

use crate::checks::most_cycles;
use crate::files::{File, files, read};
use crate::settings::Settings;
use visa_cost::MemoryModel;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::open::{self, Opening, open_up};
use visa_ir::print::{Form, print};
use visa_machine::Machine;
use visa_mapping::ops::func::Func;
use visa_opt::{Io, Registry};
use visa_pass::{Level, PassManager, Pipeline, Silent};
use visa_passes::standard_passes;
use visa_stream::ops::vector_expr;

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

fn pass(ctx: &Context, module: &mut Module, pipeline: &str) {
    let passes = standard_passes();
    let pipeline = Pipeline::parse(pipeline, &passes).expect("a pipeline");
    PassManager::new(&pipeline, &passes).run(ctx, module, &mut Silent).expect("passes that run");
}

/// The cycles of a kernel.
fn cycles(ctx: &Context, module: &Module, entry: &str) -> u64 {
    let mut module = module.clone();
    pass(ctx, &mut module, "lower-to-seq,lower-to-hw");
    let program = visa_hw::compile(ctx, &module, Some(entry)).expect("a program").started_first();
    let report = visa_cost::price(&program, &ctx.data::<Machine>(), MemoryModel::Book);
    report.expect("a price").totals.cycles
}

/// Runs and checks a kernel through the tool: its exit code, what it says of the results, and the first line of
/// its errors (a kernel may refuse random data).
fn run_kernel(file: &File, text: &str, entry: &str, allocate: bool) -> (i32, Vec<String>, Option<String>) {
    let mut io = Io::buffered(text.as_bytes(), "");
    let mut args = vec!["-", "--entry", entry, "--check"];
    args.extend(allocate.then_some("--allocate"));
    args.extend(file.machine.iter().flat_map(|machine| ["--machine", machine]));
    let args: Vec<_> = args.into_iter().map(str::to_owned).collect();
    let code = visa_run::run(&Registry::standard(), &args, &mut io);
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
    let mut results = said(&io.stdout);
    results.retain(|line| !line.contains(" cycles on "));
    (code, results, said(&io.stderr).first().map(|message| placeless(message)))
}

/// Whether a kernel leaves nothing to other passes, which would have to run before addresses are chosen.
fn is_closed(ctx: &Context, module: &Module) -> bool {
    let planned = |id| !module.op(ctx, id).is(&vector_expr::DECL);
    open::first(ctx, module, |_| true).is_none() && module.walk_all().into_iter().all(planned)
}

/// The kernels of a file, with open addresses and with the chosen ones.
fn outcomes(file: &File) -> Vec<Outcome> {
    let ctx = file.context();
    let mut found = Vec::new();
    let modules = file.texts().filter_map(|text| read(&ctx, text));
    for mut written in modules.filter(|written| is_closed(&ctx, written)) {
        // What is written in bytes already has no address that could be open.
        if Level::of(&ctx, &written) != Level::Memory {
            continue;
        }
        // Addresses are chosen for each call.
        pass(&ctx, &mut written, "inline");
        let mut module = written.clone();
        open_up(&ctx, &mut module, |_, clause| clause.opening == Opening::Address).expect("types stay");
        let (text, closed) = (print(&ctx, &module, Form::Pretty), print(&ctx, &written, Form::Pretty));
        if open::first(&ctx, &module, |_| true).is_none() {
            continue;
        }
        pass(&ctx, &mut module, "allocate");
        for &id in written.ops(written.body()) {
            let func = written.op(&ctx, id);
            let Some(name) = Func::cast(func).and_then(|func| func.name().ok()) else { continue };
            let (chosen, by_hand) =
                (run_kernel(file, &text, &name, true), run_kernel(file, &closed, &name, false));
            let place = format!("{}: @{name}", file.name);
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

/// A message without the address of an index that chooses no row.
fn placeless(message: &str) -> String {
    let place =
        message.split_once(" (byte ").and_then(|(before, rest)| Some((before, rest.split_once(')')?.1)));
    place.map_or_else(|| message.to_owned(), |(before, after)| format!("{before}{after}"))
}

/// Opens the addresses of the kernels and lets `allocate` choose them.
///
/// # Panics
/// If a kernel is slower or computes something else.
pub fn run(settings: &Settings<'_>) {
    // One after the other: a run takes all cores by itself.
    let all: Vec<Outcome> = files(&["kernels"], settings.files).iter().flat_map(outcomes).collect();
    let checked = all.iter().filter(|kernel| kernel.checked).count();
    // A wrong path must not pass for a good result.
    assert!(checked * 10 >= all.len() * 9 && checked > 0, "{checked} of {} kernels check", all.len());
    let failed: Vec<_> =
        all.iter().filter_map(|kernel| Some((&kernel.name, kernel.failed.as_ref()?))).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let slower: Vec<_> =
        all.iter().filter(|kernel| kernel.cycles[1] > most_cycles(kernel.cycles[0])).collect();
    assert!(slower.is_empty(), "{slower:?}");
    let faster = all.iter().filter(|kernel| kernel.cycles[1] < kernel.cycles[0]);
    faster.clone().for_each(|kernel| println!("faster: {} {:?}", kernel.name, kernel.cycles));
    println!("{} kernels, {checked} check, {} faster, none slower", all.len(), faster.count());
}
