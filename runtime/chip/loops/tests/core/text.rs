//! The text form: round trips, and every way for it to be wrong.

use visa_loops::{
    EngineTable, Entry, MAX_TEXT_ENTRIES, PairedEntry, PairedProgram, Program, Segments, SeqError,
};

use crate::{paired, program};

fn error(text: &str) -> SeqError {
    text.parse::<Program>().expect_err(text)
}

fn paired_error(text: &str) -> SeqError {
    text.parse::<PairedProgram>().expect_err(text)
}

/// The code and the piece of text that an error points at.
fn pointed(text: &str, error: &SeqError) -> (&'static str, String) {
    let range = error.range.clone().expect("text errors have a range");
    (error.code, text[range].to_string())
}

#[test]
fn values_of_a_program() {
    let entries = vec![Entry::new(8, 1), Entry::new(3, -64)];
    let expected = Program { entries, packet: 4, base: -2 };
    assert_eq!(program("[8 : 1, 3 : -64] : 4 @ -2"), expected);
    assert_eq!(program("[8:1,3:-64]:4@-2"), expected);
    assert_eq!(program(" [ 8 : 1 ,\n\t3 : -64 ]\r\n: 4 @ -2 "), expected);
}

#[test]
fn values_of_a_paired_program() {
    let entries = vec![PairedEntry::new(256, 4096, 524_288), PairedEntry::new(512, 8, -8)];
    let expected = PairedProgram { entries, packet: 8, read_base: 0, write_base: 1024 };
    let text = "[256 : 4096 -> 524288, 512 : 8 -> -8] : 8 @ 0 -> 1024";
    assert_eq!(paired(text), expected);
    assert_eq!(paired("[256:4096->524288,512:8->-8]:8@0->1024"), expected);
    assert_eq!(expected.to_string(), text);
}

#[test]
fn canonical_text_round_trips() {
    for text in [
        "[] : 1",
        "[8 : 1, 8 : 8, 3 : 64] : 1",
        "[3 : 8, 5 : 24, 8 : 1] : 8 @ 1024",
        "[3 : (0, 128, -64), 1 : (5), 8 : 1] : 8 @ 64",
        "[2 : -1] : 1 @ -7",
        "[0 : 0] : 0",
        "[9223372036854775807 : 9223372036854775807] : 9223372036854775807 @ 9223372036854775807",
        "[1 : -9223372036854775808] : 1 @ -9223372036854775808",
    ] {
        assert_eq!(program(text).to_string(), text);
    }
    for text in [
        "[2 : (0, 9) -> 8, 2 : 1 -> (3, 0), 2 : (0, 1) -> (1, 0)] : 1",
        "[] : 1",
        "[2 : 1 -> -1] : 1",
        "[2 : 0 -> 1] : 8 @ 1 -> 0",
        "[2 : 0 -> 1] : 8 @ 0 -> -4",
    ] {
        assert_eq!(paired(text).to_string(), text);
    }
}

#[test]
fn a_base_of_zero_is_left_out() {
    assert_eq!(program("[8 : 1] : 1 @ 0").to_string(), "[8 : 1] : 1");
    assert_eq!(paired("[8 : 1 -> 1] : 1 @ 0 -> 0").to_string(), "[8 : 1 -> 1] : 1");
}

/// (text, found, expected): each points at the first character that cannot be.
#[test]
fn syntax_errors() {
    let cases = [
        ("", "", "found the end, expected `[`"),
        ("8 : 1", "8", "found `8`, expected `[`"),
        ("[8 : 1 : 1", ":", "found `:`, expected `]` or `,`"),
        ("[8 : 1", "", "found the end, expected `]` or `,`"),
        ("[8 : 1,] : 1", "]", "found `]`, expected a limit"),
        ("[8 : 1 8 : 1] : 1", "8", "found `8`, expected `]` or `,`"),
        ("[8] : 1", "]", "found `]`, expected `:`"),
        ("[8 : ] : 1", "]", "found `]`, expected an offset table `(o, p, ...)` or a stride"),
        ("[8 : x] : 1", "x", "found `x`, expected an offset table `(o, p, ...)` or a stride"),
        ("[8 : 1]", "", "found the end, expected `:`"),
        ("[8 : 1] : ", "", "found the end, expected a packet size"),
        ("[8 : 1] : -1", "-", "found `-`, expected a packet size"),
        ("[8 : 1] : 1 @", "", "found the end, expected a base address"),
        ("[8 : 1] : 1 1", "1", "found `1`, expected the end or `@`"),
        ("[8 : 1] : 1 @ 0 -> 1", "-", "found `-`, expected the end"),
        ("[2 : (0 4)] : 1", "4", "found `4`, expected `)` or `,`"),
        ("[2 : ()] : 1", ")", "found `)`, expected an offset"),
        ("[2 : (0, 4] : 1", "]", "found `]`, expected `)` or `,`"),
        ("[2 : (0, (4))] : 1", "(", "found `(`, expected an offset"),
        ("[8 : 1.5] : 1", ".", "found `.`, expected `]` or `,`"),
        ("[8 : 1] : 1\0", "\0", "found `\\0`, expected the end or `@`"),
        ("[8 : é] : 1", "é", "found `é`, expected an offset table `(o, p, ...)` or a stride"),
    ];
    for (text, at, message) in cases {
        let error = error(text);
        assert_eq!(pointed(text, &error), ("P1", at.to_string()), "{text}");
        assert_eq!(error.message, message, "{text}");
        assert_eq!(error.fix.as_deref(), Some("write it like `[8 : 1, 3 : 64] : 1 @ 0`"));
    }
    for text in ["[-8 : 1] : 1", "[8 : + 1] : 1", "[8 : - 1] : 1", "[[8 : 1]] : 1", "[8 : 1 -> 1] : 1"] {
        assert_eq!(error(text).code, "P1", "{text}");
    }
}

