//! The command line of `visa-opt query`: a subcommand a verb.

use super::sequencer::Asked;
use super::{Query, VERBS, Verb};
use crate::render::Renderer;
use clap::{Arg, ArgAction, ArgMatches, Command};

/// The subcommand's name.
pub(crate) const NAME: &str = "query";

/// Names of flags of `canonical`.
pub(super) const EXPLAIN: &str = "explain";
pub(super) const STATS: &str = "stats";

const EXIT_CODES: &str = "Exit codes: 0 done, or yes; 1 no, or bad input (then nothing is on standard output); 2 \
                          unknown.\nA mapping is written in brackets, as in [A / 8, B # 64]; a file called query \
                          is read as ./query.";

/// `visa-opt query VERB ...`.
pub(crate) fn command() -> Command {
    Command::new(NAME)
        .about("Answers a question about mapping expressions: size, cells, equality, normal forms")
        .after_help(EXIT_CODES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands(VERBS.iter().map(subcommand))
}

fn subcommand(verb: &Verb) -> Command {
    let mut command = Command::new(verb.name)
        .about(verb.about)
        .after_help(format!("Example:\n  visa-opt query {}\n\n{EXIT_CODES}", verb.example))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON value"));
    for operand in verb.takes {
        let help = "A mapping in brackets, as in [A / 8, B # 64]";
        command = command.arg(Arg::new(*operand).value_name(*operand).required(true).help(help));
    }
    if !verb.takes.is_empty() {
        command = command.args([
            value("axes", "AXES", "The axes: A=8,B=512; a skewed one is B'=B-A").default_value(""),
            value("alias", "NAME=EXPR", "Names a mapping that is used as {NAME}; repeatable, in order")
                .action(ArgAction::Append),
        ]);
    }
    command.args((verb.flags)())
}

/// `--name VALUE`.
pub(super) fn value(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// The question, from the arguments after `query`.
pub(crate) fn read(matches: &ArgMatches, renderer: Renderer, mapping_rules: Option<String>) -> Option<Query> {
    let (name, matches) = matches.subcommand()?;
    let verb = VERBS.iter().find(|verb| verb.name == name)?;
    // Not every verb has every flag.
    let text = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
    let on = |name: &str| matches.try_get_one::<bool>(name).ok().flatten().copied().unwrap_or_default();
    let aliases = matches.try_get_many::<String>("alias").ok().flatten();
    Some(Query {
        verb,
        operands: verb.takes.iter().filter_map(|operand| Some((*operand, text(operand)?))).collect(),
        axes: text("axes").unwrap_or_default(),
        aliases: aliases.into_iter().flatten().cloned().collect(),
        json: on("json"),
        at: text("at"),
        explain: on(EXPLAIN),
        stats: on(STATS),
        asked: Asked { dtype: text("dtype"), to: text("to"), context: text("context"), commit: on("commit") },
        mapping_rules,
        rules: None,
        renderer,
    })
}
