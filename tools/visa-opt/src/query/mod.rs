//! `visa-opt query`: questions about mapping expressions, answered as text or JSON, with an exit code for yes or no.

mod canonical;
mod cell;
mod compare;
mod config_rules;
mod digits;
mod divide;
pub(crate) mod flags;
mod forms;
mod input;
mod positions;
pub(crate) mod rules;
mod sequencer;

use crate::io::Io;
use crate::render::Renderer;
use crate::run::Refusal;
use clap::Arg;
use serde_json::Value;
use visa_algebra::{Axes, Expr};
use visa_canonical::RuleSet;
use visa_ir::diag::{counted, visible, visible_json};

/// Exit code of an answered question: done, or yes.
const YES: i32 = 0;
/// Exit code of a no, and of bad input.
const NO: i32 = 1;
/// Exit code of a question that is not decided.
const UNKNOWN: i32 = 2;

/// A question that can be asked.
#[derive(Debug)]
pub(crate) struct Verb {
    name: &'static str,
    about: &'static str,
    /// The text after `query NAME`.
    example: &'static str,
    /// The names of its mappings.
    takes: &'static [&'static str],
    /// Flags beyond those that all have.
    flags: fn() -> Vec<Arg>,
    answer: fn(&Query) -> Result<Answer, Refusal>,
}

impl Verb {
    /// Common parts of most verbs.
    const BASE: Verb = Verb {
        name: "",
        about: "",
        example: "",
        takes: &["EXPR"],
        flags: Vec::new,
        answer: |_| Ok(Answer { text: String::new(), json: Value::Null, code: YES }),
    };
}

/// The questions, as the help lists them.
static VERBS: &[Verb] = &[
    Verb {
        name: "normalize",
        about: "The mapping rebuilt from its digit normal form",
        example: "normalize '[B / 64, B % 64]' --axes B=512",
        answer: forms::normalize,
        ..Verb::BASE
    },
    Verb {
        name: "canonical",
        about: "The shortest text of a mapping that the rewrite rules find",
        example: "canonical '[[B / 64, B % 64], 1]' --axes B=512 --explain",
        flags: canonical::flags,
        answer: canonical::answer,
        ..Verb::BASE
    },
    Verb {
        name: "equal",
        about: "Whether two mappings hold the same cells; a no has the first position that differs",
        example: "equal '[B / 64, B % 64]' '[B]' --axes B=512",
        takes: &["LEFT", "RIGHT"],
        answer: compare::equal,
        ..Verb::BASE
    },
    Verb {
        name: "refines",
        about: "Whether LEFT may stand where RIGHT is asked for: padding may be stricter, or filled where it does \
                not matter",
        example: "refines '[A # 16 {0}]' '[A # 16]' --axes A=8",
        takes: &["LEFT", "RIGHT"],
        answer: compare::refines,
        ..Verb::BASE
    },
    Verb {
        name: "map",
        about: "Content of each position",
        example: "map '[A, B]' --axes A=8,B=512 --at 519",
        flags: positions::flags,
        answer: positions::answer,
        ..Verb::BASE
    },
    Verb {
        name: "size",
        about: "The number of positions",
        example: "size '[C, D # 64]' --axes C=13,D=61",
        answer: forms::size,
        ..Verb::BASE
    },
    Verb {
        name: "digits",
        about: "The digit normal form, major digit first",
        example: "digits '[A, B # 1024 {0}]' --axes A=8,B=512",
        answer: digits::answer,
        ..Verb::BASE
    },
    Verb {
        name: "divide",
        about: "The loops that read STREAM from BUFFER, outermost first, as limit : stride in elements",
        example: "divide '[B, A]' '[A, B # 16]' --axes A=8,B=12",
        takes: &["STREAM", "BUFFER"],
        answer: divide::answer,
        ..Verb::BASE
    },
    Verb {
        name: "sequencer",
        about: "The sequencer program that reads BUFFER as TIME and PACKET, or with --commit writes it: entries \
                with the factor of each, access sizes, cycles",
        example: "sequencer '[A, B]' '[B / 8, A]' '[B % 8]' --axes A=8,B=16 --dtype i8",
        takes: &["BUFFER", "TIME", "PACKET"],
        flags: sequencer::flags,
        answer: sequencer::answer,
    },
    Verb {
        name: "rules",
        about: "The rewrite rules, each with the number of instances that its check enumerates",
        example: "rules --mapping-rules my.rules",
        takes: &[],
        answer: rules::answer,
        ..Verb::BASE
    },
    Verb {
        name: "config-rules",
        about: "The rules by which --select-configs chooses: operation, name, equation",
        example: "config-rules --json",
        takes: &[],
        answer: config_rules::answer,
        ..Verb::BASE
    },
];

/// One question.
#[derive(Debug)]
pub(crate) struct Query {
    verb: &'static Verb,
    /// Its mappings, by the names that the verb gives them.
    operands: Vec<(&'static str, String)>,
    axes: String,
    aliases: Vec<String>,
    json: bool,
    at: Option<String>,
    explain: bool,
    stats: bool,
    asked: sequencer::Asked,
    mapping_rules: Option<String>,
    /// The rules of that file and the built-in ones, once it is read.
    rules: Option<RuleSet>,
    renderer: Renderer,
}

/// The answer, in both forms.
pub(crate) struct Answer {
    /// Lines, each ended.
    text: String,
    json: Value,
    code: i32,
}

impl Query {
    /// The table of axes and the mappings.
    fn mappings<const N: usize>(&self) -> Result<(Axes, [Expr; N]), Refusal> {
        let axes = input::axes(&self.axes, &self.aliases)?;
        let read = |(name, text): &(&str, String)| input::mapping(name, text, &axes);
        let found = self.operands.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let count = found.len();
        let mappings = found.try_into().map_err(|_| {
            let message = format!("{}, expected {N}", counted(count, "mapping"));
            input::refusal("flags", None, message)
        })?;
        Ok((axes, mappings))
    }
}

/// Answers. Bad input leaves standard output empty.
pub(crate) fn run(mut query: Query, io: &mut Io) -> i32 {
    match answer(&mut query, io) {
        Ok(answer) => {
            let text = format!("{}\n", answer.json);
            let shown = if query.json { visible_json(&text) } else { visible(&answer.text) };
            io.stdout.extend(shown.as_bytes());
            answer.code
        }
        Err((source, findings)) => {
            query.renderer.emit(io, source.as_ref(), &findings);
            NO
        }
    }
}

fn answer(query: &mut Query, io: &mut Io) -> Result<Answer, Refusal> {
    if let Some(file) = &query.mapping_rules {
        query.rules = Some(rules::load(io, file)?);
    }
    (query.verb.answer)(query)
}
