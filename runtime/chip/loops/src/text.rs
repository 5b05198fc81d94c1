//! The text forms: `[8 : 1, 8 : 8, 3 : (0, 128, 64)] : 1 @ 0`, packet after the colon, base after the `@`; and masks.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use pest::Parser;
use pest::error::{Error as PestError, ErrorVariant, InputLocation};
use pest::iterators::Pair;

use crate::engines::{EnginePart, EngineTable, Segments};
use crate::error::{SeqError, code};
use crate::mask::Mask;
use crate::program::{Entry, Loop, PairedEntry, PairedProgram, Program};
use crate::steps::{Step, Steps};
use crate::stride::Stride;
use crate::table::check_table;

/// Most entries of a program in text. It bounds the work on hostile input and leaves room for
/// programs that are yet to be merged to the hardware's 8.
pub const MAX_TEXT_ENTRIES: usize = 64;

/// The parser that pest makes of the grammar; in a separate module to keep `Rule` private.
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "sequencer.pest"]
    pub(super) struct Grammar;
}
use grammar::{Grammar, Rule};

/// Entries in brackets.
pub(crate) struct EntryList<'a, L>(pub(crate) &'a [L]);

impl<L: fmt::Display> fmt::Display for EntryList<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, entry) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{entry}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} : {}", self.limit, self.stride)
    }
}

impl fmt::Display for PairedEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} : {} -> {}", self.limit, self.read, self.write)
    }
}

/// A base of 0 is left out.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} : {}", EntryList(&self.entries), self.packet)?;
        match self.base {
            0 => Ok(()),
            base => write!(f, " @ {base}"),
        }
    }
}

/// The bases are left out where both are 0.
impl fmt::Display for PairedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} : {}", EntryList(&self.entries), self.packet)?;
        match (self.read_base, self.write_base) {
            (0, 0) => Ok(()),
            (read, write) => write!(f, " @ {read} -> {write}"),
        }
    }
}

/// `0..8 : [..] : 256`, and `3 : [..] : 256` for a single engine.
impl fmt::Display for EnginePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end } = self.engines;
        match self.count() {
            1 => write!(f, "{start} : {}", self.loops),
            _ => write!(f, "{start}..{end} : {}", self.loops),
        }
    }
}

impl fmt::Display for EngineTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        EntryList(&self.0).fmt(f)
    }
}

/// A single one as it is, several as a list.
impl fmt::Display for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [single] => single.fmt(f),
            several => EntryList(several).fmt(f),
        }
    }
}

/// A step of 0 bytes is omitted if there are rotating offsets.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.by, self.turns.as_slice()) {
            (by, []) => write!(f, "{by}"),
            (0, turns) => write!(f, "{}", Stride::from(turns.to_vec())),
            (by, turns) => write!(f, "{by} + {}", Stride::from(turns.to_vec())),
        }
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", EntryList(&self.each))
    }
}

/// Defaults are omitted.
impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[dim {}", self.dim)?;
        if self.left > 0 {
            write!(f, ", left {}", self.left)?;
        }
        if let Some(by) = self.by {
            write!(f, ", by {by}")?;
        }
        let valid: Vec<String> = self.valid.iter().map(u64::to_string).collect();
        write!(f, ", valid [{}]", valid.join(", "))?;
        match self.value {
            0 => f.write_str("]"),
            value => write!(f, ", value {value}]"),
        }
    }
}

/// Errors carry byte ranges of the text parsed.
impl FromStr for Mask {
    type Err = SeqError;

    fn from_str(text: &str) -> Result<Self, SeqError> {
        let example = "write it like `[dim 1, left 2, valid [28]]`";
        let pairs =
            Grammar::parse(Rule::mask_text, text).map_err(|error| syntax_error(text, &error, example))?;
        let mut mask = Self::default();
        for field in pairs.filter(|pair| pair.as_rule() == Rule::mask).flat_map(Pair::into_inner) {
            let rule = field.as_rule();
            for count in field.into_inner().filter(|pair| pair.as_rule() == Rule::count) {
                let number = literal(&count)?.cast_unsigned();
                match rule {
                    Rule::dim => mask.dim = entry(&count)?,
                    Rule::left => mask.left = number,
                    Rule::by => mask.by = Some(entry(&count)?),
                    Rule::valid if mask.valid.len() == MAX_TEXT_ENTRIES => {
                        return Err(too_many_entries(&count));
                    }
                    Rule::valid => mask.valid.push(number),
                    Rule::value => mask.value = number,
                    _ => {}
                }
            }
        }
        Ok(mask)
    }
}

