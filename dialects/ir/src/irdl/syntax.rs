//! The syntax of a body for MLIR, whose parser lacks our grammars: its fields, and the possible words of a field.

use crate::decl::{BodyDef, Dialect};

/// One parameter of a type or an attribute in MLIR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Its name.
    pub(super) name: String,
    /// The words that it may be; empty if it may be any text.
    pub(super) words: Vec<&'static str>,
}

impl Field {
    fn text(name: &str) -> Self {
        Self { name: name.to_lowercase(), words: Vec::new() }
    }
}

/// The fields of a body. A list of names in capitals (`DTYPE, CHIP`) has a field for each; any other body is one
/// field.
pub(super) fn fields(def: &BodyDef, dialects: &[&'static Dialect]) -> Vec<Field> {
    let words = words(def.syntax);
    if !words.is_empty() {
        return vec![Field { name: "word".into(), words }];
    }
    match names(def) {
        None => vec![Field::text("body")],
        Some(names) => {
            names.map(|name| Field { words: words_of(name, dialects), ..Field::text(name) }).collect()
        }
    }
}

/// The words of the attribute that a field is called after: `DTYPE` is written as a `#tm.dtype`.
fn words_of(name: &str, dialects: &[&'static Dialect]) -> Vec<&'static str> {
    let mut attrs = dialects.iter().flat_map(|dialect| dialect.attrs);
    let called =
        |def: &BodyDef| def.name.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case(name));
    attrs.find(|def| called(def)).map_or(Vec::new(), |def| words(def.syntax))
}

/// The words of `a | b | c`; none if the syntax is not of this kind.
fn words(syntax: &'static str) -> Vec<&'static str> {
    let words: Vec<_> = syntax.split(" | ").collect();
    let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if words.len() > 1 && words.iter().all(is_word) { words } else { Vec::new() }
}

/// The names of `CHIP, ELEMENT`; `None` if the syntax is not of this kind.
fn names(def: &BodyDef) -> Option<impl Iterator<Item = &'static str> + use<>> {
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase());
    let names = def.syntax.split(", ");
    names.clone().all(is_name).then_some(names)
}

/// The text of a body, cut into the fields of its definition.
pub(super) fn cut<'t>(def: &BodyDef, text: &'t str) -> Vec<&'t str> {
    if names(def).is_none() {
        return vec![text];
    }
    let mut pieces = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                pieces.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(text[start..].trim());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn body(name: &'static str, syntax: &'static str) -> BodyDef {
        BodyDef { name, syntax, ..BodyDef::BASE }
    }

    static DTYPE: BodyDef = body("t.dtype", "i8 | bf16");
    static DIALECT: Dialect = Dialect {
        name: "t",
        doc: "",
        level: crate::level::Level::Any,
        ops: &[],
        types: &[],
        attrs: &[&DTYPE],
    };

    fn shape(syntax: &'static str) -> Vec<(String, Vec<&'static str>)> {
        let fields = fields(&body("t.x", syntax), &[&DIALECT]);
        fields.into_iter().map(|field| (field.name, field.words)).collect()
    }

    #[test]
    fn a_syntax_says_its_fields() {
        assert_eq!(shape("i8 | f32"), [("word".to_owned(), vec!["i8", "f32"])]);
        let fields = [("dtype".to_owned(), vec!["i8", "bf16"]), ("chip".to_owned(), vec![])];
        assert_eq!(shape("DTYPE, CHIP"), fields);
        for other in ["[A / 8 # 256]", "bf16", "[SIZE, ...]", "DTYPE [BITS, ...]", "", "0.5", "[A] | [B]"] {
            assert_eq!(shape(other), [("body".to_owned(), vec![])], "{other}");
        }
    }

    #[test]
    fn a_body_is_cut_at_the_commas_between_its_fields() {
        let fields = body("t.x", "DTYPE, CHIP, ELEMENT");
        assert_eq!(
            cut(&fields, "bf16, [1], [A, $(B:2, C:1) # 8 {0}]"),
            ["bf16", "[1]", "[A, $(B:2, C:1) # 8 {0}]"]
        );
        assert_eq!(cut(&fields, "bf16"), ["bf16"]);
        assert_eq!(cut(&body("t.y", "[A, B]"), "[A, B], 3"), ["[A, B], 3"]);
    }
}
