//! Rules as text: one format, one reader, one check and one proof for all kinds.
//!
//! A rule replaces its left side by its right side. The first line of a file specifies the kind of its rules:
//!
//! ```text
//! rules mapping
//!
//! // Stride-modulo decomposition: blocks and the positions in a block are the whole.
//! rule split-join: [E / n, E = n, ...R] => [E, ...R] if exact(E / n)
//! ```
//!
//! | kind | sides | options | conditions | read from |
//! |---|---|---|---|---|
//! | `mapping` | mappings | none | comparisons, `exact`, `anchored`, `consecutive` | `--mapping-rules` |
//! | `configuration` | clauses and values | an operation | the same, and `dtype` | `--rules` |
//! | `tensor` | operations on values | `reals` | `total`, `whole`, `lossless` and others | `--tensor-rules` |
//! | `vector` | expressions | format, `fast ULPS` | `number`, `power_of_two` | the built-in file |
//!
//! The kinds are implemented in `kind.rs` of visa-canonical, visa-select, visa-raise and visa-vector. Built-in files
//! are
//! `mapping.rules`, `tensor.rules`, `reals.rules` and `vector.rules` of these crates.
//!
//! The same holds for every kind:
//!
//! - A rule is `rule NAME OPTIONS: LEFT => RIGHT if CONDITION`, on one line or several. `<=>` also applies it from
//!   right to left; configuration rules have only `=>`.
//! - A comment `// ...` directly above a rule explains it.
//! - The left side binds metavariables, at most [`MAX_VARIABLES`]. The right side and the condition use them.
//! - Conditions are joined by `and`, `or`, `not` and brackets.
//! - Names are unique, also among built-in rules.
//! - A rule has at most [`MAX_BYTES`] bytes, and brackets nest at most [`MAX_NESTING`] levels.
//!
//! [`load`] reads a user's file: `header` accepts files of the expected kind, `read` converts text to rules and
//! reports every mistake at its place, and `prove` compares both sides of each rule on small examples. [`check`]
//! omits the proof, for built-in rules that a test has proved. A kind implements [`RuleKind`]: its sides, options
//! and tests, from trees of the grammar (`rules.pest`), and the comparison of both sides.

mod condition;
mod grammar;
mod header;
mod kind;
mod prove;
mod read;
mod scope;
mod verdict;

pub use condition::Condition;
pub use grammar::{Syntax, Tree, Trees, refuse, span};
pub use kind::{COMPARISON, Kind, Rule, RuleKind};
pub use prove::{Proved, RuleReport, check, load, prove};
pub use read::{MAX_BYTES, MAX_NESTING, MAX_SYNTAX_ERRORS, read};
pub use scope::{MAX_VARIABLES, Scope, Sort};
pub use verdict::{Counterexample, Verdict};
