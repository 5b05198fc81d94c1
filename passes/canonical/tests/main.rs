//! Canonical mappings from outside.

mod canonical;
mod canonical_laws;
mod canonical_rules;
