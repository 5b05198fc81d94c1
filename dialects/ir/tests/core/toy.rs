//! A dialect that uses every means of a declaration once.

use std::fmt;
use std::rc::Rc;
use visa_ir::context::Context;
use visa_ir::decl::{
    Body, BodyDef, BodyError, ClauseDecl, ClauseKind, Dialect, OpDecl, OperandDecl, Trait, make_type,
};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::span::Source;

/// A list of sizes, `[4, 8]`; its text is canonical.
pub(crate) struct Sizes(pub(crate) Vec<u32>);

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

fn sizes(text: &str) -> Result<Rc<dyn Body>, BodyError> {
    let refuse = |word: &str| {
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        BodyError {
            code: "size".into(),
            message: format!("`{word}` is no size"),
            range: Some(at..at + word.len()),
            fix: Some("write a number".into()),
        }
    };
    let inside =
        text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or_else(|| refuse(text))?;
    let words = inside.split(',').map(str::trim);
    let sizes: Result<Vec<_>, _> = words.map(|word| word.parse().map_err(|_| refuse(word))).collect();
    Ok(Rc::new(Sizes(sizes?)))
}

pub(crate) static TENSOR: BodyDef =
    BodyDef { name: "toy.tensor", syntax: "[SIZE, ...]", doc: "A tensor.", parse: sizes, ..BodyDef::BASE };
pub(crate) static TILE: BodyDef =
    BodyDef { name: "toy.tile", syntax: "[SIZE, ...]", doc: "A tile.", parse: sizes, ..BodyDef::BASE };

const ANY: &[&str] = &["toy.tensor"];

static FUNC: OpDecl = OpDecl {
    name: "toy.func",
    clauses: &[
        ClauseDecl::lead("name", ClauseKind::Symbol, "its name"),
        ClauseDecl::optional("chips", ClauseKind::Int, "how many chips"),
    ],
    traits: &[Trait::Function, Trait::TopLevel, Trait::EndsWith("toy.return")],
    effects: Effects::Declares,
    ..OpDecl::BASE
};
static RETURN: OpDecl = OpDecl {
    name: "toy.return",
    operands: &[OperandDecl::variadic("values", ANY)],
    traits: &[Trait::Terminator, Trait::Inside("toy.func")],
    effects: Effects::PURE,
    ..OpDecl::BASE
};
visa_ir::words! {
    /// A mode of computation.
    pub(crate) enum Mode {
        Fast = "fast",
        Exact = "exact",
    }
}

visa_ir::words! {
    /// Result of a mix.
    pub(crate) enum Mixing {
        Sum = "sum",
        Max = "max",
    }
}

#[visa_ir::view(Make)]
pub(crate) static MAKE: OpDecl = OpDecl {
    name: "toy.make",
    clauses: &[
        ClauseDecl::required("size", ClauseKind::Int, "a size"),
        ClauseDecl::optional("label", ClauseKind::Str, "a label"),
        ClauseDecl::default("mode", ClauseKind::word::<Mode>(), "fast", "how"),
        ClauseDecl::optional("callee", ClauseKind::Symbol, "who"),
        ClauseDecl::optional("strides", ClauseKind::Ints, "strides"),
        ClauseDecl::optional("names", ClauseKind::Strs, "names"),
        ClauseDecl::optional("volatile", ClauseKind::Flag, "whether"),
        ClauseDecl::optional("tile", ClauseKind::body::<Sizes>(&TILE), "a tile"),
    ],
    results: &["made"],
    infer: Some(|op| Ok(vec![make_type(op.ctx, &TENSOR, Sizes(vec![op.int("size").unwrap_or(0) as u32]))])),
    effects: Effects::PURE,
    ..OpDecl::BASE
};
#[visa_ir::view(Mix)]
pub(crate) static MIX: OpDecl = OpDecl {
    name: "toy.mix",
    operands: &[OperandDecl::one("left", ANY), OperandDecl::optional("right", ANY)],
    clauses: &[ClauseDecl::lead("how", ClauseKind::word::<Mixing>(), "how")],
    results: &["sum", "carry"],
    effects: Effects::PURE,
    ..OpDecl::BASE
};
static LOOP: OpDecl = OpDecl {
    name: "toy.loop",
    clauses: &[ClauseDecl::lead("times", ClauseKind::Ints, "how often")],
    traits: &[Trait::Region],
    effects: Effects::OfBody,
    ..OpDecl::BASE
};
static NOTE: OpDecl = OpDecl {
    name: "toy.note",
    clauses: &[
        ClauseDecl::lead("text", ClauseKind::Str, "a text"),
        ClauseDecl::required("at", ClauseKind::Int, "where"),
    ],
    effects: Effects::PURE,
    ..OpDecl::BASE
};

