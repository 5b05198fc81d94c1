//! `cargo run --release -p visa-campaigns -- NAME [--count N] [--seed N] [--kernels WORD]` runs a campaign, `--
//! list` lists them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

use clap::Parser;
use std::process::ExitCode;
use std::time::Instant;
use visa_campaigns::files::Files;
use visa_campaigns::list::{CAMPAIGNS, Campaign, Run, Unit};
use visa_campaigns::{SEED, Settings, commands};

/// As in the tools.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs a long test.
#[derive(Parser)]
#[command(name = "visa-campaigns")]
struct Flags {
    /// The campaign's name, or `list`.
    name: String,
    /// How many cases; of `fuzz` how many seconds a target.
    #[arg(long)]
    count: Option<u64>,
    /// Where chance comes from.
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// Only the files whose names hold this word.
    #[arg(long)]
    kernels: Option<String>,
}

fn list() {
    for campaign in CAMPAIGNS {
        let size = match campaign.unit {
            Unit::Cases if campaign.count == u64::MAX => "all".to_owned(),
            Unit::Cases => campaign.count.to_string(),
            Unit::Files => "all kernels".to_owned(),
            Unit::Seconds => format!("{} s each", campaign.count),
            Unit::Whole => "whole".to_owned(),
        };
        println!("{:24} {size:12} {}", campaign.name, campaign.checks);
    }
}

/// Refuses a flag that the campaign would not look at.
fn check(campaign: &Campaign, flags: &Flags) -> Result<(), String> {
    let name = campaign.name;
    match campaign.unit {
        Unit::Cases | Unit::Seconds if flags.kernels.is_some() => {
            Err(format!("`{name}` runs no files: found --kernels, expected --count or --seed"))
        }
        Unit::Files | Unit::Whole if flags.count.is_some() => {
            Err(format!("`{name}` counts nothing: found --count"))
        }
        Unit::Whole if flags.kernels.is_some() => {
            Err(format!("`{name}` always runs as a whole: found --kernels"))
        }
        Unit::Cases | Unit::Seconds | Unit::Files | Unit::Whole => Ok(()),
    }
}

fn run(flags: &Flags) -> Result<(), String> {
    if flags.name == "list" {
        list();
        return Ok(());
    }
    let named = CAMPAIGNS.iter().find(|campaign| campaign.name == flags.name);
    let campaign = named.ok_or_else(|| {
        let names: Vec<&str> = CAMPAIGNS.iter().map(|campaign| campaign.name).collect();
        format!("found campaign `{}`, expected `list` or one of {}", flags.name, names.join(", "))
    })?;
    check(campaign, flags)?;
    let settings = Settings {
        count: flags.count.unwrap_or(campaign.count),
        seed: flags.seed,
        files: flags.kernels.as_deref().map_or(Files::All, Files::With),
    };
    let start = Instant::now();
    match campaign.run {
        Run::Here(run) => run(&settings),
        Run::Commands(steps) => commands::run(steps, &settings)?,
    }
    println!("{}: {:.0} s", campaign.name, start.elapsed().as_secs_f64());
    Ok(())
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