#[test]
fn paired_syntax_errors() {
    let cases = [
        ("[8 : 1] : 1", "]", "found `]`, expected `->`"),
        ("[8 : 1 -> ] : 1", "]", "found `]`, expected an offset table `(o, p, ...)` or a stride"),
        ("[8 : 1 -> 1] : 1 @ 0", "", "found the end, expected `->`"),
        ("[8 : 1 -> 1] : 1 @ 0 ->", "", "found the end, expected a base address"),
        ("x", "x", "found `x`, expected `[`"),
    ];
    for (text, at, message) in cases {
        let error = paired_error(text);
        assert_eq!(pointed(text, &error), ("P1", at.to_string()), "{text}");
        assert_eq!(error.message, message, "{text}");
    }
}

#[test]
fn literals_of_64_bits() {
    let cases = [
        ("[9223372036854775808 : 1] : 1", "9223372036854775808"),
        ("[8 : 9223372036854775808] : 1", "9223372036854775808"),
        ("[8 : -9223372036854775809] : 1", "-9223372036854775809"),
        ("[8 : 1] : 9223372036854775808", "9223372036854775808"),
        ("[8 : 1] : 1 @ 9223372036854775808", "9223372036854775808"),
    ];
    for (text, at) in cases {
        assert_eq!(pointed(text, &error(text)), ("P2", at.to_string()));
    }
    let text = "[8 : 1 -> 9223372036854775808] : 1";
    assert_eq!(pointed(text, &paired_error(text)), ("P2", "9223372036854775808".to_string()));
    let text = "[8 : 1 -> 1] : 1 @ 0 -> 9223372036854775808";
    assert_eq!(pointed(text, &paired_error(text)), ("P2", "9223372036854775808".to_string()));
    // A megabyte of digits makes a short message.
    let long = error(&format!("[{} : 1] : 1", "9".repeat(1 << 20)));
    assert_eq!(long.code, "P2");
    assert!(long.message.len() < 200, "{}", long.message.len());
}

#[test]
fn entries_in_text_are_bounded() {
    let text = |count: usize| format!("[{}] : 1", vec!["2 : 1"; count].join(", "));
    assert_eq!(program(&text(MAX_TEXT_ENTRIES)).entries.len(), 64);
    let long = text(MAX_TEXT_ENTRIES + 1);
    let error = error(&long);
    assert_eq!(pointed(&long, &error), ("P3", "2 : 1".to_string()));
    // The 65th entry: `[`, 64 entries of `2 : 1, `.
    assert_eq!(error.range, Some(449..454));
    let pairs = vec!["2 : 1 -> 1"; MAX_TEXT_ENTRIES + 1].join(", ");
    assert_eq!(paired_error(&format!("[{pairs}] : 1")).code, "P3");
}

#[test]
fn deep_brackets_are_an_error_not_a_crash() {
    assert_eq!(error(&"[".repeat(100_000)).code, "P1");
}

