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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::tests::document;
    use visa_cost::Why;

    #[test]
    fn a_command_is_one_run_and_waits_for_commands() {
        // Two commands, three times each: the second one waits for the first, which waits for the second one's last
        // run.
        let mut document = document(2);
        for iteration in 0..3 {
            let start = 100 * iteration;
            let waits =
                if iteration == 0 { Vec::new() } else { vec![Waits(2 * iteration as usize - 1, Why::War)] };
            let run = |command: usize, start: u64, waits: Vec<Waits>| Run {
                command,
                start,
                end: start + 10,
                stalls: 3,
                iteration: [iteration].into(),
                waits,
                theirs: vec![[start, start + 12]],
            };
            document.runs.push(run(0, start, waits));
            document.runs.push(run(
                1,
                start + 50,
                vec![Waits(2 * iteration as usize, Why::Raw), Waits(0, Why::Raw)],
            ));
        }
        let folded = fold(&document);
        assert!(folded.folded && folded.counters.is_empty());
        let times: Vec<_> =
            folded.runs.iter().map(|run| (run.command, run.start, run.end, run.stalls)).collect();
        assert_eq!(times, [(0, 0, 210, 9), (1, 50, 260, 9)]);
        assert_eq!(folded.runs[0].waits, [Waits(1, Why::War)]);
        assert_eq!(folded.runs[1].waits, [Waits(0, Why::Raw)]);
        assert!(folded.runs.iter().all(|run| run.theirs.is_empty() && run.iteration.is_empty()));
    }

    #[test]
    fn a_command_that_never_runs_has_no_run() {
        let mut document = document(3);
        let run = |command: usize, waits: Vec<Waits>| Run {
            command,
            start: 0,
            end: 1,
            stalls: 0,
            iteration: [].into(),
            waits,
            theirs: Vec::new(),
        };
        document.runs = vec![run(0, Vec::new()), run(2, vec![Waits(0, Why::Busy)])];
        let folded = fold(&document);
        // The run of the third command is the second one.
        assert_eq!(folded.runs.iter().map(|run| run.command).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(folded.runs[1].waits, [Waits(0, Why::Busy)]);
    }
}
