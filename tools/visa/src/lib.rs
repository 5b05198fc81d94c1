//! The one crate that a researcher's own crate depends on.
//!
//! Its modules are the crates of visa: those that declare operations ([`ir`], [`mapping`], [`stream`], [`sequencer`],
//! [`hw`]), those with the behaviour and cost of engines ([`engine`], [`machine`], [`numerics`], [`loops`]), passes
//! ([`pass`], [`lowering`], [`select`]), and those that run kernels ([`interpreter`], [`cost`], [`timeline`],
//! [`reference`](mod@reference)).
//!
//! A [`Tool`] has everything that comes with visa and a researcher's additions. It is their visa-opt, visa-run and
//! visa-lit:
//!
//! ```no_run
//! use std::process::ExitCode;
//! use visa::Tool;
//! use visa::ir::decl::Dialect;
//! use visa::ir::level::Level;
//! use visa::pass::Pass;
//!
//! static MY: Dialect = Dialect { name: "my", doc: "", level: Level::Any, ops: &[], types: &[], attrs: &[] };
//! static NOTHING: Pass = Pass { name: "my-pass", summary: "does nothing yet", ..Pass::BASE };
//!
//! fn main() -> ExitCode {
//!     Tool::standard().dialect(&MY).pass(&NOTHING).main()
//! }
//! ```

mod tool;

pub use tool::{Tool, command};
pub use visa_algebra as algebra;
pub use visa_cost as cost;
pub use visa_engine as engine;
pub use visa_hw as hw;
pub use visa_interpreter as interpreter;
pub use visa_lit as lit;
pub use visa_loops as loops;
pub use visa_lowering as lowering;
pub use visa_machine as machine;
pub use visa_mapping as mapping;
pub use visa_numerics as numerics;
pub use visa_opt::{Io, Registry, load_module, process};
pub use visa_pass as pass;
pub use visa_reference as reference;
pub use visa_run::data;
pub use visa_select as select;
pub use visa_sequencer as sequencer;
pub use visa_stream as stream;
pub use visa_timeline as timeline;

/// The IR core. Its attributes [`view`](macro@ir::view) and [`clause`](macro@ir::clause) make code that names it as
/// `visa::ir`.
pub mod ir {
    pub use visa_ir::*;
    pub use visa_ir_macros::{visa_clause as clause, visa_view as view};
}
