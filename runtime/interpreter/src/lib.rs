//! Executes hw programs on byte memories.
//!
//! The interpreter runs [`visa_hw::program::Program`] and nothing else: it knows bytes, loops and engines, no axes. A
//! run gives the same bits for every number of threads. In shadow mode each byte carries a mark that tells if it is
//! defined, and an undefined byte in a result is reported with the operations that it came through.

mod buffers;
mod dma;
mod error;
mod exec;
mod index_error;
mod index_uses;
mod indexed;
mod interpreter;
mod local;
mod memory;
mod result;
mod runs;

pub use error::RunError;
pub use exec::MAX_THREADS;
pub use index_error::{IndexError, IndexPlace};
pub use index_uses::IndexUse;
pub use interpreter::{Interpreter, Options};
pub use memory::PAGE_BYTES;
pub use result::{Origin, ResultData, Step, UndefinedReport};
