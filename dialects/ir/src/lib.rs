//! The IR core: operations declared once, their text, their structure, and their diagnostics.
//!
//! A [`Dialect`](decl::Dialect) is data: operations ([`OpDecl`](decl::OpDecl)), types and attributes
//! ([`BodyDef`](decl::BodyDef)). A [`Context`](context::Context) registers dialects and interns types and attributes.
//! A [`Module`](module::Module) owns operations; [`parse`](parse::parse) reads one from text, [`print`](print::print)
//! writes it back, [`verify`](verify::verify) reports its errors. The crate prints nothing and has no global state.

#![allow(clippy::disallowed_methods, reason = "names of operations are text in this crate alone")]

pub mod analysis;
pub mod build;
pub mod content;
pub mod context;
pub mod decl;
pub mod diag;
pub mod doc;
pub mod effects;
pub mod infer;
pub mod irdl;
pub mod level;
pub mod location;
mod memo;
pub mod module;
pub mod open;
pub mod parse;
pub mod print;
pub mod rewrite;
pub mod span;
mod stamp;
pub mod symbols;
pub mod verify;
mod version;
pub mod view;

pub use version::VERSION;
pub use visa_ir_macros::{clause, view};
pub use visa_words::{Word, words};
