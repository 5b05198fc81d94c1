//! A timeline in which each command is one run: from its first start to its last end.

use std::collections::BTreeMap;

use crate::document::{Document, Run, Waits};

/// Folds the runs of each command into one.
#[must_use]
pub(crate) fn fold(document: &Document) -> Document {
    let mut runs: BTreeMap<usize, Run> = BTreeMap::new();
    for run in &document.runs {
        let folded = runs.entry(run.command).or_insert_with(|| Run {
            iteration: [].into(),
            waits: Vec::new(),
            theirs: Vec::new(),
            stalls: 0,
            ..run.clone()
        });
        folded.start = folded.start.min(run.start);
        folded.end = folded.end.max(run.end);
        folded.stalls = folded.stalls.saturating_add(run.stalls);
    }
    // Commands have their places in program order, so that the place of each one's run is its rank.
    let places: BTreeMap<usize, usize> =
        runs.keys().enumerate().map(|(place, command)| (*command, place)).collect();
    for run in &document.runs {
        for wait in &run.waits {
            let (own, other) = (run.command, document.runs[wait.0].command);
            let (wait, folded) = (Waits(places[&other], wait.1), runs.get_mut(&own));
            if let Some(folded) = folded.filter(|folded| own != other && !folded.waits.contains(&wait)) {
                folded.waits.push(wait);
            }
        }
    }
    Document {
        runs: runs.into_values().collect(),
        folded: true,
        memory: Vec::new(),
        counters: Vec::new(),
        program: document.program.clone(),
        machine: document.machine.clone(),
        texts: document.texts.clone(),
        tracks: document.tracks.clone(),
        loops: document.loops.clone(),
        commands: document.commands.clone(),
        compared: document.compared.clone(),
        bound: document.bound.clone(),
        advice: document.advice.clone(),
        ..*document
    }
}
