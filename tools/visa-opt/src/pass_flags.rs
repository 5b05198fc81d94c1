//! The flags of passes: `--NAME`, `--NAME=option=value`, and short ones for options that are often asked for.

use crate::flags;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use visa_pass::Pass;

/// A flag that stands for an option of a pass.
pub(crate) struct Short {
    /// The option, and the flag.
    name: &'static str,
    /// The pass that is run if no pass is asked for that has the option.
    pass: &'static Pass,
    help: &'static str,
}

/// Each with the pass that it is the option of.
const SHORT: [(&str, &str, &str); 3] = [
    (
        "advise",
        "select-configs",
        "Short for --select-configs=advise: report configurations that are cheaper than the explicit ones",
    ),
    ("apply", "select-configs", "Short for --select-configs=apply: apply the changes that --advise reports"),
    (
        "explain",
        "select-configs",
        "The option `explain` of the passes asked for; of --select-configs if none has it",
    ),
];

/// The short flags for options of some of the passes.
pub(crate) fn shorts(passes: &[&'static Pass]) -> impl Iterator<Item = Short> {
    SHORT.into_iter().filter_map(|(name, of, help)| {
        let pass = passes.iter().copied().find(|pass| pass.name == of)?;
        Some(Short { name, pass, help })
    })
}

impl Short {
    /// The flag.
    pub(crate) fn flag(&self) -> Arg {
        flags::flag(self.name, self.help)
    }
}

/// `--NAME`, or `--NAME=option=value`.
pub(crate) fn flag(pass: &'static Pass) -> Arg {
    flags::value(pass.name, "OPTIONS", pass.summary)
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("")
        .action(ArgAction::Append)
        .help_heading("Passes (run in the order written)")
}

/// A pass that is asked for: where on the command line, and its options.
type Step = (usize, &'static Pass, String);

/// The pipeline's text that the passes' own flags spell, in the order of the command line.
pub(crate) fn pipeline(matches: &ArgMatches, passes: &[&&'static Pass], shorts: &[Short]) -> String {
    let mut steps: Vec<Step> = Vec::new();
    for pass in passes {
        let places = matches.indices_of(pass.name).into_iter().flatten();
        let values = matches.get_many::<String>(pass.name).into_iter().flatten();
        steps.extend(places.zip(values).map(|(at, options)| (at, **pass, options.clone())));
    }
    shorts.iter().for_each(|short| ask_for(short, matches, &mut steps));
    steps.sort_unstable_by_key(|&(at, pass, _)| (at, pass.name));
    let text = |(_, pass, options): Step| match options.as_str() {
        "" => pass.name.to_owned(),
        options => format!("{}{{{options}}}", pass.name),
    };
    steps.into_iter().map(text).collect::<Vec<_>>().join(",")
}

/// Gives the passes their option if its flag is there.
fn ask_for(short: &Short, matches: &ArgMatches, steps: &mut Vec<Step>) {
    if matches.value_source(short.name) != Some(ValueSource::CommandLine) {
        return;
    }
    let name = short.name;
    let has = |pass: &Pass| pass.options.iter().any(|option| option.name == name);
    if !steps.iter().any(|(_, pass, _)| has(pass)) {
        let at = matches.index_of(name).unwrap_or(usize::MAX);
        steps.push((at, short.pass, String::new()));
    }
    for (_, _, options) in steps.iter_mut().filter(|(_, pass, _)| has(pass)) {
        if !options.split(' ').any(|option| option == name) {
            options.push_str(if options.is_empty() { "" } else { " " });
            options.push_str(name);
        }
    }
}
