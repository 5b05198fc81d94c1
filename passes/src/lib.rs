//! Every pass that comes with visa, and the small ones themselves: a file of `src/pass/` each, which the build
//! script registers.

/// The passes of this crate, a module a file.
pub mod passes {
    use visa_pass::Pass;
    include!(concat!(env!("OUT_DIR"), "/pass.rs"));
}

mod chip;

use visa_pass::Pass;

/// The passes that come with visa, by name.
#[must_use]
pub fn standard_passes() -> Vec<&'static Pass> {
    let crates = [
        passes::PASSES,
        visa_allocate::passes::PASSES,
        visa_lowering::passes::PASSES,
        visa_plan::passes::PASSES,
        visa_raise::passes::PASSES,
        visa_schedule::passes::PASSES,
        visa_select::passes::PASSES,
        visa_vector::passes::PASSES,
    ];
    let mut all = crates.concat();
    all.sort_by_key(|pass| pass.name);
    all
}
