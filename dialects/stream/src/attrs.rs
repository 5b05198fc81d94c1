//! The bodies of clauses that hold guards and comparisons, with numbers as people write them.

use std::rc::Rc;
use visa_ir::decl::{Body, BodyDef, BodyError};
use visa_mapping::tensor::attrs::COMPARISONS as COMPARED;
use visa_mapping::tensor::numbers::{NUMBER, Number};
use visa_numerics::Guards;

/// `#stream.guards<[0xxx: 10, 1xxx: value]>`: [`Guards`] of [`Number`].
pub static GUARDS: BodyDef = BodyDef {
    name: "stream.guards",
    syntax: "[GUARD, ...] or [GUARD: NUMBER, ..., GUARD: value]",
    doc: "Where an operation of the vector engine applies (book 21). A guard is a pattern over the 4 bits of an \
          element's execution id, bit 3 first, `x` for either: the first that holds counts, and where none holds \
          the element passes unchanged. After the colon is the operand: a number, or the operation's value \
          operand.",
    parse: |text| {
        let guards = Guards::parse(text, number).map_err(|why| BodyError::new("guards", why))?;
        Ok(Rc::new(guards) as Rc<dyn Body>)
    },
    ..BodyDef::BASE
};

/// `#stream.comparisons<[less 0, equal 7]>`: [`visa_numerics::Comparisons`] of [`Number`].
pub static COMPARISONS: BodyDef = BodyDef {
    name: "stream.comparisons",
    syntax: "[less NUMBER, equal NUMBER, greater NUMBER, less_unsigned NUMBER, greater_unsigned NUMBER, true, \
             false]",
    doc: "The conditions that set the bits of an execution id, bit 0 first: a comparison of the element with a \
          number, or always or never (book 21). The unsigned ones compare bit patterns.",
    parse: COMPARED.parse,
    ..BodyDef::BASE
};

/// A number, as `tm.number` reads it.
fn number(text: &str) -> Option<Number> {
    (NUMBER.parse)(text).ok()?.into_any().downcast_ref::<Number>().copied()
}
