//! A tool with a researcher's additions, and its errors in them.

use crate::my_visa;
use std::path::Path;
use visa::engine::place::rngd;
use visa::hw::ops::commit::Commit;
use visa::ir::decl::{Dialect, Interface, OpDecl};
use visa::ir::level::Level;
use visa::loops::{Entry, Program};
use visa::mapping::raise::Semantics;
use visa::mapping::raise::moves::same;
use visa::pass::Pass;
use visa::stream::lower::LowerStage;
use visa::stream::ops::commit;
use visa::{Io, Tool};

/// A folder of the template.
fn template(folder: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("template").join(folder)
}

fn kernel(name: &str) -> String {
    std::fs::read_to_string(template("tests/lit").join(name)).expect("a kernel of the template")
}

/// Exit code, standard output and standard error of the whole program on `input`.
fn program(tool: &Tool, args: &[&str], input: &str) -> (i32, String, String) {
    let mut io = Io::buffered(input, template(""));
    let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let code = tool.program(&args, &mut io);
    let text = |bytes| String::from_utf8(bytes).expect("the tool writes UTF-8");
    (code, text(io.stdout), text(io.stderr))
}

/// Standard output of a program that passes and prints nothing else.
#[track_caller]
fn held(tool: &Tool, args: &[&str], input: &str) -> String {
    let (code, out, err) = program(tool, args, input);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    out
}

#[track_caller]
fn refused(tool: &Tool, args: &[&str], input: &str, message: &str) {
    let (code, _, err) = program(tool, args, input);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains(message), "{err}");
}

/// The kernel with `count` negations in a row instead of one.
fn negations(count: usize) -> String {
    let mut chain = String::new();
    for at in 0..count {
        let from = if at == 0 { "x4".to_owned() } else { format!("n{}", at - 1) };
        chain.push_str(&format!("  %n{at} = my.negate %{from}\n"));
    }
    let last = format!("vector_final %n{}", count - 1);
    kernel("negate.visa").replace("  %x5 = my.negate %x4\n", &chain).replace("vector_final %x5", &last)
}

#[test]
fn one_program_is_all_three() {
    let tool = my_visa::tool();
    let hw = held(&tool, &["opt", "-", "--lower-to-seq", "--lower-to-hw"], &kernel("flip.visa"));
    assert!(hw.contains("my.hw_flip key 255") && !hw.contains("my.flip"), "{hw}");
    assert!(held(&tool, &["run", "-"], &hw).contains("cycles on rngd"));
    assert!(held(&tool, &["lit", "tests/lit/flip.visa"], "").starts_with("lit: 1 passed"));
    assert!(held(&tool, &["--help"], "").starts_with("usage: PROGRAM opt|run|lit"));
}

#[test]
fn another_word_is_no_program() {
    for args in [&["lint", "k.visa"][..], &["k.visa"], &[]] {
        let (code, out, err) = program(&Tool::standard(), args, "");
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains("usage: PROGRAM opt|run|lit"), "{err}");
    }
    let (_, _, err) = program(&Tool::standard(), &["lint"], "");
    assert!(err.starts_with("error: found `lint`, expected `opt`, `run` or `lit`"), "{err}");
}

#[test]
fn a_test_that_fails_fails_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.test"), "# RUN: visa-opt --no-such-flag\n").expect("a file");
    let mut io = Io::buffered([], folder.path());
    assert_eq!(Tool::standard().program(&["lit".into(), ".".into()], &mut io), 1);
    assert!(String::from_utf8_lossy(&io.stdout).contains("--no-such-flag"));
}

#[test]
fn the_standard_tool_knows_nothing_of_it() {
    let standard = Tool::standard();
    for name in ["negate.visa", "flip.visa"] {
        refused(&standard, &["opt", "-"], &kernel(name), "`my");
        refused(&standard, &["run", "-"], &kernel(name), "`my");
    }
    refused(&standard, &["opt", "-", "--my-cancel"], "visa 1\n", "--my-cancel");
}

/// `--check` compares with the kernel before the passes.
#[test]
fn a_run_takes_passes_of_ones_own() {
    let tool = my_visa::tool();
    for count in 1..=4 {
        let ran = held(&tool, &["run", "-", "--check", "--pass-pipeline=my-cancel,dce"], &negations(count));
        assert!(ran.contains("check: 2048 elements compared, 0 differ"), "{ran}");
    }
    let run = |passes| ["run", "-", "--check", passes];
    refused(&tool, &run("--pass-pipeline=my-cancle"), &negations(2), "did you mean `my-cancel`?");
    refused(&tool, &run("--pass-pipeline=my-cancel{most=many}"), &negations(2), "`most`");
    refused(&tool, &run("--pass-pipeline=lower-to-hw"), &negations(2), "lower-to-hw");
}

