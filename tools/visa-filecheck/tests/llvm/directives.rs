//! All directives and options, on lines of a few words.

use visa_support::Random;

use super::generate::{Pair, item};

const WORDS: [&str; 14] =
    ["a", "b", "ab", "aa", "foo", "Foo", "bar", "%0", "(x)", "1", "12", "a.b", "[y]", "é"];
const GAPS: [&str; 6] = [" ", " ", " ", "  ", "\t", " \t "];
const BEFORE: [&str; 12] = ["", "// ", "//", "# ", "(", "\"", "x ", "-", "x", "COM: ", "RUN: ", "*"];
const PATTERNS: [&str; 18] = [
    "{{.*}}",
    "{{a|b}}",
    "{{[a-z]+}}",
    "[[X:[a-z]+]]",
    "[[X]]",
    "[[Y:.]]",
    "[[Y]]",
    "[[$G:[^ ]+]]",
    "[[$G]]",
    "{{^}}",
    "{{$}}",
    "{{ *}}",
    "[[#N:]]",
    "[[#N]]",
    "[[#N+1]]",
    "[[X:a]][[X]]",
    "[[X",
    "{{a",
];

fn line(random: &mut Random) -> String {
    let mut line = String::new();
    for number in 0..random.below(4) {
        if number > 0 {
            line.push_str(random.of(&GAPS));
        }
        line.push_str(random.of(&WORDS));
    }
    line
}

fn suffix(first: bool, wild: bool, random: &mut Random) -> String {
    let kind = match random.below(if wild { 24 } else { 22 }) {
        0..=6 => "",
        7..=11 | 18 if first && !wild => "",
        7..=9 => "-NEXT",
        10..=11 => "-SAME",
        12..=13 => "-NOT",
        14..=17 => "-DAG",
        18 => "-EMPTY",
        19 => "-LABEL",
        20 => return format!("-COUNT-{}", random.below(4).max(usize::from(!wild))),
        21 => random.of(&["{LITERAL}", "-DAG{LITERAL}", "-NOT{LITERAL}", "{ LITERAL }", "{LITERAL,LITERAL}"]),
        22 => random.of(&[
            "-NOT-DAG",
            "-DAG-NOT",
            "-NEXT-NOT",
            "_NEXT",
            "_NOT",
            "-FOO",
            "-COUNT-2-NEXT",
            "-COUNT-x",
        ]),
        _ => random.of(&["-NEXT{LITERAL}", "{FOO}", "{LITERAL", "{}", "-SAME"]),
    };
    kind.to_owned()
}

/// A pattern that often matches `line`.
fn pattern(line: &str, wild: bool, random: &mut Random) -> String {
    match random.below(6) {
        0..=2 => line.to_owned(),
        3 => {
            let words: Vec<&str> = line.split_whitespace().collect();
            random.pick(&words).map_or(line, |word| *word).to_owned()
        }
        4 => {
            let mut words: Vec<&str> = line.split(' ').collect();
            let at = random.below(words.len());
            words[at] = item(&PATTERNS, 16, wild, random);
            words.join(" ")
        }
        _ => format!("{}{}", random.of(&WORDS), item(&PATTERNS, 16, wild, random)),
    }
}

fn options(wild: bool, random: &mut Random) -> Vec<String> {
    const OPTIONS: [&str; 33] = [
        "--match-full-lines",
        "--match-full-lines",
        "--strict-whitespace",
        "--strict-whitespace",
        "--ignore-case",
        "--ignore-case",
        "--enable-var-scope",
        "--enable-var-scope",
        "--allow-empty",
        "--allow-unused-prefixes",
        "--allow-deprecated-dag-overlap",
        "--implicit-check-not=aa",
        "--implicit-check-not={{a+}}b",
        "--implicit-check-not=12",
        "--check-prefixes=CHECK",
        "--comment-prefixes=NOTE",
        "-DX=a",
        "-DX=a.b",
        "-D$G=foo",
        "-D#N=12",
        "-v",
        "--vv",
        "--implicit-check-not=[[X]]",
        "--implicit-check-not=",
        "--allow-unused-prefixes=false",
        "--check-prefix=OTHER",
        "--check-prefixes=CHECK,OTHER",
        "--check-prefix=1A",
        "--check-prefix=a b",
        "--comment-prefixes=CHECK",
        "-DX",
        "-DX+1=a",
        "--no-such-option",
    ];
    let count = random.below(4) * random.below(2);
    (0..count).map(|_| item(&OPTIONS, 22, wild, random).to_owned()).collect()
}

pub(super) fn pair(random: &mut Random, wild: bool) -> Pair {
    let lines: Vec<String> = (0..random.below(9)).map(|_| line(random)).collect();
    let mut checks = String::new();
    let mut at = 0;
    let end = random.of(&["\n", "\n", "\n", "\n", "\n", "\r\n", " \n", "\t\n"]);
    let mut follows = false;
    for _ in 0..1 + random.below(6) {
        let start = if random.below(4) == 0 { random.of(&BEFORE) } else { "" };
        let prefix = match random.below(30) {
            0 => "OTHER",
            1 => "NOTE",
            2 => "CHECKS",
            _ => "CHECK",
        };
        // Mostly one of the lines to come.
        let wanted = lines.get(at).map_or("", String::as_str);
        let gap = random.of(&[" ", " ", " ", " ", "", "  ", "\t"]);
        let wanted = if wanted.trim().is_empty() { random.of(&WORDS) } else { wanted };
        let (suffix, pattern) = (suffix(!follows, wild, random), pattern(wanted, wild, random));
        let pattern = match suffix.as_str() {
            "-EMPTY" => String::new(),
            "-LABEL" if !wild => wanted.to_owned(),
            _ => pattern,
        };
        follows |= !(suffix.starts_with("-DAG") || suffix.starts_with("-NOT"));
        checks.push_str(&format!("{start}{prefix}{suffix}:{gap}{pattern}{end}"));
        at += random.below(3);
    }
    if random.below(15) == 0 {
        checks.truncate(checks.trim_end().len());
    }
    let mut input: String =
        lines.iter().map(|line| format!("{line}{}", end.trim_start_matches([' ', '\t']))).collect();
    if random.below(10) == 0 {
        input.truncate(input.trim_end().len());
    }
    Pair { checks: checks.into_bytes(), input: input.into_bytes(), options: options(wild, random) }
}
