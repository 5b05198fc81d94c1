//! The rules, a file an engine. Each file lists its own in `RULES`; the build script registers the files by name,
//! so of two rules for one operation the one in the first file is asked first.

use crate::rules::rule::Rule;

include!(concat!(env!("OUT_DIR"), "/engines.rs"));
