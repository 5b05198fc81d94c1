//! `visa-opt query`: exit codes, JSON, and input that no shell line can hold. The answers are in
//! `test/tools/visa-opt`.

use std::process::{Command, Stdio};
use visa_opt::{Io, Registry};

/// Exit code, standard output, standard error.
fn query(args: &[&str]) -> (i32, String, String) {
    let mut io = Io::buffered("", "");
    let args: Vec<String> = ["query"].iter().chain(args).map(|arg| (*arg).to_owned()).collect();
    let code = visa_opt::run(&Registry::standard(), &args, &mut io);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (code, text(io.stdout), text(io.stderr))
}

/// The JSON that a query prints: one value on one line.
fn json(args: &[&str]) -> serde_json::Value {
    let (_, out, err) = query(args);
    assert_eq!((out.matches('\n').count(), &*err), (1, ""), "{args:?}: {out}");
    serde_json::from_str(&out).expect("JSON")
}

#[test]
fn exit_codes_are_yes_no_and_unknown() {
    let axes = ["--axes", "A=8,B=13"];
    let code = |args: &[&str]| {
        let (code, out, err) = query(&[args, &axes].concat());
        assert!(!out.is_empty() && err.is_empty(), "{args:?}: {out}{err}");
        code
    };
    assert_eq!(code(&["equal", "[A]", "[A % 8]"]), 0);
    assert_eq!(code(&["equal", "[A]", "[B]"]), 1);
    assert_eq!(code(&["equal", "[$(A:1, B:1) # 70000]", "[$(B:1, A:1) # 65000 # 70000]"]), 2);
    assert_eq!(code(&["refines", "[A # 16 {0}]", "[A # 16]"]), 0);
    assert_eq!(code(&["refines", "[A # 16]", "[A # 16 {0}]"]), 1);
    assert_eq!(code(&["refines", "[$(A:1, B:1) # 70000]", "[$(B:1, A:1) # 65000 # 70000]"]), 2);
    assert_eq!(code(&["digits", "[A, B]"]), 0);
    assert_eq!(code(&["digits", "[[A, B] # 128]"]), 2);
    assert_eq!(code(&["divide", "[B, A]", "[A, B]"]), 0);
    assert_eq!(code(&["divide", "[A]", "[A % 4]"]), 1);
    assert_eq!(code(&["divide", "[A @ (1, 0)]", "[A]"]), 2);
    assert_eq!(code(&["sequencer", "[A, B]", "[B]", "[A]", "--dtype", "i8"]), 0);
    assert_eq!(code(&["sequencer", "[A, B]", "[B]", "[A]", "--dtype", "i8", "--context", "sub"]), 1);
    for verb in ["size", "map", "normalize"] {
        assert_eq!(code(&[verb, "[A, B # 16]"]), 0, "{verb}");
    }
}

#[test]
fn bad_input_is_code_1_and_leaves_standard_output_empty() {
    let cases: [&[&str]; 11] = [
        &[],
        &["sise", "[1]"],
        &["size"],
        &["size", "[1]", "[1]"],
        &["size", "[A]"],
        &["size", "[A / 3]", "--axes", "A=8"],
        &["equal", "[A / 3]", "[A / 3]", "--axes", "A=8"],
        &["map", "[A]", "--axes", "A=65537", "--json"],
        &["size", "[A]", "--axes", "A=0"],
        &["sequencer", "[A]", "[1]", "[A]", "--axes", "A=8", "--dtype", "i7"],
        &["sequencer", "[A]", "[1]", "[A]", "--axes", "A=8"],
    ];
    for args in cases {
        let (code, out, err) = query(args);
        assert_eq!((code, &*out), (1, ""), "{args:?}");
        assert!(err.starts_with("error") || err.contains("Usage"), "{args:?}: {err}");
    }
}

