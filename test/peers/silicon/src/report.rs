//! Tables of the fit, as docs/silicon.md has them.

use std::collections::BTreeMap;

use visa_machine::{FIGURES, Measured};

use crate::row::{Priced, Row};

/// The figures with their intervals.
pub(crate) fn figures(measured: &Measured) {
    println!("| figure | value | nine in ten fits | rows |\n|---|---|---|---|");
    for (name, figure) in FIGURES.iter().zip(measured.figures()) {
        let short = name.trim_start_matches("measured.");
        let [low, high] = figure.interval;
        println!("| `{short}` | {:.4} | {low:.4} to {high:.4} | {} |", figure.value, figure.rows);
    }
    println!();
}

/// How many times as long the price is.
fn ratio(row: &Priced, measured: &Measured) -> f64 {
    row.anatomy.ticks(measured) / row.time
}

/// Each row, and those that no kernel of ours is like.
pub(crate) fn rows(rows: &[Priced], without: &[Row], measured: &Measured) {
    println!("| row | what | measured | price | |\n|---|---|---|---|---|");
    for row in rows {
        let percent = 100.0 * (ratio(row, measured) - 1.0);
        let price = row.anatomy.ticks(measured);
        println!("| {} | {} | {} | {price:.0} | {percent:+.1}% |", row.name, row.row.what, row.time);
    }
    for row in without {
        println!("| | {} | | no command of ours | |", row.what);
    }
    println!();
}

/// How far rows are off, by their kind, and the worst by name.
pub(crate) fn groups(title: &str, rows: &[Priced], measured: &Measured) {
    let mut groups: BTreeMap<&str, Vec<(f64, &str)>> = BTreeMap::new();
    for row in rows {
        let off = 100.0 * (ratio(row, measured) - 1.0);
        groups.entry(row.row.group()).or_default().push((off, row.name.as_str()));
    }
    println!("{title}:\n");
    println!("| kind | rows | median off | nine in ten within | worst |\n|---|---|---|---|---|");
    for (group, mut all) in groups {
        all.sort_by(|own, other| own.0.abs().total_cmp(&other.0.abs()));
        let at = |share: f64| all[((all.len() - 1) as f64 * share).ceil() as usize].0.abs();
        let worst = all.iter().rev().take(3);
        let worst: Vec<String> = worst.map(|(off, file)| format!("{file} {off:+.0}%")).collect();
        let (median, most) = (at(0.5), at(0.9));
        println!("| {group} | {} | {median:.1}% | {most:.1}% | {} |", all.len(), worst.join(", "));
    }
    println!();
}