/// Errors carry byte ranges of the text parsed.
impl FromStr for Steps {
    type Err = SeqError;

    fn from_str(text: &str) -> Result<Self, SeqError> {
        let example = "write it like `[512]`, of rotating buffers `[(0, 4096)]`";
        let pairs =
            Grammar::parse(Rule::steps_text, text).map_err(|error| syntax_error(text, &error, example))?;
        let steps = pairs.filter(|pair| pair.as_rule() == Rule::steps).flat_map(Pair::into_inner);
        let mut each = Vec::new();
        for step in steps.filter(|part| part.as_rule() == Rule::step) {
            if each.len() == MAX_TEXT_ENTRIES {
                return Err(too_many_entries(&step));
            }
            each.push(parse_step(step)?);
        }
        Ok(Self { each, plus: 0 })
    }
}

fn parse_step(step: Pair<'_, Rule>) -> Result<Step, SeqError> {
    let mut parsed = Step::default();
    for part in step.into_inner() {
        match part.as_rule() {
            Rule::stride => parsed.by = literal(&part)?,
            Rule::table => {
                let whole = range(&part);
                parsed.turns = parse_stride(part)?.numbers().to_vec();
                if parsed.turns.len() > MAX_TURNS {
                    let turns = parsed.turns.len();
                    let message = format!("{turns} offsets follow each other, expected at most {MAX_TURNS}");
                    return Err(SeqError::new(code::TEXT_ENTRIES, message).at(whole));
                }
            }
            _ => {}
        }
    }
    Ok(parsed)
}

/// Errors carry byte ranges of the text parsed.
impl FromStr for Program {
    type Err = SeqError;

    fn from_str(text: &str) -> Result<Self, SeqError> {
        let example = "write it like `[8 : 1, 3 : 64] : 1 @ 0`";
        let (entries, packet, [base]) = parse(Rule::program_text, text, example)?;
        Ok(Self { entries, packet, base })
    }
}

/// Errors carry byte ranges of the text parsed.
impl FromStr for PairedProgram {
    type Err = SeqError;

    fn from_str(text: &str) -> Result<Self, SeqError> {
        let example = "write it like `[256 : 4096 -> 512, 8 : 1 -> 1] : 8 @ 0 -> 1024`";
        let (entries, packet, [read_base, write_base]) = parse(Rule::paired_program_text, text, example)?;
        Ok(Self { entries, packet, read_base, write_base })
    }
}

/// Most offsets of a step that follow each other. It bounds how many pairs of those of two steps there are.
pub const MAX_TURNS: usize = 64;

/// Most parts of a table in text. Each engine has at least one descriptor; it bounds the work on hostile input.
pub const MAX_TEXT_PARTS: usize = 1024;

/// Errors carry byte ranges of the text parsed.
impl FromStr for EngineTable {
    type Err = SeqError;

    fn from_str(text: &str) -> Result<Self, SeqError> {
        let example =
            "write it like `[0..3 : [3 : 8 -> 8, 8 : 1 -> 1] : 8, 3 : [8 : 1 -> 1] : 8 @ 24 -> 24]`";
        let pairs = Grammar::parse(Rule::engine_table_text, text)
            .map_err(|error| syntax_error(text, &error, example))?;
        let parts = pairs.filter(|pair| pair.as_rule() == Rule::engine_table).flat_map(Pair::into_inner);
        let mut table = Self(Vec::new());
        for part in parts.filter(|part| part.as_rule() == Rule::engine_part) {
            check_count(table.0.len(), &part)?;
            table.0.push(parse_part(part)?);
        }
        Ok(table)
    }
}

/// Errors carry byte ranges of the text parsed.
impl FromStr for Segments {
    type Err = SeqError;

