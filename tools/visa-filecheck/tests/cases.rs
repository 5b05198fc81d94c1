//! Cases with the exit codes that LLVM 22 has, worked out from its documentation. Where LLVM's program is installed, it has to agree.

use crate::llvm::{Pair, llvm_codes};

/// Options, checks, input, exit code.
type Case = (&'static str, &'static str, &'static str, i32);

fn assert_codes(cases: &[Case]) {
    let pairs = cases.iter().map(|(options, checks, input, _)| Pair {
        checks: checks.as_bytes().to_vec(),
        input: input.as_bytes().to_vec(),
        options: options.split_whitespace().map(str::to_owned).collect(),
    });
    let pairs: Vec<Pair> = pairs.collect();
    let llvm = llvm_codes(&pairs);
    for (index, (pair, (.., expected))) in pairs.iter().zip(cases).enumerate() {
        let (code, report) = pair.verdict();
        assert_eq!(code, *expected, "{pair}\n{report}");
        if let Some(llvm) = &llvm {
            assert_eq!(llvm[index], Some(*expected), "LLVM's exit code of\n{pair}");
        }
    }
}

#[test]
fn prefixes_are_directives_after_any_character_of_no_word() {
    assert_codes(&[
        ("", "(CHECK: a\n", "b\n", 1),
        ("", "\"CHECK: a\n", "b\n", 1),
        ("", "*CHECK: a\n", "b\n", 1),
        ("", "xCHECK: a\nCHECK: b\n", "b\n", 0),
        ("", "x-CHECK: a\n", "a\n", 2),
        ("--check-prefix=1A", "1A: a\n", "a\n", 0),
        ("--check-prefix=A.B", "A.B: a\n", "a\n", 2),
        ("--check-prefixes=A,B", "A: a\n", "a\n", 2),
        ("--check-prefixes=A,B --allow-unused-prefixes=true", "A: a\n", "a\n", 0),
        ("--check-prefixes=A,A", "A: a\n", "a\n", 2),
        ("", "COM: CHECK: x\nCHECK: a\n", "a\n", 0),
        ("--comment-prefixes=NOTE", "NOTE: CHECK: x\nCHECK: a\n", "a\n", 0),
        ("--comment-prefixes=NOTE", "COM: CHECK: x\nCHECK: a\n", "a\n", 1),
    ]);
}

#[test]
fn misspelled_and_combined_directives_are_errors() {
    assert_codes(&[
        ("", "CHECK: a\nCHECK_NOT: b\n", "a\n", 2),
        ("", "CHECK: a\nCHECK_NEXT: b\n", "a\nb\n", 2),
        ("", "CHECK: a\nCHECK-DAG-NOT: b\n", "a\n", 2),
        ("", "CHECK: a\nCHECK-NOT-EMPTY:\n", "a\n", 2),
        ("", "CHECK-COUNT-2-NEXT: a\n", "a\na\n", 2),
        ("", "CHECK-COUNT-0: a\n", "a\n", 2),
        ("", "CHECK-COUNT-2: a\n", "a\na\n", 0),
        ("", "CHECK-COUNT-3: a\n", "a\na\n", 1),
        ("", "CHECK-DAG: a\nCHECK-NEXT: b\n", "a\nb\n", 2),
        ("", "CHECK-DAG: a\nCHECK-SAME: b\n", "a b\n", 2),
        ("", "CHECK-EMPTY:\n", "\n", 2),
        ("", "CHECK: a\nCHECK-EMPTY:\n", "a\n\n", 0),
        ("", "CHECK: a\nCHECK-EMPTY: b\n", "a\n\n", 2),
        ("", "CHECK-LABEL: [[X:a]]\n", "a\n", 2),
        ("", "CHECK:\n", "a\n", 2),
    ]);
}

#[test]
fn positions_and_groups_of_directives() {
    assert_codes(&[
        ("", "CHECK: a\nCHECK-NEXT: b\n", "a b\nb\n", 1),
        ("", "CHECK: a\nCHECK-NEXT: b\n", "a\nb\n", 0),
        ("", "CHECK: a\nCHECK-SAME: b\n", "a\nb\n", 1),
        ("", "CHECK-DAG: x = [[X:[a-z]+]]\nCHECK-DAG: use [[X]]\n", "use b\nx = b\nuse c\n", 0),
        ("", "CHECK-DAG: aa\nCHECK-DAG: ab\n", "aab\n", 1),
        ("--allow-deprecated-dag-overlap", "CHECK-DAG: aa\nCHECK-DAG: ab\n", "aab\n", 0),
        ("", "CHECK-DAG: a\nCHECK-NOT: x\nCHECK-DAG: b\n", "a\nx\nb\n", 1),
        ("--implicit-check-not=x", "CHECK: a\n", "a\nx\n", 1),
        ("--implicit-check-not=x", "CHECK: x\n", "x\n", 0),
        ("", "CHECK-LABEL: f\nCHECK: a\nCHECK-LABEL: g\n", "f\ng\na\n", 1),
        ("--enable-var-scope", "CHECK: [[X:.]]\nCHECK-LABEL: f\nCHECK: [[X]]\n", "a\nf\na\n", 1),
        ("--enable-var-scope", "CHECK: [[$X:.]]\nCHECK-LABEL: f\nCHECK: [[$X]]\n", "a\nf\na\n", 0),
    ]);
}

#[test]
fn expressions_are_posix_and_leftmost_longest() {
    assert_codes(&[
        ("", "CHECK: a{{b|c}}d\n", "ab\ncd\n", 1),
        ("", "CHECK: a{{b|c}}d\n", "acd\n", 0),
        ("", "CHECK: a{{[^x]*}}b\n", "a\nb\n", 1),
        ("", "CHECK: a{{\\d}}b\n", "a1b\n", 1),
        ("", "CHECK: a{{\\d}}b\n", "adb\n", 0),
        ("", "CHECK: [[X:a|ab]]{{c?}}\nCHECK-NEXT: <[[X]]>\n", "abc\n<a>\n", 1),
        ("", "CHECK: [[X:a|ab]]{{c?}}\nCHECK-NEXT: <[[X]]>\n", "abc\n<ab>\n", 0),
        ("", "CHECK: {{(a*)\\1}}b{{$}}\n", "aab\n", 0),
        ("", "CHECK: [[X:[a-z]]][[X]]!\n", "aa!\n", 0),
        ("", "CHECK: [[X:[a-z]]][[X]]!\n", "ab!\n", 1),
        ("", "CHECK: {{[[:digit:]]+}}{{[[:>:]]}}\n", "12x\n", 1),
        ("", "CHECK: {{a**}}\n", "a\n", 2),
        ("", "CHECK: {{(a}}\n", "a\n", 2),
        ("", "CHECK: {{[z-a]}}\n", "a\n", 2),
        ("", "CHECK: {{a|}}\n", "a\n", 2),
        ("", "CHECK: {{\\1}}\n", "a\n", 2),
        ("--ignore-case", "CHECK: [[X:[a-z]+]]-[[X]]{{$}}\n", "Ab-aB\n", 1),
        ("--match-full-lines", "CHECK: a b\n", "  a  b \n", 0),
        ("--match-full-lines --strict-whitespace", "CHECK:a b\n", "a  b\n", 1),
    ]);
}

#[test]
fn numbers_have_formats_and_no_largest_value() {
    assert_codes(&[
        ("", "CHECK: [[#N:]]\nCHECK: [[#N+1]]{{$}}\n", "18446744073709551615\n18446744073709551616\n", 0),
        ("", "CHECK: [[#%x,N:]]\nCHECK: [[#N]]{{$}}\n", "ff\nff\n", 0),
        ("", "CHECK: [[#%x,N:]]\nCHECK: [[#%u,N]]{{$}}\n", "ff\n255\n", 0),
        ("", "CHECK: [[#%#.4X,N:]]\nCHECK: [[#%d,sub(0,N)]]{{$}}\n", "0x00FF\n-255\n", 0),
        ("", "CHECK: [[#N:]]\nCHECK: [[#sub(N,2)]]\n", "1\n-1\n", 1),
        ("", "CHECK: [[#N:]]\nCHECK: [[#div(N,0)]]\n", "1\n0\n", 1),
        ("", "CHECK: [[#N:]][[#N]]\n", "11\n", 2),
        ("", "CHECK: line [[#@LINE]]\nCHECK: [[@LINE-1]]\n", "line 1\n1\n", 0),
        ("", "CHECK: [[#pow(1,2)]]\n", "1\n", 2),
        ("-D#N=min(3,max(1,2))", "CHECK: <[[#mul(N,N)]]>\n", "<4>\n", 0),
        ("-DX=a.b", "CHECK: [[X]]\n", "axb\n", 1),
        ("-DX=1 -D#X=2", "CHECK: a\n", "a\n", 2),
        ("-DX", "CHECK: a\n", "a\n", 2),
        ("", "CHECK: [[X]]\n", "a\n", 1),
        ("", "CHECK-NOT: [[X]]\nCHECK: a\n", "a\n", 1),
    ]);
}

#[test]
fn hostile_expressions_end_with_an_error() {
    for (pattern, code) in [
        (format!("{{{{{}a{}}}}}", "(".repeat(1000), ")".repeat(1000)), 2),
        ("{{(((a{255}){255}){255})x}}".to_owned(), 2),
        ("{{((((a)\\1\\1\\1\\1)\\1\\1\\1\\1)\\1\\1\\1\\1)x}}".to_owned(), 2),
        ("{{(x+x+)+y}}".to_owned(), 1),
        (format!("[[#{}1{}]]", "(".repeat(1000), ")".repeat(1000)), 2),
        ("[[#%.4000000000u,1]]".to_owned(), 2),
    ] {
        let checks = format!("CHECK: {pattern}\n").into_bytes();
        let pair = Pair { checks, input: "x".repeat(3000).into_bytes(), options: Vec::new() };
        let (found, report) = pair.verdict();
        assert_eq!(found, code, "{pattern}: {report}");
    }
}

#[test]
fn a_search_is_bounded_in_steps() {
    let regex = visa_filecheck::regex::Regex::new(b"x*y", false).expect("an expression");
    let text = [[b'x'; 1000].as_slice(), b"y"].concat();
    assert!(regex.find_within(&text, 100).is_err());
    assert_eq!(
        regex.find_within(&text, 100_000).expect("enough steps").map(|found| found.span),
        Some((0, 1001))
    );
    assert_eq!(regex.find_within(b"xxx", 100), Ok(None));
}
