//! Elementwise expressions over the functions of the vector engine: the text of `stream.vector_expr`.
//!
//! An [`Expression`] is the written form, with named functions such as `gelu`; a [`Dag`] is its semantics for given
//! formats: operations of the engine on numbers and operands, each different one once.

mod dag;
mod functions;
mod named;
mod parse;
mod range;

pub use dag::{Dag, MAX_OPERATIONS, Node, NodeKind, Steps, TypeError};
pub use functions::{FUNCTIONS, Function, Shape};
pub use named::named;
pub use parse::{MAX_NESTING, MAX_TERMS};
pub use range::Range;

use crate::tensor::numbers::Number;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use visa_ir::decl::{Body, BodyDef, BodyError};

/// `#stream.expression<[x, b: max(x + b, 0)]>`: an [`Expression`]. The name is from version 1 of the text, so dialect
/// stream lists the attribute.
pub static EXPRESSION: BodyDef = BodyDef {
    name: "stream.expression",
    syntax: "[NAME, ...: EXPRESSION]",
    doc: "An expression of each element. The names stand for the operands in their order. An expression is a \
          number, a name, a call, or `+ - * /` of expressions, with `-x` and brackets as usual. Functions are those \
          of the vector engine (`exp negexp sqrt tanh sigmoid erf log sin cos fma mask_mul mask_fma min max abs_min \
          abs_max and or xor shl shl_sat lshr ashr ashr_round add_sat sub_sat mul_fxp`, and `float(x, w)`, \
          `fixed(x, w)` with an integer width w) and those defined by them (`neg abs square reciprocal rsqrt clamp \
          relu relu6 leaky_relu silu gelu gelu_tanh softplus mish hard_sigmoid elu`). A number has the format of \
          the other operands.",
    parse: |text| Ok(Rc::new(Expression::parse(text)?) as Rc<dyn Body>),
    ..BodyDef::BASE
};

/// An expression and the names of its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// Names of the operands, in their order.
    pub names: Vec<Arc<str>>,
    /// The computed term.
    pub term: Term,
}

/// A term of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// The operand of this number.
    Name(usize),
    /// A number of the format that it meets.
    Number(f64),
    /// A function of the engine or a named one; `+ - * /` are `add`, `sub`, `mul` and `div`, the sign is `neg`.
    Call(Arc<str>, Vec<Term>),
}

impl Expression {
    /// Reads `[x, b: max(x + b, 0)]`.
    ///
    /// # Errors
    /// The error, with its position in the text.
    pub fn parse(text: &str) -> Result<Self, BodyError> {
        parse::body(text, &named::VOCABULARY)
    }

    /// The text of a term.
    fn write(&self, f: &mut fmt::Formatter<'_>, term: &Term, least: Precedence) -> fmt::Result {
        let precedence = Precedence::of(term);
        if precedence < least {
            f.write_str("(")?;
            self.write(f, term, Precedence::Sum)?;
            return f.write_str(")");
        }
        match term {
            Term::Name(at) => f.write_str(self.names.get(*at).map_or("?", |name| name)),
            Term::Number(number) => write!(f, "{}", Number(*number)),
            Term::Call(function, args) => match (&**function, args.as_slice()) {
                ("neg", [arg]) => {
                    f.write_str("-")?;
                    self.write(f, arg, Precedence::Factor)
                }
                (name, [left, right]) if infix(name).is_some() => {
                    self.write(f, left, precedence)?;
                    write!(f, " {} ", infix(name).unwrap_or_default())?;
                    self.write(f, right, precedence.next())
                }
                (name, args) => {
                    write!(f, "{name}(")?;
                    for (at, arg) in args.iter().enumerate() {
                        f.write_str(if at == 0 { "" } else { ", " })?;
                        self.write(f, arg, Precedence::Sum)?;
                    }
                    f.write_str(")")
                }
            },
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}: ", self.names.join(", "))?;
        self.write(f, &self.term, Precedence::Sum)?;
        f.write_str("]")
    }
}

