//! Maximal sizes of mappings and axes.

/// Largest size of an axis or a mapping, in positions. Far beyond any memory, and small enough that the
/// sum of two coordinates never leaves 64 bits.
pub const MAX_SIZE: u64 = 1 << 62;

/// Deepest nesting of an expression, where each group and each postfix operator is one level. It bounds
/// every recursion over expressions.
pub const MAX_DEPTH: usize = 64;

/// Most axes, numbers, groups and operators in one expression.
pub const MAX_NODES: usize = 4096;
