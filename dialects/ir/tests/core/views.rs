//! Clauses, operands and results by their accessors: an absent value, `auto` or another kind is an error, never a
//! default.

use crate::toy::{Mixing, Mode, Sizes, context, good};
use std::fmt;
use visa_ir::context::{Attr, Context};
use visa_ir::module::{Module, OpId};
use visa_ir::view::{BodyOf, Int, Ints, Text, WordOf, operand, optional, required, result, unless_auto};

/// Its operations: the function, `make`, two of `place`, the return.
const TEXT: &str = "visa 1\ntoy.func @main() {\n  %m = toy.make size 7\n  %p = toy.place auto %m at auto\n  %q = \
                    toy.place fast %m at 3, bases [0, auto]\n  toy.return\n}\n";
const MAKE: usize = 1;
const OPEN: usize = 2;
const PLACED: usize = 3;

/// A value that no type and no attribute of the dialect has.
struct Other;

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("other")
    }
}

fn kernel(ctx: &Context) -> (Module, Vec<OpId>) {
    let module = good(ctx, TEXT);
    let ops = module.walk_all();
    (module, ops)
}

/// The code of an error.
fn code<T>(read: Result<T, visa_ir::diag::Diagnostic>) -> String {
    read.err().map_or_else(|| "no error".to_owned(), |error| error.code)
}

#[test]
fn what_is_written_is_read() {
    let ctx = context();
    let (module, ops) = kernel(&ctx);
    let op = |at: usize| module.op(&ctx, ops[at]);
    assert_eq!(required::<Int>(&op(MAKE), "size"), Ok(7));
    assert_eq!(unless_auto::<Int>(&op(PLACED), "at"), Ok(Some(3)));
    assert_eq!(required::<WordOf<Mode>>(&op(MAKE), "mode"), Ok(Mode::Fast), "the declared default");
    assert_eq!(required::<WordOf<Mode>>(&op(PLACED), "how"), Ok(Mode::Fast));
    assert_eq!(code(required::<WordOf<Mixing>>(&op(PLACED), "how")), "clause-kind", "a word of another set");
    assert_eq!(optional::<Text>(&op(MAKE), "label"), Ok(None));
    let source = operand(&op(PLACED), 0, "source").unwrap();
    assert_eq!(source.of_type::<Sizes>().map(|sizes| sizes.to_string()).as_deref(), Ok("[7]"));
}

#[test]
fn an_absent_clause_is_an_error_unless_it_may_be_absent() {
    let ctx = context();
    let (mut module, ops) = kernel(&ctx);
    module.set_clause(ops[MAKE], "size", None);
    module.set_clause(ops[PLACED], "at", None);
    module.set_clause(ops[PLACED], "bases", None);
    let op = |at: usize| module.op(&ctx, ops[at]);
    assert_eq!(code(required::<Int>(&op(MAKE), "size")), "missing-clause");
    assert_eq!(code(unless_auto::<Int>(&op(PLACED), "at")), "missing-clause");
    assert_eq!(unless_auto::<Ints>(&op(PLACED), "bases"), Ok(None));
    assert_eq!(code(required::<Int>(&op(MAKE), "unknown")), "missing-clause");
}

#[test]
fn an_open_clause_is_an_error_unless_it_is_asked_for() {
    let ctx = context();
    let (module, ops) = kernel(&ctx);
    let op = |at: usize| module.op(&ctx, ops[at]);
    assert_eq!(unless_auto::<Int>(&op(OPEN), "at"), Ok(None));
    assert_eq!(unless_auto::<WordOf<Mode>>(&op(OPEN), "how"), Ok(None));
    assert_eq!(unless_auto::<Ints>(&op(PLACED), "bases"), Ok(None), "one of the list is open");
    assert_eq!(code(required::<Int>(&op(OPEN), "at")), "clause-kind");
    assert_eq!(code(optional::<Ints>(&op(PLACED), "bases")), "clause-kind");
    let fix = required::<Int>(&op(OPEN), "at").unwrap_err().fix;
    assert!(fix.is_some(), "what to write in place of `auto`");
}

#[test]
fn another_kind_is_an_error_at_its_clause() {
    let ctx = context();
    let (mut module, ops) = kernel(&ctx);
    let word = ctx.attr(Attr::Str("seven".into()));
    for clause in ["size", "tile", "label"] {
        module.set_clause(ops[MAKE], clause, Some(word));
    }
    module.set_clause(ops[PLACED], "at", Some(word));
    let op = |at: usize| module.op(&ctx, ops[at]);
    assert_eq!(code(required::<Int>(&op(MAKE), "size")), "clause-kind");
    assert_eq!(code(optional::<BodyOf<Other>>(&op(MAKE), "tile")), "clause-kind");
    assert_eq!(code(optional::<Int>(&op(MAKE), "label")), "clause-kind");
    assert_eq!(code(unless_auto::<Int>(&op(PLACED), "at")), "clause-kind");
    let error = required::<Int>(&op(MAKE), "size").unwrap_err();
    assert_eq!(error.span, op(MAKE).clause_span("size"));
}

#[test]
fn missing_values_and_values_of_other_types_are_errors() {
    let ctx = context();
    let (module, ops) = kernel(&ctx);
    let op = |at: usize| module.op(&ctx, ops[at]);
    assert!(operand(&op(MAKE), 0, "source").is_err());
    assert!(result(&op(MAKE), 1, "second").is_err());
    let made = result(&op(MAKE), 0, "made").unwrap();
    assert_eq!(code(made.of_type::<Other>()), "value-type");
}