/// S6: the entry is pointed at, and the fix counts its offsets.
#[test]
fn tables_have_an_offset_an_iteration() {
    for (text, at, message, fix) in [
        ("[4 : 8, 3 : (0, 8)] : 1", "3 : (0, 8)", "of 3 iterations has 2 offsets", "write 2 for 3"),
        ("[2 : (0, 8, 8)] : 1", "2 : (0, 8, 8)", "of 2 iterations has 3 offsets", "write 3 for 2"),
        ("[0 : (0)] : 1", "0 : (0)", "of 0 iterations has 1 offsets", "write 1 for 0"),
    ] {
        let error = error(text);
        assert_eq!(pointed(text, &error), ("S6", at.to_string()));
        assert!(error.message.contains(message), "{}", error.message);
        assert_eq!(error.fix.as_deref(), Some(fix));
    }
    assert_eq!(paired_error("[2 : 8 -> (0, 8, 9)] : 1").code, "S6");
    let text = "[2 : (0, 9223372036854775808)] : 1";
    assert_eq!(pointed(text, &error(text)), ("P2", "9223372036854775808".to_string()));
}

/// Book 07, "Indirect Access": (limit, [offset0, offset1, ...]).
#[test]
fn an_indirect_entry_visits_its_offsets() {
    let gather = program("[3 : (0, 128, 64), 2 : 1] : 2 @ 1000");
    assert_eq!(gather.positions().collect::<Vec<_>>(), [1000, 1001, 1128, 1129, 1064, 1065]);
    assert_eq!(gather.addresses().collect::<Vec<_>>(), [1000, 1128, 1064]);
    assert_eq!(gather.extent(), Ok((1000, 1130)));
    // The first offset need not be 0, nor the least.
    let gather = program("[2 : 10, 2 : (7, -3)] : 1");
    assert_eq!(gather.positions().collect::<Vec<_>>(), [7, -3, 17, 7]);
    assert_eq!(gather.extent(), Ok((-3, 18)));
}

#[test]
fn tables_and_segments_print_as_they_are_read() {
    let table = "[0..3 : [3 : 8 -> 8, 8 : 1 -> 1] : 8, 3 : [8 : 1 -> 1] : 8 @ 24 -> 24]";
    assert_eq!(table.parse::<EngineTable>().expect(table).to_string(), table);
    assert_eq!(
        "[5..6:[1:1->1]:1]".parse::<EngineTable>().expect("one").to_string(),
        "[5 : [1 : 1 -> 1] : 1]"
    );
    for text in ["[8 : 1 -> 1] : 1", "[[8 : 1 -> 1] : 1, [3 : 1 -> 1] : 1 @ 8 -> 8]"] {
        assert_eq!(text.parse::<Segments>().expect(text).to_string(), text);
    }
}

#[test]
fn tables_that_are_none() {
    let refused = |text: &str| text.parse::<EngineTable>().expect_err(text);
    for text in [
        "",
        "[]",
        "[0 [8 : 1 -> 1] : 8]",
        "[0..: [8 : 1 -> 1] : 8]",
        "[-1 : [8 : 1 -> 1] : 8]",
        "[0 : [8 : 1] : 8]",
    ] {
        assert_eq!(refused(text).code, "P1", "{text}");
    }
    for text in ["[3..3 : [8 : 1 -> 1] : 8]", "[3..2 : [8 : 1 -> 1] : 8]"] {
        let error = refused(text);
        assert_eq!(
            (error.message.as_str(), error.range),
            ("a range of engines is empty", Some(1..text.len() - 1))
        );
    }
    assert_eq!(refused("[99999999999999999999 : [8 : 1 -> 1] : 8]").code, "P2");
    let many = |count: usize| format!("[{}]", vec!["0 : [8 : 1 -> 1] : 8"; count].join(", "));
    assert!(many(1024).parse::<EngineTable>().is_ok());
    assert_eq!(refused(&many(1025)).code, "P3");
    for text in ["[[8 : 1 -> 1] : 1]", "[]", "[[8 : 1 -> 1] : 1,]"] {
        assert!(text.parse::<Segments>().is_err(), "{text}");
    }
}

#[test]
fn iterations_begin_where_the_loops_come_to() {
    let part: EngineTable =
        "[2..8 : [3 : 100 -> 10, 2 : 7 -> 1, 8 : 1 -> 1] : 8 @ 5 -> 6]".parse().expect("a table");
    let part = &part.0[0];
    assert_eq!((part.count(), part.engine_loops()), (6, Some(2)));
    assert_eq!(part.loops.iteration(2, 5).to_string(), "[8 : 1 -> 1] : 8 @ 212 -> 27");
    assert_eq!(part.loops.iteration(2, 2).to_string(), "[8 : 1 -> 1] : 8 @ 105 -> 16");
    assert_eq!(part.loops.iteration(0, 0), part.loops);
    let odd: EngineTable = "[0..4 : [3 : 100 -> 10, 8 : 1 -> 1] : 8]".parse().expect("a table");
    assert_eq!(odd.0[0].engine_loops(), None);
}
