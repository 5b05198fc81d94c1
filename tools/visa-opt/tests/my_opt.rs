//! The researcher's binary of `examples/my-opt.rs`: its operation goes through to hw and runs there as the logical
//! evaluator says, its pass keeps the meaning, and the tutorial shows its text.

use std::collections::BTreeMap;
use visa_interpreter::{Interpreter, Options};
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::span::Source;
use visa_machine::Machine;
use visa_opt::{Io, Tool, load_module};

#[expect(dead_code, reason = "the example's main is for its binary")]
#[path = "../examples/my-opt.rs"]
mod example;

const EXAMPLE: &str = include_str!("../examples/my-opt.rs");
const KERNEL: &str = include_str!("../examples/negate.visa");
const TUTORIAL: &str = include_str!("../../../docs/tutorial.md");
const TO_HW: [&str; 2] = ["--lower-to-seq", "--lower-to-hw"];

/// Exit code, standard output and standard error of `tool` on `input`.
fn run(tool: &Tool, args: &[&str], input: &str) -> (i32, String, String) {
    let mut io = Io::buffered(input, ".");
    let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let code = tool.run(&args, &mut io);
    let text = |bytes| String::from_utf8(bytes).expect("the tool writes UTF-8");
    (code, text(io.stdout), text(io.stderr))
}

/// The text that the example's binary makes of `input`.
#[track_caller]
fn my_opt(args: &[&str], input: &str) -> String {
    let (code, out, err) = run(&example::tool(), args, input);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    out
}

#[track_caller]
fn refused(input: &str, args: &[&str], message: &str) {
    let (code, _, err) = run(&example::tool(), args, input);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains(message), "{err}");
}

fn load(ctx: &Context, text: &str) -> Module {
    let source = Source::new("test", text);
    let loaded = load_module(ctx, &source, 0..source.text.len());
    loaded.module.unwrap_or_else(|| panic!("{:?}", loaded.findings))
}

/// 2048 numbers with every special case among them.
fn input() -> Vec<i32> {
    let special = [0, 1, -1, i32::MAX, i32::MIN, i32::MIN + 1];
    (0..2048).map(|at| special.get(at).copied().unwrap_or(at as i32 * 1_000_003)).collect()
}

fn bytes(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// What the logical evaluator makes of a kernel at tensor level.
fn meant(kernel: &str) -> Vec<u8> {
    let ctx = Context::new(&example::tool().dialects);
    let arguments = BTreeMap::from([("input".to_owned(), bytes(&input()))]);
    let options = visa_reference::Options::default();
    let results = visa_reference::evaluate(&ctx, &load(&ctx, kernel), None, &arguments, options);
    results.expect("the kernel has a meaning").remove(0).bytes
}

/// What the interpreter makes of an hw program. Every byte of the result must be defined.
fn executed(program: &str) -> Vec<u8> {
    let ctx = Context::new(&example::tool().dialects);
    let program = visa_hw::compile(&ctx, &load(&ctx, program), None).expect("an hw program");
    let machine = Machine::rngd();
    let options = Options { shadow: true, ..Options::default() };
    let mut interpreter = Interpreter::new(&program, &machine, options).expect("threads");
    interpreter.set_argument("input", &bytes(&input())).expect("the argument fits");
    interpreter.run(&mut |_, _| {}).expect("the program runs");
    let result = interpreter.result("out").expect("a result");
    assert!(result.undefined.is_none(), "{:?}", result.undefined);
    result.bytes
}

/// The kernel with `count` negations in a row instead of one.
fn negations(count: usize) -> String {
    let mut chain = String::new();
    for at in 0..count {
        let from = if at == 0 { "x4".to_owned() } else { format!("n{}", at - 1) };
        chain.push_str(&format!("  %n{at} = my.negate %{from}\n"));
    }
    let last = format!("vector_final %n{}", count - 1);
    KERNEL.replace("  %x5 = my.negate %x4\n", &chain).replace("vector_final %x5", &last)
}

#[test]
fn the_operation_runs_on_hw_as_it_is_meant() {
    let hw = my_opt(&TO_HW, KERNEL);
    assert!(hw.contains("my.hw_negate") && !hw.contains("my.negate"), "{hw}");
    let negated: Vec<_> = input().iter().map(|value| 0_i32.wrapping_sub(*value)).collect();
    assert_eq!(executed(&hw), bytes(&negated));
    assert_eq!(meant(KERNEL), bytes(&negated));
}

#[test]
fn the_pass_removes_pairs_and_keeps_the_meaning() {
    for (count, left) in [(1, 1), (2, 0), (3, 1), (4, 0)] {
        let before = negations(count);
        let after = my_opt(&["--my-cancel", "--dce"], &before);
        assert_eq!(after.matches("my.negate").count(), left, "{after}");
        assert_eq!(meant(&after), meant(&before));
        assert_eq!(executed(&my_opt(&TO_HW, &after)), meant(&before));
    }
}

#[test]
fn the_standard_tool_knows_nothing_of_it() {
    let (code, _, err) = run(&Tool::standard(), &[], KERNEL);
    assert_eq!(code, 1);
    assert!(err.contains("`my"), "{err}");
    assert_eq!(run(&Tool::standard(), &["--my-cancel"], KERNEL).0, 1);
}

#[test]
fn its_constraint_and_its_place_are_checked() {
    refused(&KERNEL.replace("i32", "f32"), &[], "the stream is `f32`, expected `i32`");
    refused(&KERNEL.replace("my.negate %x4", "my.negate %x3"), &[], "stream.init");
    let hw = my_opt(&TO_HW, KERNEL);
    let early = hw.replacen("hw.collect", "my.hw_negate\n    hw.collect", 1);
    refused(&early, &[], "found `my.hw_negate` after `hw.fetch`");
}

/// Every Rust block of the tutorial that quotes the example is a part of it, as it is.
#[test]
fn the_tutorial_shows_this_example() {
    let quoted: Vec<_> =
        TUTORIAL.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(quoted.iter().any(|block| block.contains("fn main()")), "the tutorial shows the example's main");
    for block in &quoted {
        assert!(EXAMPLE.contains(block), "examples/my-opt.rs has no such part:\n{block}");
    }
    let shown: String = quoted.concat();
    for name in
        ["static NEGATE:", "static HW_NEGATE:", "impl Map for HwNegate", "static CANCEL:", "fn cancel("]
    {
        assert!(shown.contains(name), "the tutorial does not show `{name}`");
    }
}
