//! The declarations in IRDL, MLIR's language for dialects: with it, MLIR of LLVM 22 checks modules of ours in the
//! [registered form](registered()). docs/integrators.md lists the checks.

mod registered;
mod syntax;

pub use registered::{Registered, registered};

use crate::context::quote;
use crate::decl::{Arity, BodyDef, ClauseDecl, ClauseKind, Dialect, OpDecl, OperandDecl, Presence, Trait};
use crate::open::{self, Opening};
use std::fmt::Write as _;
use syntax::fields;

/// Most values of a variadic operand, and most results of an operation with any number of them, that MLIR is told of.
/// IRDL's own variadic operands must all have the same type.
pub const MAX_VARIADIC: usize = 16;

/// The attribute of a clause that is left out: IRDL has no optional attributes.
pub const ABSENT: &str = "#visa.absent";

/// The terminator of a region: MLIR requires one, and no operation that IRDL defines is one.
const TERMINATOR: &str = "ub.unreachable";

/// The module of the types, and that of the attributes: a type, an attribute and an operation may have the same
/// name, which symbols of one dialect may not.
const TYPES: &str = "types";
const ATTRIBUTES: &str = "attributes";

/// The dialects in IRDL.
#[must_use]
pub fn emit(dialects: &[&'static Dialect]) -> String {
    let mut out = Writer::default();
    out.line(
        "// The dialects of visa in IRDL, for MLIR of LLVM 22: `visa-opt --emit-irdl` wrote it from the \
         declarations.",
    );
    out.line(
        "// A type, an attribute and an operation may have the same name, which symbols of one dialect may not: \
         hence the modules.",
    );
    KINDS.iter().for_each(|kind| bodies(&mut out, kind, dialects));
    for dialect in dialects {
        out.open(&format!("irdl.dialect @{}", dialect.name));
        for op in dialect.ops.iter().copied().flatten() {
            operation(&mut out, op);
        }
        out.close();
    }
    out.text
}

/// Text with indentation, and numbered values.
#[derive(Default)]
struct Writer {
    text: String,
    depth: usize,
    values: usize,
}

impl Writer {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * self.depth);
    }

    fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.values = 0;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// A constraint; returns the value that stands for it. No value is used twice: all uses of one would have to
    /// be equal.
    fn constraint(&mut self, constraint: &str) -> String {
        let value = format!("%{}", self.values);
        self.values += 1;
        self.line(&format!("{value} = irdl.{constraint}"));
        value
    }

    /// The constraint that one of `constraints` holds.
    fn any_of(&mut self, constraints: &[String]) -> String {
        let values: Vec<_> = constraints.iter().map(|constraint| self.constraint(constraint)).collect();
        match values.as_slice() {
            [] => self.constraint("any"),
            [one] => one.clone(),
            several => self.constraint(&format!("any_of({})", several.join(", "))),
        }
    }
}

/// Differences between types and attributes.
struct Kind {
    /// The module that they are declared in.
    module: &'static str,
    /// IRDL's word for one of them.
    word: &'static str,
    /// Those that belong to no dialect.
    own: &'static [&'static str],
    /// Those of a dialect.
    of: fn(&Dialect) -> &'static [&'static BodyDef],
}

const KINDS: [Kind; 2] = [
    Kind { module: TYPES, word: "type", own: &[open::TYPE], of: |dialect| dialect.types },
    Kind {
        module: ATTRIBUTES,
        word: "attribute",
        own: &[open::ATTRIBUTE, ABSENT],
        of: |dialect| dialect.attrs,
    },
];

/// All types, or all attributes.
fn bodies(out: &mut Writer, kind: &Kind, dialects: &[&'static Dialect]) {
    out.open(&format!("module @{}", kind.module));
    out.open("irdl.dialect @visa");
    kind.own.iter().for_each(|name| out.line(&format!("irdl.{} @{}", kind.word, last(name))));
    out.close();
    for dialect in dialects.iter().filter(|dialect| !(kind.of)(dialect).is_empty()) {
        out.open(&format!("irdl.dialect @{}", dialect.name));
        (kind.of)(dialect).iter().for_each(|def| body(out, kind, def, dialects));
        out.close();
    }
    out.close();
}

fn body(out: &mut Writer, kind: &Kind, def: &BodyDef, dialects: &[&'static Dialect]) {
    out.open(&format!("irdl.{} @{}", kind.word, last(def.name)));
    let mut parameters = Vec::new();
    for field in fields(def, dialects) {
        let value = if field.words.is_empty() {
            out.constraint("base \"#builtin.string\"")
        } else {
            out.any_of(&field.words.iter().map(|word| is_string(word)).collect::<Vec<_>>())
        };
        parameters.push(format!("{}: {value}", field.name));
    }
    out.line(&format!("irdl.parameters({})", parameters.join(", ")));
    out.close();
}

/// The name without its dialect.
fn last(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, last)| last)
}

