//! A researcher's dialect and passes: the tests extend the tool with them.

use std::rc::Rc;
use visa_ir::decl::{
    Body, BodyDef, BodyError, ClauseDecl, ClauseKind, Dialect, OpDecl, OperandDecl, Trait, make_type,
};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::effects::Effects;
use visa_ir::open::Opening;
use visa_opt::{Io, Registry};
use visa_pass::{Configured, Level, OptionKind, OptionType, OptionValue, Output, OutputName, Pass, PassCx};

static SIZED: BodyDef =
    BodyDef { name: "toy.sized", syntax: "SIZE", doc: "A size.", parse: size, ..BodyDef::BASE };

fn size(text: &str) -> Result<Rc<dyn Body>, BodyError> {
    let refused =
        BodyError { code: "size".into(), message: format!("`{text}` is no size"), range: None, fix: None };
    text.parse::<u32>().map(|size| Rc::new(size) as Rc<dyn Body>).map_err(|_| refused)
}

static FUNC: OpDecl = OpDecl {
    name: "toy.func",
    summary: "a function",
    clauses: &[ClauseDecl::lead("name", ClauseKind::Symbol, "its name")],
    traits: &[Trait::Function, Trait::TopLevel, Trait::EndsWith("toy.return")],
    effects: Effects::Declares,
    ..OpDecl::BASE
};
static RETURN: OpDecl = OpDecl {
    name: "toy.return",
    summary: "ends a function",
    operands: &[OperandDecl::variadic("values", &["toy.sized"])],
    traits: &[Trait::Terminator],
    effects: Effects::PURE,
    ..OpDecl::BASE
};
#[visa_ir::view(Const)]
static CONST: OpDecl = OpDecl {
    name: "toy.const",
    summary: "a constant",
    constraints: &[("C1", "the value is not 13")],
    clauses: &[ClauseDecl::required("value", ClauseKind::Int, "the value").open_address()],
    results: &["result"],
    effects: Effects::PURE,
    infer: Some(|op| Ok(vec![make_type(op.ctx, &SIZED, 1_u32)])),
    verify: Some(|op, _| match Const::of(op)?.value() {
        Ok(13) => Err(op.clause_error("C1", "value", "the value is 13").fix("write 12".to_owned())),
        // It may be open.
        Ok(_) | Err(_) => Ok(()),
    }),
    ..OpDecl::BASE
};
static ADD: OpDecl = OpDecl {
    name: "toy.add",
    summary: "a sum",
    operands: &[OperandDecl::one("left", &["toy.sized"]), OperandDecl::one("right", &["toy.sized"])],
    results: &["sum"],
    effects: Effects::PURE,
    infer: Some(|op| Ok(vec![op.module.ty(op.operands()[0])])),
    ..OpDecl::BASE
};

/// The toy dialect.
pub(crate) static TOY: Dialect = Dialect {
    name: "toy",
    level: visa_ir::level::Level::Any,
    doc: "Numbers.",
    ops: &[&[&FUNC, &RETURN, &CONST, &ADD]],
    types: &[&SIZED],
    attrs: &[],
};

#[visa_ir::view(Lowered)]
static LOWERED: OpDecl = OpDecl {
    name: "seq.nothing",
    summary: "a lowered operation",
    traits: &[Trait::TopLevel],
    effects: Effects::Declares,
    ..OpDecl::BASE
};
static TENSOR: OpDecl = OpDecl {
    name: "tm.nothing",
    summary: "a tensor operation",
    traits: &[Trait::TopLevel],
    effects: Effects::Declares,
    ..OpDecl::BASE
};
/// A dialect at sequencer level.
pub(crate) static SEQ: Dialect = Dialect {
    name: "seq",
    doc: "",
    level: visa_ir::level::Level::Sequencer,
    ops: &[&[&LOWERED]],
    types: &[],
    attrs: &[],
};
/// A dialect at memory level.
pub(crate) static TM: Dialect = Dialect {
    name: "tm",
    doc: "",
    level: visa_ir::level::Level::Memory,
    ops: &[&[&TENSOR]],
    types: &[],
    attrs: &[],
};

/// The constants that are set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    All,
    None,
}

impl OptionType for Mode {
    const KIND: OptionKind = OptionKind::Word(&["all", "none"]);
    fn read(value: &OptionValue) -> Option<Self> {
        match value.text()? {
            "all" => Some(Self::All),
            "none" => Some(Self::None),
            _ => None,
        }
    }
}

visa_pass::options! {
    /// The options.
    struct Settings {
        value: i64 = ("value", "7", "the value"),
        twice: bool = ("twice", "false", "set twice the value"),
        mode: Mode = ("mode", "all", "which"),
        note: String = ("note", "", "a remark to make"),
    }
}