    fn from_str(text: &str) -> Result<Self, SeqError> {
        let example =
            "write it like `[8 : 1 -> 1] : 1`, or several: `[[8 : 1 -> 1] : 1, [3 : 1 -> 1] : 1 @ 8 -> 8]`";
        let pairs =
            Grammar::parse(Rule::segments_text, text).map_err(|error| syntax_error(text, &error, example))?;
        let mut segments = Self(Vec::new());
        for part in pairs.filter(|part| part.as_rule() == Rule::paired_program) {
            check_count(segments.0.len(), &part)?;
            segments.0.push(paired(part)?);
        }
        Ok(segments)
    }
}

fn check_count(before: usize, part: &Pair<'_, Rule>) -> Result<(), SeqError> {
    if before < MAX_TEXT_PARTS {
        return Ok(());
    }
    let message = format!("part {MAX_TEXT_PARTS} is one too many, expected at most {MAX_TEXT_PARTS}");
    Err(SeqError::new(code::TEXT_ENTRIES, message).at(range(part)))
}

fn paired(pair: Pair<'_, Rule>) -> Result<PairedProgram, SeqError> {
    let (entries, packet, [read_base, write_base]) = program(pair.into_inner())?;
    Ok(PairedProgram { entries, packet, read_base, write_base })
}

fn parse_part(part: Pair<'_, Rule>) -> Result<EnginePart, SeqError> {
    let (whole, mut numbers, mut loops) = (range(&part), Vec::new(), None);
    for inner in part.into_inner() {
        match inner.as_rule() {
            Rule::count => numbers.push(literal(&inner)?.cast_unsigned()),
            Rule::paired_program => loops = Some(paired(inner)?),
            _ => {}
        }
    }
    let engines = match numbers[..] {
        [first] => first..first.saturating_add(1),
        [first, end] if first < end => first..end,
        _ => {
            let message = "a range of engines is empty".to_owned();
            return Err(SeqError::new(code::SYNTAX, message).at(whole));
        }
    };
    let loops =
        loops.ok_or_else(|| SeqError::new(code::SYNTAX, "a part has no loops".to_owned()).at(whole))?;
    Ok(EnginePart { engines, loops })
}

/// Entries, packet and bases of a text that is one program.
fn parse<const SIDES: usize, L: Loop<SIDES>>(
    rule: Rule,
    text: &str,
    example: &str,
) -> Result<(Vec<L>, u64, [i64; SIDES]), SeqError> {
    let pairs = Grammar::parse(rule, text).map_err(|error| syntax_error(text, &error, example))?;
    program(pairs.filter(|pair| pair.as_rule() != Rule::EOI).flat_map(Pair::into_inner))
}

/// Entries, packet and bases of a program.
fn program<'i, const SIDES: usize, L: Loop<SIDES>>(
    parts: impl Iterator<Item = Pair<'i, Rule>>,
) -> Result<(Vec<L>, u64, [i64; SIDES]), SeqError> {
    let mut entries = Vec::new();
    let mut packet = 0;
    let mut bases = [0; SIDES];
    let mut sides = bases.iter_mut();
    for part in parts {
        match part.as_rule() {
            Rule::entry | Rule::paired_entry if entries.len() == MAX_TEXT_ENTRIES => {
                return Err(too_many_entries(&part));
            }
            Rule::entry | Rule::paired_entry => entries.push(parse_entry(part)?),
            Rule::packet => packet = literal(&part)?.cast_unsigned(),
            Rule::base => {
                if let Some(side) = sides.next() {
                    *side = literal(&part)?;
                }
            }
            _ => {}
        }
    }
    Ok((entries, packet, bases))
}

fn parse_entry<const SIDES: usize, L: Loop<SIDES>>(entry: Pair<'_, Rule>) -> Result<L, SeqError> {
    let (mut limit, whole) = (0, range(&entry));
    let mut strides = [const { Stride::Fixed(0) }; SIDES];
    let mut sides = strides.iter_mut();
    for part in entry.into_inner() {
        match part.as_rule() {
            Rule::limit => limit = literal(&part)?.cast_unsigned(),
            Rule::stride | Rule::table => {
                if let Some(side) = sides.next() {
                    *side = parse_stride(part)?;
                }
            }
            _ => {}
        }
    }
    let entry = L::of(limit, strides);
    match check_table(&entry) {
        Some(error) => Err(error.at(whole)),
        None => Ok(entry),
    }
}