#[test]
fn every_verb_prints_one_json_value() {
    let axes = ["--axes", "A=8,B=13", "--json"];
    let of = |args: &[&str]| json(&[args, &axes].concat());
    assert_eq!(of(&["size", "[A, B]"])["size"], 104);
    assert_eq!(of(&["normalize", "[A / 2, A % 2]"])["mapping"], "[A]");
    assert_eq!(of(&["equal", "[A]", "[B]"])["at"], 1);
    assert_eq!(of(&["refines", "[A]", "[A]"])["answer"], "refines");
    assert_eq!(of(&["map", "[A, B]"]).as_array().map(Vec::len), Some(104));
    assert_eq!(of(&["digits", "[A, B]"])["digits"][0]["axis"], "A");
    assert_eq!(
        of(&["digits", "[A @ (1, 0)]"])["ragged"].as_str().map(|why| why.contains("table")),
        Some(true)
    );
    assert_eq!(of(&["divide", "[B, A]", "[A, B]"])["loops"][0]["limit"], 13);
    assert_eq!(of(&["divide", "[A]", "[A % 4]"])["answer"], "no");
    assert_eq!(of(&["sequencer", "[A, B]", "[B]", "[A]", "--dtype", "i8"])["cycles"], 104);
    assert_eq!(of(&["sequencer", "[A]", "[B]", "[A]", "--dtype", "i8", "--commit"])["answer"], "no");
    assert_eq!(of(&["divide", "[A @ (1, 0)]", "[A]"])["answer"], "unknown");
}

/// 10^5 nodes, wide and deep: refused by the bounds of the parser, not by the stack.
#[test]
fn expressions_of_a_hundred_thousand_nodes_are_refused() {
    let wide = format!("[{}]", vec!["A"; 100_000].join(","));
    let chain = format!("[A{}]", "/1".repeat(100_000));
    let groups = "[".repeat(100_000) + "A" + &"]".repeat(100_000);
    let table = format!("[A @ ({})]", vec!["0"; 100_000].join(","));
    for (text, code) in
        [(wide, "map-too-large"), (chain, "map-too-deep"), (groups, "map-too-deep"), (table, "map-too-large")]
    {
        let (exit, out, err) = query(&["size", &text, "--axes", "A=1"]);
        assert_eq!((exit, &*out), (1, ""));
        assert!(err.contains(&format!(": error[{code}]: ")), "{}", &err[..200.min(err.len())]);
        assert!(err.len() < 1000, "an excerpt of {} bytes", err.len());
    }
    // Just inside: the group is a node too, and 4096 are allowed.
    let most = format!("[{}]", vec!["A"; 4095].join(","));
    assert_eq!(query(&["size", &most, "--axes", "A=1"]).1, "1\n");
    assert_eq!(query(&["equal", &most, "[1]", "--axes", "A=1"]).1, "equal\n");
}

#[test]
fn the_process_has_the_same_exit_codes() {
    let code = |args: &[&str]| {
        let run =
            Command::new(env!("CARGO_BIN_EXE_visa-opt")).arg("query").args(args).output().expect("runs");
        run.status.code()
    };
    assert_eq!(code(&["equal", "[A]", "[A]", "--axes", "A=8"]), Some(0));
    assert_eq!(code(&["equal", "[A]", "[1]", "--axes", "A=8"]), Some(1));
    assert_eq!(code(&["digits", "[[A, B] # 128]", "--axes", "A=8,B=13"]), Some(2));
}

#[cfg(unix)]
#[test]
fn arguments_that_are_no_text_and_closed_pipes_do_not_panic() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let tool = || Command::new(env!("CARGO_BIN_EXE_visa-opt"));
    let run = tool().args(["query", "size"]).arg(OsStr::from_bytes(b"[A\xff]")).output().expect("runs");
    assert_eq!(run.status.code(), Some(1));
    assert!(run.stdout.is_empty() && String::from_utf8_lossy(&run.stderr).contains("is not UTF-8"));
    // 65536 lines do not fit in a pipe: writing them fails, for the pipe is not read.
    let mut child = tool()
        .args(["query", "map", "[A]", "--axes", "A=65536"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    drop(child.stdout.take());
    let end = child.wait_with_output().expect("ends");
    assert_eq!(end.status.code(), Some(1));
    let said = String::from_utf8_lossy(&end.stderr);
    assert!(said.starts_with("error: cannot write standard output: Broken pipe"), "{said}");
}