/// Forgets negations.
static FORGET: Pass = Pass {
    name: "my-forget",
    summary: "takes negations away",
    run: |cx| {
        for id in cx.module.walk_all() {
            let op = cx.module.op(cx.ctx, id);
            if cx.ctx.op("my.negate").is_some_and(|negate| op.is(negate)) {
                let (result, operand) = (op.results()[0], op.operands()[0]);
                cx.module.replace_uses(result, operand);
                cx.module.erase(id);
            }
        }
        Ok(())
    },
    ..Pass::BASE
};

static PANIC: Pass =
    Pass { name: "my-panic", summary: "panics", run: |_| panic!("on purpose"), ..Pass::BASE };

#[test]
fn a_pass_that_is_wrong_is_found() {
    let tool = my_visa::tool().pass(&FORGET).pass(&PANIC);
    let run = |pass| ["run", "-", "--check", "--pass-pipeline", pass];
    refused(&tool, &run("my-forget"), &negations(1), "the lowering is wrong: 2048 of 2048 elements differ");
    assert!(held(&tool, &run("my-forget"), &negations(2)).contains("0 differ"));
    let (code, _, err) = program(&tool, &run("my-panic"), &negations(1));
    assert_eq!(code, 1, "{err}");
    assert!(
        err.contains("pass `my-panic` panicked: on purpose") && err.contains("a mistake in the pass"),
        "{err}"
    );
}

/// The chooser, the allocator and the evaluator take an engine that they have never seen.
#[test]
fn what_is_open_around_an_engine_of_ones_own_is_chosen() {
    let tool = my_visa::tool();
    let opened = held(&tool, &["opt", "-", "--open-clauses"], &kernel("flip.visa"));
    assert!(opened.contains("auto"), "{opened}");
    let ran = held(&tool, &["run", "-", "--check", "--select-configs", "--allocate"], &opened);
    assert!(ran.contains("check: 2048 elements compared, 0 differ"), "{ran}");
}

static SECOND: Dialect = Dialect { name: "hw", doc: "", level: Level::Any, ops: &[], types: &[], attrs: &[] };
static UNNAMED: OpDecl = OpDecl { name: "my.other", ..OpDecl::BASE };
static OTHER: Dialect =
    Dialect { name: "other", doc: "", level: Level::Any, ops: &[&[&UNNAMED]], types: &[], attrs: &[] };

#[test]
fn a_dialect_that_is_wrong_is_an_error_and_no_panic() {
    for command in ["opt", "run"] {
        let twice = Tool::standard().dialect(&SECOND);
        refused(&twice, &[command, "-"], "visa 1\n", "a dialect `hw` is already registered");
        refused(&Tool::standard().dialect(&OTHER), &[command, "-"], "visa 1\n", "my.other");
    }
}

/// A commit whose lowering forgets the slice bitmap.
static KEEP: OpDecl = OpDecl {
    name: "keep.commit",
    verify: None,
    interfaces: &[
        Interface(&rngd::COMMIT),
        Interface(&Semantics(same)),
        Interface(&LowerStage(|_, op| {
            let loops = Program { entries: vec![Entry::new(32, 1)], packet: 32, base: 4096 };
            Ok(Some(Commit::build(op).bytes(32).loops(loops).spec()))
        })),
    ],
    ..commit::DECL
};
static KEEPS: Dialect =
    Dialect { name: "keep", doc: "", level: Level::Any, ops: &[&[&KEEP]], types: &[], attrs: &[] };

#[test]
fn a_commit_of_ones_own_that_forgets_the_bitmap_is_refused() {
    let kernel = |slice: &str, kept: &str| {
        format!(
            "visa 1\ntm.axes [P = 256, C = 8]\ntm.func @k(%x: !tm.hbm<i32, [1], [P, C]>) at [0] {{\n  %d = tm.to_dm %x \
             at 0, cluster [1 # 2], slice [P], element [C]\n  %0 = stream.begin main %d\n  %1 = stream.fetch %0 time \
             [1], packet [C]\n  %2 = stream.collect %1 time [1], packet [C]\n  %y = keep.commit %2 at 4096, slice \
             [{slice}], element [C]\n  %r = tm.to_hbm %y at 65536, element [{kept}, C]\n  tm.return %r\n}}\n"
        )
    };
    let (tool, args) = (Tool::standard().dialect(&KEEPS), ["opt", "-", "--lower-to-seq"]);
    assert!(held(&tool, &args, &kernel("P", "P")).contains("hw.commit"));
    let message = "`keep.commit` writes part of the active slices, but its lowering writes all of them";
    refused(&tool, &args, &kernel("P = 128 # 256", "P = 128"), message);
}

static OWN_CSE: Pass = Pass { name: "cse", summary: "one of one's own", ..Pass::BASE };

#[test]
fn a_pass_takes_the_place_of_one_with_its_name() {
    let listed = held(&Tool::standard().pass(&OWN_CSE), &["opt", "--list-passes"], "");
    assert_eq!(listed.matches("\ncse ").count() + usize::from(listed.starts_with("cse ")), 1, "{listed}");
    assert!(listed.contains("one of one's own"), "{listed}");
}