fn parse_stride(stride: Pair<'_, Rule>) -> Result<Stride, SeqError> {
    if stride.as_rule() != Rule::table {
        return literal(&stride).map(Stride::Fixed);
    }
    let offsets = stride.into_inner().filter(|part| part.as_rule() == Rule::offset);
    offsets.map(|offset| literal(&offset)).collect::<Result<Vec<_>, _>>().map(Stride::from)
}

/// Limits and packets have no sign in the grammar, so that they are never negative here.
/// The number of an entry.
fn entry(number: &Pair<'_, Rule>) -> Result<usize, SeqError> {
    usize::try_from(literal(number)?).map_err(|_| {
        let message = format!("`{}` is no number of an entry", shortened(number.as_str()));
        SeqError::new(code::LITERAL, message).at(range(number))
    })
}

fn literal(number: &Pair<'_, Rule>) -> Result<i64, SeqError> {
    number.as_str().parse().map_err(|_| {
        let message = format!(
            "`{}` does not fit a signed 64-bit integer, expected {} to {}",
            shortened(number.as_str()),
            i64::MIN,
            i64::MAX
        );
        SeqError::new(code::LITERAL, message).at(range(number))
    })
}

/// Digits may go on for megabytes; a message shows the first few.
fn shortened(digits: &str) -> String {
    const SHOWN: usize = 24;
    match digits.get(..SHOWN) {
        Some(head) if digits.len() > SHOWN => format!("{head}..."),
        Some(_) | None => digits.to_string(),
    }
}

fn range(pair: &Pair<'_, Rule>) -> Range<usize> {
    let span = pair.as_span();
    span.start()..span.end()
}

fn too_many_entries(entry: &Pair<'_, Rule>) -> SeqError {
    let message =
        format!("entry {MAX_TEXT_ENTRIES} is one too many, expected at most {MAX_TEXT_ENTRIES} entries");
    SeqError::new(code::TEXT_ENTRIES, message)
        .with_fix("merge entries, or split the program in two".to_string())
        .at(range(entry))
}

fn syntax_error(text: &str, error: &PestError<Rule>, example: &str) -> SeqError {
    let start = match error.location {
        InputLocation::Pos(start) | InputLocation::Span((start, _)) => start,
    };
    let next = text.get(start..).and_then(|rest| rest.chars().next());
    let found = next.map_or("the end".to_string(), |next| format!("`{}`", next.escape_debug()));
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => {
            positives.iter().copied().map(described).collect::<Vec<_>>().join(" or ")
        }
        ErrorVariant::CustomError { message } => message.clone(),
    };
    SeqError::new(code::SYNTAX, format!("found {found}, expected {expected}"))
        .with_fix(example.to_string())
        .at(start..start + next.map_or(0, char::len_utf8))
}

/// A grammar rule in the words of an error message.
fn described(rule: Rule) -> &'static str {
    match rule {
        Rule::program | Rule::program_text => "a sequencer program",
        Rule::paired_program | Rule::paired_program_text => "a paired sequencer program",
        Rule::engine_table | Rule::engine_table_text => "a table of engines",
        Rule::segments | Rule::segments_text => "loops, or a list of them",
        Rule::engine_part => "a part `engines : loops`",
        Rule::to => "`..`",
        Rule::steps | Rule::steps_text => "a list of steps",
        Rule::step => "a step `512` or `(0, 4096)`",
        Rule::plus => "`+`",
        Rule::mask | Rule::mask_text => "a mask",
        Rule::dim => "`dim`",
        Rule::left => "`left`",
        Rule::by => "`by`",
        Rule::valid => "`valid`",
        Rule::value => "`value`",
        Rule::count => "a number",
        Rule::entry => "an entry `limit : stride`",
        Rule::paired_entry => "an entry `limit : read -> write`",
        Rule::limit => "a limit",
        Rule::stride => "a stride",
        Rule::table => "an offset table `(o, p, ...)`",
        Rule::offset => "an offset",
        Rule::packet => "a packet size",
        Rule::base => "a base address",
        Rule::open => "`[`",
        Rule::close => "`]`",
        Rule::shut => "`)`",
        Rule::comma => "`,`",
        Rule::colon => "`:`",
        Rule::at => "`@`",
        Rule::arrow => "`->`",
        Rule::WHITESPACE => "white space",
        Rule::EOI => "the end",
    }
}
