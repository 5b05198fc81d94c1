//! Prices hw programs in cycles.
