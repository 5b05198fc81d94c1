//! Division of a stream by a buffer: the loops and strides that visit the buffer in the stream's order.

pub(crate) mod across;
pub(crate) mod divide;
pub(crate) mod gather;