static SET: Pass = Pass {
    name: "set",
    summary: "sets every constant",
    statistics: &[("set", "constants set")],
    open: true,
    ..Pass::with::<Settings>()
};

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let Settings { value, twice, mode, note } = self;
        let value = value * if twice { 2 } else { 1 };
        let attr = cx.ctx.attr(visa_ir::context::Attr::Int(value));
        for id in cx.module.walk_all() {
            let op = cx.module.op(cx.ctx, id);
            if !op.is(&CONST) || mode == Mode::None {
                continue;
            }
            if !note.is_empty() {
                let remark = Diagnostic {
                    severity: Severity::Remark,
                    ..Diagnostic::error("set", op.span(), note.clone())
                };
                cx.report(remark);
            }
            cx.module.set_clause(id, "value", Some(attr));
            cx.count("set", 1);
        }
        Ok(())
    }
}

static PANIC: Pass = Pass { name: "boom", summary: "panics", run: |_| panic!("out of luck"), ..Pass::BASE };
static REFUSE: Pass = Pass { name: "refuse", summary: "refuses constants", run: refuse, ..Pass::BASE };
static DOWN: Pass = Pass {
    name: "lower-toy",
    summary: "lowers",
    takes: Level::Memory,
    gives: Level::Sequencer,
    run: lower,
    ..Pass::BASE
};
static NEEDS: Pass = Pass { name: "needs-seq", summary: "needs seq", takes: Level::Sequencer, ..Pass::BASE };
static LIAR: Pass = Pass {
    name: "liar",
    summary: "lowers nothing",
    takes: Level::Memory,
    gives: Level::Hardware,
    ..Pass::BASE
};

static LAZY: Pass = Pass {
    name: "lazy",
    summary: "closes nothing",
    open: true,
    closes: Some(Opening::Address),
    ..Pass::BASE
};

visa_pass::options! {
    /// Of a pass that writes a file.
    struct ToFile { to: OutputName = ("to", "", "the file") }
}
visa_pass::options! {
    /// Of one that is not marked as such.
    struct ToText { to: String = ("to", "", "a text") }
}

static DUMP: Pass = Pass { name: "dump", summary: "writes a file", ..Pass::with::<ToFile>() };

impl Configured for ToFile {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        dump(cx, self.to.0)
    }
}

/// It does not declare that its option names a file.
static SNEAK: Pass = Pass { name: "sneak", summary: "writes a file", ..Pass::with::<ToText>() };

impl Configured for ToText {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        dump(cx, self.to)
    }
}

fn dump(cx: &mut PassCx<'_>, name: String) -> Result<(), Vec<Diagnostic>> {
    cx.write(Output { name, bytes: b"dumped".to_vec() });
    Ok(())
}

fn refuse(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    let ops = cx.module.walk_all().into_iter().map(|id| cx.module.op(cx.ctx, id));
    let found: Vec<_> = ops.filter(|op| op.is(&CONST)).map(|op| op.error("X", "a constant")).collect();
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn lower(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    for id in cx.module.walk_all() {
        let span = cx.module.op(cx.ctx, id).span();
        cx.module.insert_before(id, Lowered::build_at(cx.ctx, span).spec());
        cx.module.erase(id);
    }
    Ok(())
}

/// The tool's registry with all of that.
pub(crate) fn registry() -> Registry {
    let passes = [&SET, &PANIC, &REFUSE, &DOWN, &NEEDS, &LIAR, &LAZY, &DUMP, &SNEAK];
    let empty = Registry { dialects: Vec::new(), passes: vec![&visa_passes::passes::dce::PASS] };
    passes.into_iter().fold(empty.dialect(&TOY).dialect(&SEQ).dialect(&TM), Registry::pass)
}

/// Result of a run.
pub(crate) struct Ran {
    /// The exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Ran {
    /// Fails unless the run passed and printed nothing.
    #[track_caller]
    pub(crate) fn quiet(&self) -> &str {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        &self.out
    }

    /// Fails unless the run did not hold, and all of `parts` are on standard error, in this order.
    #[track_caller]
    pub(crate) fn refused(&self, parts: &[&str]) {
        assert_eq!(self.code, 1, "{}\n{}", self.out, self.err);
        let mut rest = self.err.as_str();
        for part in parts {
            let at = rest.find(part).unwrap_or_else(|| panic!("no `{part}` in:\n{}", self.err));
            rest = &rest[at + part.len()..];
        }
    }
}

/// Runs the tool on `input` in the folder `cwd`.
pub(crate) fn run_in(cwd: &std::path::Path, args: &[&str], input: &str) -> Ran {
    let mut io = Io::buffered(input, cwd);
    let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let code = visa_opt::run(&registry(), &args, &mut io);
    let text = |bytes| String::from_utf8(bytes).expect("the tool writes UTF-8");
    Ran { code, out: text(io.stdout), err: text(io.stderr) }
}

/// Runs the tool on `input`.
pub(crate) fn run(args: &[&str], input: &str) -> Ran {
    run_in(std::path::Path::new("."), args, input)
}
