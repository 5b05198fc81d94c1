//! The command line. The lit tests under `test/import` show its input and output.

use std::path::Path;
use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_visa-import"));
    command.args(args).output().expect("it starts")
}

#[test]
fn what_is_asked_for_is_said_by_the_exit_code() {
    assert_eq!(run(&[]).status.code(), Some(2));
    assert_eq!(run(&["rust"]).status.code(), Some(2));
    assert_eq!(run(&["rust", "nowhere.rs"]).status.code(), Some(1));
    assert_eq!(run(&["--help"]).status.code(), Some(0));
}

#[test]
fn modules_of_several_files_are_one_crate() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        path
    };
    write("Cargo.toml", "[package]\nname = \"kernels\"");
    write("src/lib.rs", "pub mod axes; pub mod kernels;");
    write("src/axes.rs", "axes![A = 2 * super::kernels::HALF];");
    write("src/kernels/mod.rs", "pub const HALF: usize = 256; pub mod copy; mod other;");
    write("src/kernels/other.rs", "#[device(chip = 1)] pub fn other(ctx: &mut Context) { nothing() }");
    let copy = write(
        "src/kernels/copy.rs",
        "use crate::axes::*;
type T<D> = HbmTensor<D, m![1], m![A]>;
#[device(chip = 1)]
pub fn copy(ctx: &mut Context, x: &T<i32>) -> T<i32> { x.to_hbm(&mut ctx.tdma) }",
    );
    // Of the crate only the file's own kernels.
    let found = run(&["rust", text(&copy)]);
    let written = String::from_utf8(found.stdout).expect("a text");
    assert!(written.contains("tm.axes [A = 512]\ntm.func @copy(%x: !tm.hbm<i32, [1], [A]>)"), "{written}");
    assert!(!written.contains("@other"), "{written}");
    assert_eq!(found.status.code(), Some(0));
    // A module that includes itself.
    let circle = write("circle/a.rs", "#[path = \"../a.rs\"] mod a;");
    let found = run(&["rust", text(&circle)]);
    let said = String::from_utf8(found.stderr).expect("a text");
    assert_eq!(found.status.code(), Some(1), "{said}");
}

#[test]
fn each_macro_that_panics_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kernel.rs");
    for name in ["panic", "unreachable", "unimplemented", "todo"] {
        let kernel = "axes![A = 512];
type T = HbmTensor<i32, m![1], m![A]>;
#[device(chip = 1)]
pub fn copy(ctx: &mut Context, x: &T) -> T { if A::SIZE == 512 { PANIC!() } x.to_hbm(&mut ctx.tdma) }";
        std::fs::write(&path, kernel.replace("PANIC", name)).expect("a file");
        let found = run(&["rust", text(&path)]);
        let said = String::from_utf8(found.stderr).expect("a text");
        assert!(said.contains(&format!("error[import]: the kernel reaches `{name}!`")), "{said}");
        assert_eq!(found.status.code(), Some(1));
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
