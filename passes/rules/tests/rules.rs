//! Reading, checks and messages that all kinds share, for a kind whose rules contain the results of their proof.

use visa_ir::diag::Diagnostic;
use visa_ir::span::Source;
use visa_rules::{
    Condition, Counterexample, Kind, MAX_BYTES, MAX_NESTING, MAX_SYNTAX_ERRORS, MAX_VARIABLES, Rule,
    RuleKind, Scope, Sort, Syntax, Tree, Verdict, check, load, refuse,
};

/// Sides are lists of words; the option is the verdict.
#[derive(Clone, Debug)]
struct Words;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Word;

impl Sort for Word {
    fn describe(self) -> &'static str {
        "a word"
    }
}

impl RuleKind for Words {
    const KIND: Kind = Kind::Vector;
    const FORM: &'static str = "the form of a rule is `rule NAME VERDICT: WORDS => WORDS`";
    const BOTH_WAYS: bool = true;
    const CONDITIONS: &'static [&'static str] = &["short", "long"];

    type Session<'a> = ();
    type Sort = Word;
    type Options = String;
    type Side = Vec<usize>;
    type Test = String;

    fn options((): (), name: &Tree<'_>, options: &[Tree<'_>]) -> Result<String, Diagnostic> {
        match options {
            [verdict] => Ok(verdict.as_str().to_owned()),
            _ => Err(refuse("rule-option", name, "one verdict")),
        }
    }

    fn side((): (), _: &String, scope: &mut Scope<Word>, side: Tree<'_>) -> Result<Vec<usize>, Diagnostic> {
        let words = side.into_inner().filter(|part| part.as_rule() == Syntax::variable);
        words.map(|word| scope.slot(&word, Word)).collect()
    }

    fn test(_: &mut Scope<Word>, test: Tree<'_>) -> Result<String, Diagnostic> {
        Ok(test.as_str().trim().to_owned())
    }

    fn prove((): (), rules: &[Rule<Self>]) -> Vec<Verdict> {
        let verdict = |rule: &Rule<Self>| match rule.options.as_str() {
            "sound" => Verdict::Sound { instances: 2, compared: 3 },
            "none" => Verdict::Sound { instances: 0, compared: 0 },
            "unchecked" => Verdict::Unchecked { why: "all are refused".to_owned(), note: "one".to_owned() },
            "undecided" => Verdict::Undecided {
                why: "it is not shown".to_owned(),
                note: "what is".to_owned(),
                fix: "write Rust".to_owned(),
            },
            _ => Verdict::Unsound(Counterexample {
                given: "axes A = 2".to_owned(),
                left: "x".to_owned(),
                right: Some("y".to_owned()),
                why: "they differ".to_owned(),
            }),
        };
        rules.iter().map(verdict).collect()
    }
}

fn findings(text: &str) -> Vec<Diagnostic> {
    load::<Words>((), text, &|name| name == "taken").err().unwrap_or_default()
}

/// Code, line and column of each finding.
fn places(text: &str) -> Vec<(String, usize, usize)> {
    let place = |finding: &Diagnostic| Source::new("rules", text).position(finding.span.range().start);
    findings(text)
        .iter()
        .map(|finding| {
            let (line, column) = place(finding);
            (finding.code.clone(), line, column)
        })
        .collect()
}

/// The only finding of a file.
fn only(text: &str) -> Diagnostic {
    let mut findings = findings(text);
    assert_eq!(findings.len(), 1, "{text}: {findings:?}");
    findings.remove(0)
}

/// The only finding of a file with these rules.
fn refused(rules: &str) -> Diagnostic {
    only(&format!("rules vector\n{rules}"))
}

