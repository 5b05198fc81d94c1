//! The arguments and results of a program.

use visa_hw::program::{Buffer, Program};

/// The buffers of a program's arguments, or of its results.
pub(crate) fn buffers(program: &Program, argument: bool) -> impl Iterator<Item = &Buffer> {
    program.buffers.iter().filter(move |buffer| buffer.argument == argument)
}
