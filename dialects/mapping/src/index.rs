//! `!tm.index`: a number that is known in each iteration of the loops around it.

pub mod affine;
pub mod cases;

use std::fmt;
use std::rc::Rc;
use visa_ir::decl::{Body, BodyDef, BodyError};

/// `!tm.index`.
pub static INDEX: BodyDef = BodyDef {
    name: "tm.index",
    syntax: "",
    doc: "A number that is known in each iteration of the loops around it: a loop's index, or a result of \
          `tm.affine` or `tm.select`.",
    parse: |text| match text.trim() {
        "" => Ok(Rc::new(Index) as Rc<dyn Body>),
        text => Err(BodyError::new("index", format!("found `{text}`, expected nothing: `!tm.index`"))),
    },
    ..BodyDef::BASE
};

/// The body of `!tm.index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index;

impl fmt::Display for Index {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// The types of numbers that give the position of a tile.
pub const INDICES: &[&str] = &["tm.index", "tm.scalar"];
