//! Bounds of ours on what an hw program may ask for.

/// Most bytes of one stream in one slice. Ours, not the hardware's: it bounds what the interpreter allocates.
pub const MAX_STREAM_BYTES: u64 = 1 << 26;
