//! Executes hw programs on byte memories.