#[visa_ir::view(Place)]
pub(crate) static PLACE: OpDecl = OpDecl {
    name: "toy.place",
    operands: &[OperandDecl::one("source", ANY)],
    clauses: &[
        ClauseDecl::lead("how", ClauseKind::word::<Mode>(), "how").open(),
        ClauseDecl::required("at", ClauseKind::Int, "an address").open_address(),
        ClauseDecl::optional("bases", ClauseKind::Ints, "addresses").open_address(),
        ClauseDecl::optional("tile", ClauseKind::body::<Sizes>(&TILE), "a tile").open(),
    ],
    results: &["placed"],
    infer: Some(|op| Ok(vec![op.module.ty(op.operands()[0])])),
    verify: Some(|op, _| match op.int("at") {
        Some(13) => Err(op.clause_error("C1", "at", "13 is no address")),
        Some(_) | None => Ok(()),
    }),
    effects: Effects::PURE,
    ..OpDecl::BASE
};

/// The toy dialect.
pub(crate) static TOY: Dialect = Dialect {
    name: "toy",
    level: visa_ir::level::Level::Any,
    doc: "Every means of a declaration.",
    ops: &[&[&FUNC, &RETURN], &[&MAKE, &MIX, &LOOP, &NOTE, &PLACE]],
    types: &[&TENSOR],
    attrs: &[&TILE],
};

/// A context that knows the toy dialect only.
pub(crate) fn context() -> Context {
    Context::new(&[&TOY])
}

/// Parses and verifies.
pub(crate) fn read(ctx: &Context, text: &str) -> (Module, Vec<Diagnostic>) {
    let source = Source::new("test", text);
    let parsed = parse(ctx, &source, 0..text.len());
    let mut findings = parsed.diagnostics;
    if findings.is_empty() {
        findings = visa_ir::verify::verify(ctx, &parsed.module);
    }
    (parsed.module, findings)
}

/// Parses and verifies a correct text.
#[track_caller]
pub(crate) fn good(ctx: &Context, text: &str) -> Module {
    let (module, findings) = read(ctx, text);
    assert_eq!(findings, [], "{text}");
    module
}

/// A text with everything of the toy dialect in it, as it is printed.
pub(crate) const EVERYTHING: &str = r#"visa 1
toy.func @main(%a: !toy.tensor<[4, 8]>, %b: !toy.tensor<[2]>) chips 2 {
  %m = toy.make size -9223372036854775808, label "a \"b\", \\ [ }", mode exact, callee @main, strides [1, -2, 3], names ["x, y", "]"], volatile, tile [8, 16]
  %0 = toy.make size 9223372036854775807, label "fast", strides [], names []
  %s, %c = toy.mix sum %a : !toy.tensor<[4, 8]>, !toy.tensor<[1]>
  %s_1, %1 = toy.mix max %a, %b : !toy.tensor<[4, 8]>, !toy.tensor<[1]>
  toy.loop [2, 3] {
    toy.loop [] {
      toy.note "in, side: !toy", at 7
      toy.note "word", at 0
      %m_1 = toy.make size 3
    }
  }
  %p = toy.place fast %a at auto, bases [0, auto, -7]
  %q = toy.place auto %p at 13, bases auto, tile [8, 16]
  %r = toy.place exact %q at 5, bases [1, 2], tile auto
  toy.return %m, %s, %1, %r
}
toy.func @empty() {
  toy.return
}
"#;
