//! The logical evaluator: what a kernel means, from its mappings alone.