#[test]
fn a_file_begins_with_its_kind() {
    let rule = "rule a sound: x => x";
    for head in
        ["rules vector\n", "// first\n\n  rules vector  \n", "rules\tvector\r\n", "// é\nrules vector\n\n"]
    {
        assert_eq!(findings(&format!("{head}{rule}")), [], "{head}");
    }
    for (head, line, column, message, fix) in [
        ("", 1, 1, "`rule a sound: x => x` is not the first line", "write `rules vector` on a line above"),
        (
            "\n  ",
            2,
            3,
            "`rule a sound: x => x` is not the first line",
            "write `rules vector` on a line above",
        ),
        (
            "rules\n",
            1,
            1,
            "`rules` is not the first line of a file of rules",
            "write `rules vector` on a line above",
        ),
        (
            "rules vector x\n",
            1,
            1,
            "`rules vector x` is not the first line",
            "write `rules vector` on a line above",
        ),
        (
            "rules vecto\n",
            1,
            7,
            "`vecto` is not a kind of rules; expected `rules vector`",
            "write `rules vector`",
        ),
        ("rules elephant\n", 1, 7, "`elephant` is not a kind of rules", "write `rules vector`"),
        (
            "rules mapping\n",
            1,
            7,
            "contains mapping rules (`rules mapping`); expected vector",
            "`--mapping-rules`",
        ),
        ("// 1\nrules configuration\n", 2, 7, "contains configuration rules", "pass this file to `--rules`"),
    ] {
        let text = format!("{head}{rule}");
        let finding = only(&text);
        assert_eq!(places(&text), [("rule-kind".to_owned(), line, column)], "{}", finding.message);
        assert!(finding.message.contains(message), "{head}: {}", finding.message);
        assert!(finding.fix.as_ref().is_some_and(|found| found.contains(fix)), "{head}: {:?}", finding.fix);
    }
    for text in ["", "\n \n", "// nothing here"] {
        assert_eq!(only(text).code, "rule-kind", "{text}");
    }
    let long = only(&"x".repeat(1_000));
    assert!(long.message.len() < 200, "{}", long.message);
}

#[test]
fn a_file_of_another_kind_without_a_flag_is_named() {
    /// The same words as rules about mappings.
    #[derive(Clone, Debug)]
    struct Mappings;
    impl RuleKind for Mappings {
        const KIND: Kind = Kind::Mapping;
        const FORM: &'static str = "";
        const BOTH_WAYS: bool = false;
        const CONDITIONS: &'static [&'static str] = &[];
        type Session<'a> = ();
        type Sort = Word;
        type Options = ();
        type Side = ();
        type Test = ();
        fn options((): (), _: &Tree<'_>, _: &[Tree<'_>]) -> Result<(), Diagnostic> {
            Ok(())
        }
        fn side((): (), (): &(), _: &mut Scope<Word>, _: Tree<'_>) -> Result<(), Diagnostic> {
            Ok(())
        }
        fn test(_: &mut Scope<Word>, _: Tree<'_>) -> Result<(), Diagnostic> {
            Ok(())
        }
        fn prove((): (), rules: &[Rule<Self>]) -> Vec<Verdict> {
            rules.iter().map(|_| Verdict::Sound { instances: 1, compared: 1 }).collect()
        }
    }
    let found = |text: &str| load::<Mappings>((), text, &|_| false).map(drop);
    assert_eq!(found("rules mapping\nrule a: E => E"), Ok(()));
    let refused = found("rules vector\nrule a: E => E").expect_err("vector rules");
    assert!(refused[0].message.contains("contains vector rules"), "{refused:?}");
    assert_eq!(refused[0].fix.as_deref(), Some("pass a file of mapping rules: no flag reads vector rules"));
    // Only one way.
    let refused = found("rules mapping\nrule a: E <=> E").expect_err("an arrow both ways");
    assert_eq!(refused[0].message, "`<=>` is not an arrow of mapping rules; expected `=>`");
    assert_eq!(refused[0].fix.as_deref(), Some("write `=>`"));
}

