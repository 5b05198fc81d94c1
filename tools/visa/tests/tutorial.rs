//! docs/tutorial.md: its commands print the page's outputs, its code is the template's, its numbers are measured.

use crate::my_visa;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use visa::{Io, Tool};
use visa_support::page;

const PAGE: &str = include_str!("../../../docs/tutorial.md");
const GEMV: &str = include_str!("../../../test/kernels/gemv.visa");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn template() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("template")
}

/// The output of a command of the page, standard output first.
fn said(command: &str) -> String {
    let words = page::words(command);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let args = |rest: &[&str]| rest.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let run = |folder, tool: &dyn Fn(&mut Io) -> i32| {
        let mut io = Io::buffered([], folder);
        tool(&mut io);
        io.stdout.append(&mut io.stderr);
        String::from_utf8(io.stdout).expect("text")
    };
    match words.as_slice() {
        ["visa-opt", rest @ ..] => run(root(), &|io| Tool::standard().opt(&args(rest), io)),
        ["visa-run", rest @ ..] => run(root(), &|io| Tool::standard().run(&args(rest), io)),
        ["cargo", "run", "--", rest @ ..] => run(template(), &|io| my_visa::tool().program(&args(rest), io)),
        ["wc", rest @ ..] => {
            let counted = Command::new("wc").args(rest).current_dir(template()).output().expect("wc runs");
            String::from_utf8(counted.stdout).expect("text")
        }
        _ => panic!("`{command}` is no command of ours"),
    }
}

/// The output of visa-run for a kernel that the page makes of gemv.
fn priced(kernel: &str) -> String {
    let mut io = Io::buffered(kernel, root());
    let args = ["-", "--check", "--report", "text"].map(str::to_owned);
    assert_eq!(Tool::standard().run(&args, &mut io), 0, "{}", String::from_utf8_lossy(&io.stderr));
    String::from_utf8(io.stdout).expect("text")
}

/// The number after a word at the beginning of a line, such as that of `total`.
fn number_after<'t>(report: &'t str, start: &str, at: usize) -> &'t str {
    let line = report.lines().find(|line| line.starts_with(start)).expect("a line of the report");
    line.split_whitespace().nth(at).expect("a number")
}

/// The cycles of a command by its number: the third number after its engines, as names have spaces.
fn cycles_of<'t>(report: &'t str, number: &str) -> &'t str {
    let line = report.lines().find(|line| line.starts_with(number)).expect("a row of the report");
    let mut words = line.split_whitespace().skip_while(|word| !word.contains('>'));
    words.nth(3).expect("the cycles")
}

fn replaced(kernel: &str, from: &str, to: &str) -> String {
    assert!(kernel.contains(from), "gemv has no `{from}`");
    kernel.replace(from, to)
}

#[test]
fn its_commands_print_what_it_shows() {
    let commands = page::commands(PAGE);
    for (command, shown) in &commands {
        let said = said(command);
        let printed: Vec<_> = said.lines().collect();
        assert!(page::shows(&printed, shown), "`{command}` prints:\n{said}");
    }
    assert!(commands.len() >= 8, "{} commands", commands.len());
}

#[test]
fn its_code_is_the_templates() {
    let files = ["lib.rs", "main.rs", "negate.rs", "flip.rs"];
    let files = files.map(|name| fs::read_to_string(template().join("src").join(name)).expect("a file"));
    let quoted = page::blocks(PAGE, "rust");
    for block in &quoted {
        assert!(files.iter().any(|file| file.contains(block)), "the template has no such part:\n{block}");
    }
    assert!(quoted.len() >= 6, "{} blocks", quoted.len());
    for name in PAGE.split('`').filter(|name| name.starts_with("src/") && name.ends_with(".rs")) {
        assert!(template().join(name).is_file(), "the template has no `{name}`");
    }
}

/// The commands in `sh` blocks, which CI runs in a copy, name files that are there and a program that takes them.
#[test]
fn its_programs_are_there() {
    let programs = page::blocks(PAGE, "sh").concat();
    let mut found = 0;
    for line in programs.lines().filter_map(|line| line.strip_prefix("cargo run -- ")) {
        let words = page::words(line);
        assert!(["opt", "run", "lit"].contains(&words[0].as_str()), "{line}");
        assert!(words[1] == "tests/open.visa" || template().join(&words[1]).exists(), "{line}");
        found += 1;
    }
    assert!(found >= 5, "{found} programs");
}

