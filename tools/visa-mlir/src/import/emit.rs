//! Operations of the tensor level, and elements of which they are built.

pub(crate) mod arcs;
pub(crate) mod axes;
pub(crate) mod compare;
pub(crate) mod counts;
pub(crate) mod double;
pub(crate) mod elem;
pub(crate) mod emitter;
pub(crate) mod function;
pub(crate) mod functions;
pub(crate) mod integers;
pub(crate) mod narrow;
pub(crate) mod scalar;