#[test]
fn a_rule_has_its_name_text_comment_and_place() {
    let text = "rules vector\n// far\n\n// near,\n// and more\nrule a sound:\n  x + y =>\n  y if \
                short(x)\nrule b sound: z <=> z";
    let (rules, findings) = check::<Words>((), text, &|_| false);
    assert_eq!(findings, []);
    let [first, second] = rules.as_slice() else { panic!("{rules:?}") };
    assert_eq!((first.name, first.doc.as_str()), ("a", "near, and more"));
    assert_eq!((first.text.as_str(), first.both_ways), ("x + y => y if short(x)", false));
    assert_eq!((&first.left, &first.right), (&vec![0, 1], &vec![1]));
    assert!(
        text[first.range.clone()].starts_with("rule a") && text[first.range.clone()].ends_with("short(x)")
    );
    assert_eq!((second.doc.as_str(), second.both_ways, &second.condition), ("", true, &None));
    assert_eq!(second.reversed().left, second.right);
}

#[test]
fn conditions_bind_as_they_are_bracketed() {
    let read = |condition: &str| {
        let text = format!("rules vector\nrule a sound: x => x if {condition}");
        let (mut rules, findings) = check::<Words>((), &text, &|_| false);
        assert_eq!(findings, [], "{condition}");
        rules.remove(0).condition.expect("a condition")
    };
    let test = |word: &str| Condition::Test(format!("{word}(x)"));
    let not = |inner| Condition::Not(Box::new(inner));
    assert_eq!(read("short(x)"), test("short"));
    assert_eq!(
        read("short(x) or long(x) and not short(x)"),
        Condition::Either(vec![test("short"), Condition::Both(vec![test("long"), not(test("short"))])])
    );
    assert_eq!(
        read("(short(x) or long(x)) and long(x)"),
        Condition::Both(vec![Condition::Either(vec![test("short"), test("long")]), test("long")])
    );
    assert_eq!(read("not not short(x)"), test("short"));
    assert_eq!(read(&format!("{} short(x)", "not ".repeat(401))), not(test("short")));
}

#[test]
fn conditions_are_those_of_the_kind() {
    for (condition, message, fix) in [
        (
            "shrot(x)",
            "`shrot` is not a condition of vector rules; expected `short`, `long`",
            Some("write `short`"),
        ),
        ("dtype == i8", "`dtype` is not a condition of vector rules; expected `short`, `long`", None),
        ("1 < 2", "a comparison is not a condition of vector rules; expected `short`, `long`", None),
    ] {
        let finding = refused(&format!("rule a sound: x => x if {condition}"));
        assert_eq!(
            (finding.code.as_str(), finding.span.range().start),
            ("rule-condition", 37),
            "{condition}"
        );
        assert_eq!((finding.message.as_str(), finding.fix.as_deref()), (message, fix));
    }
}

#[test]
fn right_sides_use_what_left_sides_bind() {
    assert_eq!(findings("rules vector\nrule a sound: x + y => x\nrule b sound: x + y <=> y + x"), []);
    assert_eq!(
        refused("rule a sound: x => x + y").message,
        "`y` is not bound: it does not occur on the left side"
    );
    let back = refused("rule a sound: x + y <=> x");
    assert_eq!((back.code.as_str(), back.fix.as_deref()), ("rule-unbound", Some("write `=>`")));
}

#[test]
fn names_are_unique() {
    assert_eq!(findings("rules vector\nrule a sound: x => x\nrule b sound: x => x"), []);
    let found = places("rules vector\nrule a sound: x => x\nrule a sound: y => y\nrule taken sound: x => x");
    assert_eq!(found, [("rule-duplicate".to_owned(), 3, 1), ("rule-duplicate".to_owned(), 4, 1)]);
    assert_eq!(refused("rule taken sound: x => x").message, "rule `taken`: another rule has this name");
}

