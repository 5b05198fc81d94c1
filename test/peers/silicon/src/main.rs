//! Fits the measured machines to the rows beside it, and prints how far each row is from its price.
//!
//! `cargo run -p visa-silicon` prints the tables of docs/silicon.md; `--write` also writes the fitted descriptions.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints tables")]

mod report;
mod row;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use visa_cost::{Sample, Start, fit};
use visa_machine::{Machine, Measured};

use crate::row::{Against, Priced};

#[derive(Parser)]
#[command(about = "Fits the measured machines to measured commands, and says how well they do")]
struct Flags {
    /// Write the fitted descriptions of `rngd-silicon` and `rngd-schedule`.
    #[arg(long)]
    write: bool,
    /// Fail where the descriptions are not those that the rows give.
    #[arg(long, conflicts_with = "write")]
    check: bool,
}

fn main() -> ExitCode {
    match run(&Flags::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &Flags) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = row::rows(folder)?;
    for against in [Against::Chip, Against::Schedule] {
        let name = against.machine();
        let (rows, without) = row::priced(folder, &all, against)?;
        let machine = Machine::named(name).ok_or_else(|| format!("there is no machine `{name}`"))?;
        let start = machine.measured.clone().ok_or_else(|| format!("`{name}` has no measured figures"))?;
        let whole = fitted(&rows, against, &start)?;
        println!("# {name}\n");
        report::figures(&whole);
        report::rows(&rows, &without, &whole);
        report::groups("Fitted on all rows", &rows, &whole);
        for (on, with) in [("qkv", "ffn"), ("ffn", "qkv")] {
            let (own, other): (Vec<_>, Vec<_>) = rows.iter().cloned().partition(|row| row.is_of(on));
            let half = fitted(&own, against, &start)?;
            // What the rows do not fix they cannot be tried on.
            let fixed = |row: &Priced| {
                row.anatomy
                    .figures()
                    .iter()
                    .all(|figure| own.iter().any(|own| own.anatomy.figures().contains(figure)))
            };
            let (other, open): (Vec<_>, Vec<_>) = other.into_iter().partition(fixed);
            report::groups(&format!("Fitted on {on}, tried on what {with} alone has"), &other, &half);
            if !open.is_empty() {
                println!("{} rows rest on figures that {on} does not have.\n", open.len());
            }
        }
        if flags.check && !is_like(&start, &whole) {
            return Err(format!("`{name}` is not what the rows give: run visa-silicon --write"));
        }
        if flags.write {
            write(&Machine { measured: Some(whole), ..machine })?;
        }
    }
    Ok(())
}

fn fitted(rows: &[Priced], against: Against, start: &Measured) -> Result<Measured, String> {
    let samples: Vec<Sample> = rows.iter().map(Priced::sample).collect();
    let (source, tick) = match against {
        Against::Chip => ("ticks of test/peers/silicon/rows.json", true),
        Against::Schedule => ("static_cycles of test/peers/silicon/rows.json", false),
    };
    fit(&samples, (start, Start::Guess), tick, source).map_err(|why| why.to_string())
}

/// Whether a new fit finds the figures again, to the steps of its search.
fn is_like(before: &Measured, after: &Measured) -> bool {
    let pairs = before.figures().into_iter().zip(after.figures());
    pairs
        .into_iter()
        .all(|(own, other)| own.rows == other.rows && (own.value / other.value - 1.0).abs() < 0.01)
}

/// Writes a description: its name and what was measured.
fn write(machine: &Machine) -> Result<(), String> {
    let path = description(&machine.name);
    let value = serde_json::json!({ "name": machine.name, "measured": machine.measured });
    let text = serde_json::to_string_pretty(&value).map_err(|why| why.to_string())? + "\n";
    let beside = path.with_extension("new");
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, &path))
        .map_err(|why| format!("cannot write {}: {why}", path.display()))
}

fn description(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    root.join("runtime/chip/machine/machines").join(format!("{name}.json"))
}
