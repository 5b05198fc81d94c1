//! Bounds of this implementation on hw programs.

/// Most bytes of one stream in one slice. A limit of this implementation, not of the hardware: it bounds the
/// interpreter's allocations.
pub const MAX_STREAM_BYTES: u64 = 1 << 28;
