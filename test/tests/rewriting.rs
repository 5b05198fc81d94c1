//! docs/rewriting.md shows what its example holds and prints; rewriting keeps what kernels compute.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use visa::{Io, Tool, load_module};
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::span::Source;
use visa_support::page;

#[expect(dead_code, reason = "the example's main is for its binary")]
#[path = "../../tools/visa/examples/my-rewrites.rs"]
mod my_rewrites;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned()
}

/// Exit code, and what the tool says: standard output first.
fn run(tool: &Tool, args: &[&str], input: &str) -> (i32, String) {
    let mut io = Io::buffered(input, root());
    let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let code = tool.opt(&args, &mut io);
    io.stdout.append(&mut io.stderr);
    (code, String::from_utf8(io.stdout).expect("text"))
}

#[test]
fn the_page_shows_the_example() {
    let page = fs::read_to_string(root().join("docs/rewriting.md")).expect("the page");
    let example = root().join("tools/visa/examples/my-rewrites.rs");
    let example = fs::read_to_string(example).expect("the example");
    let quoted = page::blocks(&page, "rust");
    for block in &quoted {
        assert!(example.contains(block.trim_end()), "my-rewrites.rs has no such part:\n{block}");
    }
    assert!(quoted.len() >= 8, "{} blocks", quoted.len());
    let mut commands = 0;
    for (command, shown) in page::commands(&page) {
        let Some(command) = command.strip_prefix("my-rewrites ") else { continue };
        let words = page::words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (_, printed) = run(&my_rewrites::tool(), &words, "");
        let printed: Vec<&str> = printed.lines().filter(|line| !line.is_empty()).collect();
        assert!(page::shows(&printed, &shown), "`{command}` prints:\n{}", printed.join("\n"));
        commands += 1;
    }
    assert!(commands >= 6, "{commands} commands");
}

fn kernels(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("test").join(folder)).expect("a folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "visa"));
    paths.sort();
    paths
}

/// What `visa-run --check` says of each kernel of a text, but for the cycles: what nobody uses is gone, with what
/// it cost.
fn results(text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("tm.func @")?.split('(').next());
    let run = |name: &str| {
        let mut io = Io::buffered(text, root());
        let args = ["-", "--entry", name, "--check"].map(str::to_owned);
        let code = Tool::standard().run(&args, &mut io);
        let said = String::from_utf8_lossy(&io.stdout).into_owned();
        let said: Vec<&str> = said.lines().filter(|line| !line.contains(" cycles on ")).collect();
        format!("{name} {code} {}", said.join("\n"))
    };
    names.map(run).collect()
}

/// Kernels that `canonicalize` or `cse` changes compute what they did, bit by bit, in the interpreter and in the
/// evaluator.
#[test]
fn what_kernels_compute_stays() {
    let mut compared = 0;
    for path in kernels("kernels").into_iter().chain(kernels("book")) {
        let text = fs::read_to_string(&path).expect("a kernel");
        let (code, as_it_is) = run(&Tool::standard(), &["-"], &text);
        let rewriting = ["-", "--pass-pipeline=tm.func(canonicalize,cse)"];
        let (rewritten_code, rewritten) = run(&Tool::standard(), &rewriting, &text);
        assert_eq!(code, rewritten_code, "{}: {rewritten}", path.display());
        if code == 0 && as_it_is != rewritten {
            assert_eq!(results(&as_it_is), results(&rewritten), "{}", path.display());
            compared += 1;
        }
    }
    assert!(compared > 0, "no kernel is changed: nothing was compared");
}

/// The module of a text that verifies.
fn load(ctx: &Context, text: &str) -> Module {
    let source = Source::new("test", text);
    let loaded = load_module(ctx, &source, 0..source.text.len());
    loaded.module.unwrap_or_else(|| panic!("{:?}", loaded.findings))
}

/// The evaluator runs calls, and gives what it gives of the inlined kernel.
#[test]
fn calls_mean_what_is_inlined() {
    let text = fs::read_to_string(root().join("test/passes/inline/call.visa")).expect("the kernel");
    let (code, inlined) = run(&Tool::standard(), &["-", "--inline", "--allocate"], &text);
    assert_eq!(code, 0, "{inlined}");
    let ctx = Tool::standard().registry.context().expect("dialects");
    let bytes: Vec<u8> = (1..=2048_i32).flat_map(|at| (at * 1_000_003).to_le_bytes()).collect();
    let arguments = BTreeMap::from([("x".to_owned(), bytes)]);
    for entry in ["twice", "main", "outer"] {
        let meaning = |text: &str| {
            let (options, module) = (visa_reference::Options::default(), load(&ctx, text));
            visa_reference::evaluate(&ctx, &module, Some(entry), &arguments.clone().into(), options)
                .expect("a meaning")
        };
        let called = meaning(&text);
        assert_eq!(called, meaning(&inlined), "{entry}");
        assert!(called.iter().all(|result| result.bytes.iter().any(|&byte| byte != 0)), "{entry}");
    }
}
