//! Numeric variables, their formats and expressions.

use visa_support::Random;

use super::generate::{Pair, item};

const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "2",
    "7",
    "10",
    "42",
    "007",
    "-1",
    "-5",
    "127",
    "255",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "123456789012345678901234567890",
    "0x1F",
    "0xff",
    "ff",
    "FF",
    "a",
];
/// The first 12 are valid.
const LITERALS: [&str; 18] = [
    "0",
    "1",
    "2",
    "-1",
    "10",
    "0x10",
    "0xaB",
    "010",
    "0b11",
    "0o7",
    "18446744073709551616",
    "9223372036854775807",
    "08",
    "0x",
    "1a",
    "- 1",
    "--1",
    "",
];

/// The first 13 are valid.
const FORMATS: [&str; 18] = [
    "", "", "", "", "%u,", "%d,", "%x,", "%X,", "%#x,", "%#X,", "%.4u,", "%.3d,", "%.2X,", "%#.4x,", "%#u,",
    "%.u,", "% x,", "%.4,",
];

/// The first 4 are valid.
const NAMES: [&str; 7] = ["N", "N", "M", "$G", "@LINE", "S", "N_1"];

fn expression(random: &mut Random, depth: usize, wild: bool) -> String {
    match random.below(if depth == 0 { 3 } else { 8 }) {
        0 => item(&LITERALS, 12, wild, random).to_owned(),
        1 | 2 => item(&NAMES, 5, wild, random).to_owned(),
        3 => format!("({})", expression(random, depth - 1, wild)),
        4 | 5 => {
            let operator = item(&["+", "-", " + ", " - ", "+ ", "*"], 5, wild, random);
            format!(
                "{}{operator}{}",
                expression(random, depth - 1, wild),
                expression(random, depth - 1, wild)
            )
        }
        _ => {
            let name = item(&["add", "sub", "mul", "div", "min", "max", "add ", "pow"], 7, wild, random);
            let arguments: Vec<String> = (0..if wild { random.of(&[2, 2, 2, 1, 3]) } else { 2 })
                .map(|_| expression(random, depth - 1, wild))
                .collect();
            format!("{name}({})", arguments.join(random.of(&[",", ", ", " , "])))
        }
    }
}

fn block(wild: bool, random: &mut Random) -> String {
    let format = item(&FORMATS, 13, wild, random);
    let blank = random.of(&["", "", " "]);
    let text = match random.below(6) {
        0 | 1 => format!("{}:", item(&NAMES, 4, wild, random)),
        2 => format!("{}:{}", item(&NAMES, 4, wild, random), expression(random, 2, wild)),
        3 => format!("=={}", expression(random, 1, wild)),
        _ => expression(random, 2, wild),
    };
    match random.below(20) {
        0 => {
            format!("[[@LINE{}]]", item(&["", "+1", "-1", "+2", "+0x1", "+1+1", "+N", "*2"], 4, wild, random))
        }
        1 => "[[S:[0-9]+]]".to_owned(),
        2 => "[[S]]".to_owned(),
        _ => format!("[[#{blank}{format}{blank}{text}{blank}]]"),
    }
}

fn options(wild: bool, random: &mut Random) -> Vec<String> {
    const OPTIONS: [&str; 16] = [
        "-D#N=1",
        "-D#N=-5",
        "-D#M=2+1",
        "-DS=1",
        "-D#$G=7",
        "--enable-var-scope",
        "--ignore-case",
        "-D#%x,N=0x1F",
        "-D#%#X,M=255",
        "-D#N=",
        "-D#N=1+",
        "-D#=1",
        "-DN=1",
        "-D#S=1",
        "-D#N=div(1,0)",
        "-D#@LINE=1",
    ];
    (0..random.below(3)).map(|_| item(&OPTIONS, 9, wild, random).to_owned()).collect()
}

/// Lines of one block each. The number on a line is one that makes us go on, if there is one among those we try.
pub(super) fn pair(random: &mut Random, wild: bool) -> Pair {
    let options = options(wild, random);
    let (mut checks, mut input) = (String::new(), String::new());
    for number in 0..1 + random.below(5) {
        let directive = random.of(&["CHECK", "CHECK", "CHECK-NEXT", "CHECK-DAG", "CHECK-NOT", "CHECK-LABEL"]);
        let directive = if number == 0 { "CHECK" } else { directive };
        let pattern = if directive == "CHECK-LABEL" {
            format!("v{number}=")
        } else {
            format!("v{number}={}{{{{$}}}}", block(wild, random))
        };
        let pattern = if random.below(6) == 0 { pattern.replace("{{$}}", "") } else { pattern };
        checks.push_str(&format!("{directive}: {pattern}\n"));
        let with = |text: &str| {
            let input = format!("{input}v{number}={text}\n");
            Pair { checks: checks.clone().into_bytes(), input: input.into_bytes(), options: options.clone() }
        };
        let drawn = random.of(&NUMBERS);
        let small = (-10..40).map(|value: i64| value.to_string());
        let mut tried = std::iter::once(drawn.to_owned()).chain(small).chain(NUMBERS.map(str::to_owned));
        let text = tried.find(|text| with(text).verdict().0 == 0).filter(|_| random.below(8) > 0);
        input.push_str(&format!("v{number}={}\n", text.as_deref().unwrap_or(drawn)));
    }
    Pair { checks: checks.into_bytes(), input: input.into_bytes(), options }
}