#[test]
fn sizes_are_bounded() {
    let names = |count: usize| (0..count).map(|at| format!("x{at}")).collect::<Vec<_>>().join(" + ");
    let rule = |count: usize| format!("rule a sound: {} => x0", names(count));
    assert_eq!(findings(&format!("rules vector\n{}", rule(MAX_VARIABLES))), []);
    assert_eq!(refused(&rule(MAX_VARIABLES + 1)).code, "rule-variables");

    let deep = |levels: usize| format!("rule a sound: {}x{} => x", "(".repeat(levels), ")".repeat(levels));
    assert_eq!(findings(&format!("rules vector\n{}", deep(MAX_NESTING))), []);
    assert_eq!(refused(&deep(MAX_NESTING + 1)).code, "rule-syntax");

    let long = |bytes: usize| {
        let rule = "rule a sound: x => x";
        format!("{rule}{}", "+".repeat(bytes - rule.len()))
    };
    assert_eq!(findings(&format!("rules vector\n{}\n", long(MAX_BYTES))), []);
    assert_eq!(refused(&long(MAX_BYTES + 1)).message, "the rule has 2049 bytes; a rule has at most 2048");

    let broken = |count: usize| format!("rules vector\n{}", "rule a sound: => x\n".repeat(count));
    assert_eq!(findings(&broken(MAX_SYNTAX_ERRORS)).len(), MAX_SYNTAX_ERRORS);
    assert_eq!(findings(&broken(MAX_SYNTAX_ERRORS + 1)).len(), MAX_SYNTAX_ERRORS);
}

#[test]
fn every_mistake_is_reported_at_its_line() {
    let text = "rules vector\nrule a wrong: x => x\nrule b sound: x =>\n// a comment\nrule c sound x => x\n\
                rule d sound: x => y\nrules vector\nrule e none: x => x\nruler f sound: x => x";
    let found: Vec<_> = places(text).into_iter().map(|(code, line, _)| (code, line)).collect();
    // A rule that ends too early is found out at the next word. A second header is in no rule.
    let expected =
        [("rule-unsound", 2), ("rule-syntax", 4), ("rule-syntax", 5), ("rule-syntax", 7), ("rule-syntax", 9)];
    assert_eq!(found, expected.map(|(code, line)| (code.to_owned(), line)));
    let finding = refused("rule a sound: x");
    assert_eq!(finding.notes[0].message, "the form of a rule is `rule NAME VERDICT: WORDS => WORDS`");
}

#[test]
fn a_file_without_rules_is_refused() {
    for text in ["rules vector", "rules vector\n// nothing\n"] {
        let finding = only(text);
        assert_eq!(
            (finding.code.as_str(), finding.message.as_str()),
            ("rule-none", "the file contains no rules")
        );
    }
}

#[test]
fn verdicts_become_reports_or_messages() {
    let proved = load::<Words>((), "rules vector\nrule a sound: x => x", &|_| false).expect("a sound rule");
    assert_eq!(
        (proved.reports[0].name, proved.reports[0].instances, proved.reports[0].compared),
        ("a", 2, 3)
    );
    for (verdict, code, message, notes) in [
        ("wrong", "rule-unsound", "rule `a` is not sound: they differ", 2),
        (
            "none",
            "rule-unchecked",
            "rule `a` cannot be checked: no small example fits its left side and conditions",
            0,
        ),
        ("unchecked", "rule-unchecked", "rule `a` cannot be checked: all are refused", 1),
        ("undecided", "rule-undecided", "rule `a` cannot be checked: it is not shown", 1),
    ] {
        let finding = refused(&format!("rule a {verdict}: x => x"));
        assert_eq!((finding.code.as_str(), finding.message.as_str()), (code, message));
        assert_eq!(finding.notes.len(), notes, "{finding:?}");
    }
    let unsound = refused("rule a wrong: x => x");
    assert_eq!(unsound.notes[0].message, "`x` is the left side, with axes A = 2");
    assert_eq!(unsound.notes[1].message, "`y` is the right side");
}
