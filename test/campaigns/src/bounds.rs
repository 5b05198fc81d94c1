//! Every kernel, and every program of the book: what a report says that its work takes at least is not more than what
//! it takes.

use crate::files::{File, files, read};
use crate::settings::Settings;
use visa_cost::{MemoryModel, price};
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_machine::Machine;
use visa_mapping::ops::func::Func;
use visa_pass::{PassManager, Pipeline, Silent};
use visa_passes::standard_passes;

/// The programs of a module; none if it is not lowered as it is.
fn lowered(ctx: &Context, module: &Module) -> Option<Module> {
    let (mut module, passes) = (module.clone(), standard_passes());
    let pipeline = Pipeline::parse("inline,lower-to-seq,lower-to-hw", &passes).expect("a pipeline");
    PassManager::new(&pipeline, &passes).run(ctx, &mut module, &mut Silent).ok().map(|_| module)
}

/// Prices what is in a file by all models. Returns how many prices there are, and those that are below the bound.
fn below(file: &File) -> (u64, Vec<String>) {
    let ctx = file.context();
    let (mut count, mut wrong) = (0, Vec::new());
    for written in file.texts().filter_map(|text| read(&ctx, text)) {
        let names = written.ops(written.body()).iter().map(|&id| written.op(&ctx, id));
        let names: Vec<_> = names.filter_map(Func::cast).filter_map(|func| func.name().ok()).collect();
        let Some(module) = lowered(&ctx, &written) else { continue };
        for name in names {
            let Ok(program) = visa_hw::compile(&ctx, &module, Some(&name)) else { continue };
            let program = program.started_first();
            for model in MemoryModel::ALL {
                let Ok(report) = price(&program, &ctx.data::<Machine>(), model) else { continue };
                count += 1;
                if report.bound.cycles > report.totals.cycles {
                    wrong.push(format!(
                        "{} @{name}, {}: {} cycles, {:?}",
                        file.name,
                        model.name(),
                        report.totals.cycles,
                        report.bound
                    ));
                }
            }
        }
    }
    (count, wrong)
}

/// Prices all kernels.
///
/// # Panics
/// If a bound is above a price.
pub fn run(settings: &Settings<'_>) {
    let all: Vec<_> = files(&["kernels", "book"], settings.files).iter().map(below).collect();
    let count: u64 = all.iter().map(|(count, _)| count).sum();
    let wrong: Vec<_> = all.into_iter().flat_map(|(_, wrong)| wrong).collect();
    assert!(wrong.is_empty(), "{} of {count}: {wrong:#?}", wrong.len());
    assert!(count > 100, "{count} prices");
    println!("bounds: {count} prices, none below its bound");
}
