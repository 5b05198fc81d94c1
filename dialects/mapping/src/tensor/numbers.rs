//! Attributes that are numbers as people write them, in any number format.

use std::fmt;
use std::rc::Rc;
use visa_ir::decl::{Body, BodyDef, BodyError};

/// `#tm.numbers<[0, -2, 0.5]>`: [`Numbers`].
pub static NUMBERS: BodyDef = BodyDef {
    name: "tm.numbers",
    syntax: "[0, -2, 0.5, 1e-3]",
    doc: "Numbers: integers exact up to 2^53, others the nearest of 64 bits; `inf` and `-inf`.",
    parse: |text| {
        let inside = text.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let inside = inside.ok_or_else(|| malformed(text))?.trim();
        let list = inside.split(',').filter(|_| !inside.is_empty());
        Ok(Rc::new(Numbers(list.map(number).collect::<Result<_, _>>()?)) as Rc<dyn Body>)
    },
    ..BodyDef::BASE
};

/// `#tm.number<0.5>`: a [`Number`].
pub static NUMBER: BodyDef = BodyDef {
    name: "tm.number",
    syntax: "0.5",
    doc: "A number, as in `tm.numbers`.",
    parse: |text| Ok(Rc::new(Number(number(text)?)) as Rc<dyn Body>),
    ..BodyDef::BASE
};

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A list of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers(pub Vec<f64>);

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<_> = self.0.iter().map(f64::to_string).collect();
        write!(f, "[{}]", items.join(", "))
    }
}

/// One number; of those that are not finite, only `inf` and `-inf`.
fn number(text: &str) -> Result<f64, BodyError> {
    let text = text.trim();
    match text {
        "inf" => Ok(f64::INFINITY),
        "-inf" => Ok(f64::NEG_INFINITY),
        _ => text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| malformed(text)),
    }
}

fn malformed(text: &str) -> BodyError {
    BodyError::new("number", format!("found `{}`, expected numbers such as `[0, -2, 0.5]`", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        (NUMBERS.parse)(text).map(|body| body.to_string()).map_err(|error| error.message)
    }

    #[test]
    fn text_is_canonical() {
        assert_eq!(read("[0, -2, 0.50, 1e-3]").as_deref(), Ok("[0, -2, 0.5, 0.001]"));
        assert_eq!(read(" [ 2147483647 ] ").as_deref(), Ok("[2147483647]"));
        assert_eq!(read("[inf, -inf]").as_deref(), Ok("[inf, -inf]"));
        assert_eq!(read("[]").as_deref(), Ok("[]"));
    }

    #[test]
    fn bad_text_is_refused() {
        for text in [
            "",
            "1",
            "[1",
            "[1,]",
            "[,]",
            "[a]",
            "[nan]",
            "[NaN]",
            "[+inf]",
            "[infinity]",
            "[1e999]",
            "[1 2]",
            "[0x10]",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
