//! What tests and benchmarks share. It depends on no crate of the workspace, so that every one of them may use it
//! as a dev-dependency.

pub mod kernel;
pub mod page;
mod random;
mod settings;

pub use random::Random;
pub use settings::setting;