/// The sign between the arguments of a function that has one.
fn infix(function: &str) -> Option<&'static str> {
    [("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/")]
        .into_iter()
        .find_map(|(name, sign)| (name == function).then_some(sign))
}

/// Precedence of a term.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Sum,
    Product,
    Factor,
}

impl Precedence {
    fn of(term: &Term) -> Self {
        match term {
            Term::Name(_) | Term::Number(_) => Self::Factor,
            Term::Call(function, _) => match &**function {
                "add" | "sub" => Self::Sum,
                "mul" | "div" => Self::Product,
                _ => Self::Factor,
            },
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Sum => Self::Product,
            Self::Product | Self::Factor => Self::Factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        Expression::parse(text).map(|expression| expression.to_string()).map_err(|error| error.message)
    }

    #[test]
    fn text_is_canonical() {
        for (text, canonical) in [
            ("[x:x]", "[x: x]"),
            ("[ x , b : max( x+b,0 ) ]", "[x, b: max(x + b, 0)]"),
            ("[x: add(x, 1) * mul(x, 2)]", "[x: (x + 1) * (x * 2)]"),
            ("[x: x + 1 - 2 * x]", "[x: x + 1 - 2 * x]"),
            ("[x: x - (1 - x)]", "[x: x - (1 - x)]"),
            ("[x: x / (x * x) / x]", "[x: x / (x * x) / x]"),
            ("[x: -x * -(x + 1)]", "[x: -x * -(x + 1)]"),
            ("[x: --x - -2]", "[x: --x - -2]"),
            ("[x: -(x * x)]", "[x: -(x * x)]"),
            ("[x: x * 1e-3]", "[x: x * 0.001]"),
            ("[x: neg(silu(x))]", "[x: -silu(x)]"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(canonical), "{text}");
            assert_eq!(read(canonical).as_deref(), Ok(canonical), "{text}");
        }
    }

    #[test]
    fn bad_text_is_refused_where_it_is_wrong() {
        for (text, at, message) in [
            ("", 0, "expected `[`"),
            ("[x]", 2, "expected `,` or `:`"),
            ("[x: ]", 4, "expected an expression"),
            ("[x: x +]", 7, "expected an expression"),
            ("[x: x x]", 6, "expected `]` or a sign"),
            ("[x: gleu(x)]", 4, "unknown function `gleu`"),
            ("[x: gelu(x, x)]", 4, "`gelu` takes 1 argument, found 2"),
            ("[x: fma(x, 1)]", 4, "`fma` takes 3 arguments, found 2"),
            ("[x: y + 1]", 4, "unknown operand `y`"),
            ("[x, x: x]", 4, "`x` names two operands"),
            ("[x: x(2)]", 4, "unknown function `x`"),
            ("[x: x * 1e999]", 8, "`1e999` is no finite number"),
            ("[x: 2]", 0, "depends on no operand"),
        ] {
            let error = Expression::parse(text).expect_err(text);
            assert!(error.message.contains(message), "{text}: {}", error.message);
            assert_eq!(error.range.map_or(0, |range| range.start), at, "{text}");
        }
        let deep = format!("[x: {}x{}]", "(".repeat(MAX_NESTING), ")".repeat(MAX_NESTING));
        assert_eq!(read(&deep).as_deref(), Ok("[x: x]"));
        let deep = format!("[x: ({}x{})]", "(".repeat(MAX_NESTING), ")".repeat(MAX_NESTING));
        assert!(read(&deep).is_err_and(|why| why.contains("deeper than")));
        let long = |terms: usize| format!("[x: x{}]", " + 1".repeat(terms));
        assert!(read(&long((MAX_TERMS - 1) / 2)).is_ok());
        assert!(read(&long(MAX_TERMS / 2 + 1)).is_err_and(|why| why.contains("more than")));
    }
}
