//! The logical evaluator: the semantics of a kernel, computed from its mappings alone.
//!
//! A tensor is a function from indices to elements. A kernel of the memory level is raised to the tensor level first
//! ([`visa_mapping::raise`]), whose operations are defined here, a page each (`values/`). No loop nest of an engine,
//! no address and no byte of the machine takes part, so that a kernel that was lowered and interpreted can be checked
//! against this (docs/ARCHITECTURE.md, two independent semantics).
//!
//! A module must verify before it is evaluated; of one that does not, evaluation gives an error or some value, but it
//! never panics.

mod evaluate;
mod fast;
mod indexed;
mod interface;
mod interval;
mod layout;
mod limits;
mod order;
mod shuffle;
mod tensor;
mod turn;
mod values;
mod view;

pub use evaluate::{KernelArguments, LogicalResult, Options, evaluate};
pub use fast::Allowed;
pub use interface::{ScalarInfo, Signature, TensorInfo, entry_point, interface};
pub use limits::MAX_ELEMENTS;