fn is_string(word: &str) -> String {
    format!("is {}", quote(word))
}

/// A reference to a type or an attribute.
fn base(module: &str, name: &str) -> String {
    let symbols = name.trim_start_matches(['!', '#']).replacen('.', "::@", 1);
    format!("base @{module}::@{symbols}")
}

fn operation(out: &mut Writer, op: &OpDecl) {
    out.open(&format!("irdl.operation @{}", last(op.name)));
    operands(out, op);
    let results: Vec<_> = if op.has(Trait::AnyResults) {
        (0..MAX_VARIADIC).map(|index| format!("result_{index}: optional {}", out.constraint("any"))).collect()
    } else {
        op.results.iter().map(|name| format!("result_{name}: {}", out.constraint("any"))).collect()
    };
    if !results.is_empty() {
        out.line(&format!("irdl.results({})", results.join(", ")));
    }
    let clauses: Vec<_> = op
        .clauses
        .iter()
        .map(|clause| format!("\"{}\" = {}", clause.name, out.any_of(&values(clause))))
        .collect();
    if !clauses.is_empty() {
        out.line(&format!("irdl.attributes {{ {} }}", clauses.join(", ")));
    }
    if op.has_region() {
        // The arguments of a function are any; another region has none.
        let arguments = if op.has(Trait::Function) { "" } else { "()" };
        let region = out.constraint(&format!("region{arguments} with size 1"));
        out.line(&format!("irdl.regions(body: {region})"));
    }
    out.close();
}

fn operands(out: &mut Writer, op: &OpDecl) {
    let mut list = Vec::new();
    for operand in op.operands {
        let types = types(operand);
        match operand.arity {
            Arity::One => list.push(format!("{}: {}", operand.name, out.any_of(&types))),
            Arity::Optional => list.push(format!("{}: optional {}", operand.name, out.any_of(&types))),
            Arity::Variadic => {
                list.extend(
                    (0..MAX_VARIADIC)
                        .map(|index| format!("{}_{index}: optional {}", operand.name, out.any_of(&types))),
                );
            }
        }
    }
    if !list.is_empty() {
        out.line(&format!("irdl.operands({})", list.join(", ")));
    }
}

/// The types of an operand. One that is not known yet is taken everywhere.
fn types(operand: &OperandDecl) -> Vec<String> {
    let names = operand.types.names();
    if names.is_empty() {
        return Vec::new();
    }
    names.into_iter().chain([open::TYPE]).map(|name| base(TYPES, name)).collect()
}

/// The number of results, if MLIR needs to know which ones are present.
fn result_segments(op: &OpDecl) -> Option<usize> {
    op.has(Trait::AnyResults).then_some(MAX_VARIADIC)
}

/// The number of operands, if MLIR needs to know which ones are present: more than one may be missing.
fn operand_segments(op: &OpDecl) -> Option<usize> {
    let (mut all, mut uncertain) = (0, 0);
    for operand in op.operands {
        let (most, may_miss) = match operand.arity {
            Arity::One => (1, 0),
            Arity::Optional => (1, 1),
            Arity::Variadic => (MAX_VARIADIC, MAX_VARIADIC),
        };
        all += most;
        uncertain += may_miss;
    }
    (uncertain > 1).then_some(all)
}

/// The constraints of which one holds for a clause's value.
fn values(clause: &ClauseDecl) -> Vec<String> {
    let builtin = |name| vec![format!("base \"#builtin.{name}\"")];
    let mut values = match clause.kind {
        ClauseKind::Int => builtin("integer"),
        ClauseKind::Str => builtin("string"),
        ClauseKind::Word(words) => words.iter().map(|word| is_string(word)).collect(),
        ClauseKind::Symbol => builtin("symbol_ref"),
        ClauseKind::Ints => builtin("dense_array"),
        ClauseKind::Strs => builtin("array"),
        ClauseKind::Flag => vec!["is unit".to_owned()],
        ClauseKind::Body(def) => vec![base(ATTRIBUTES, def.name)],
    };
    if clause.opening != Opening::Never {
        values.push(base(ATTRIBUTES, open::ATTRIBUTE));
        // A list of integers of which some are open.
        values
            .extend(matches!(clause.kind, ClauseKind::Ints).then(|| builtin("array")).into_iter().flatten());
    }
    if clause.presence != Presence::Required {
        values.push(base(ATTRIBUTES, ABSENT));
    }
    values
}