/// Section 3: the table, and the sentences about a context and an order.
#[test]
fn what_if_is_measured() {
    let (fetch, collect, align) = (
        "time [J / 32], packet [J % 32]\n  %m2",
        "%m1 time [J / 16], packet [J % 16]\n  %m3",
        "%weights time [J / 32], packet [J % 32]\n",
    );
    for (width, bytes) in [(32, 64), (16, 32), (8, 16), (4, 8)] {
        let mut kernel = replaced(GEMV, fetch, &format!("time [J / {width}], packet [J % {width}]\n  %m2"));
        if width < 32 {
            let step = format!("time [J / {width}], packet [J % {width}");
            let flit = if width < 16 { " # 16]" } else { "]" };
            kernel = replaced(&kernel, collect, &format!("%m1 {step}{flit}\n  %m3"));
            kernel = replaced(&kernel, align, &format!("%weights {step} # 32]\n"));
        }
        let report = priced(&kernel);
        let row = format!("| `[J % {width}]`, {bytes} bytes | ");
        let row = PAGE.lines().find(|line| line.starts_with(&row)).expect("a row of the table");
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let (third, total) = (cycles_of(&report, "3 "), number_after(&report, "total", 1));
        assert_eq!(&cells[4..6], [third, total], "{row}\n{report}");
    }
    let main = priced(&replaced(GEMV, "stream.begin sub %v", "stream.begin main %v"));
    assert_eq!([cycles_of(&main, "2 "), number_after(&main, "total", 1)], ["131", "38295"], "{main}");
    let load = GEMV.lines().find(|line| line.starts_with("  %m = ")).expect("a load of the matrix");
    let weights = GEMV.lines().find(|line| line.starts_with("  %weights")).expect("the register file");
    let later = replaced(&GEMV.replace(&format!("{load}\n"), ""), weights, &format!("{weights}\n{load}"));
    assert_eq!(number_after(&priced(&later), "total", 1), "38164");
    let apart = |kernel: &str| {
        priced(&replaced(kernel, "0x20000000, element [I]", "0x20000000, element [I, 1 # 128]"))
    };
    let report = apart(GEMV);
    assert_eq!([cycles_of(&report, "4 "), number_after(&report, "total", 1)], ["2634", "6679"], "{report}");
    assert_eq!(number_after(&apart(&later), "total", 1), "6164");
    let said = [
        "it takes 131",
        "38295",
        "38164 cycles",
        "34634 cycles",
        "2634 cycles, and the whole 6679",
        "it is 6164",
    ];
    for number in said {
        assert!(PAGE.contains(number), "the page does not say `{number}`");
    }
}

/// The mistake of section 3.
#[test]
fn a_mistake_is_told_as_it_shows() {
    let block = page::blocks(PAGE, "text").into_iter().find(|block| block.starts_with("error["));
    let folder = tempfile::tempdir().expect("a folder");
    let collect = "%m1 time [J / 16], packet [J % 16]\n  %m3";
    let wrong = replaced(GEMV, collect, "%m1 time [J / 32], packet [J % 32]\n  %m3");
    fs::write(folder.path().join("k.visa"), wrong).expect("a kernel");
    let mut io = Io::buffered([], folder.path());
    assert_eq!(Tool::standard().opt(&["k.visa".to_owned()], &mut io), 1);
    let said = String::from_utf8(io.stderr).expect("text");
    assert!(said.starts_with(block.expect("a message")), "{said}");
}

/// The test of section 5.
#[test]
fn its_test_passes() {
    let block =
        page::blocks(PAGE, "text").into_iter().find(|block| block.contains("// RUN: visa-opt %s --lower"));
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("copy.visa"), block.expect("a test")).expect("a file");
    let report = Tool::standard().suite(folder.path()).run();
    assert!(report.is_success() && report.passed() == 1, "{report}");
}
