//! The schedule of the vendor's toolchain: JSON with an `instructions` list, each with its contexts, its lifetime in
//! cycles, and its Rust text.

use std::collections::BTreeMap;

use serde::Deserialize;
use visa_cost::TimeUnit;
use visa_ir::diag::counted;

use super::foreign::{Entry, Foreign, Kind};

#[derive(Deserialize)]
struct Schedule {
    instructions: Vec<Instruction>,
}

#[derive(Deserialize)]
struct Instruction {
    contexts: Vec<String>,
    lifetime: Lifetime,
    #[serde(default)]
    description: String,
    #[serde(default)]
    tpe: String,
}

#[derive(Deserialize)]
struct Lifetime {
    begin: u64,
    end: u64,
}

/// Reads a schedule.
///
/// # Errors
/// JSON of another form, and entries that end before they begin.
pub(crate) fn read(text: &str) -> Result<Foreign, String> {
    let schedule: Schedule = serde_json::from_str(text).map_err(|why| {
        format!(
            "this is no schedule as SDK 0.8 writes them (`instructions`, each with `contexts` and `lifetime`): \
             {why}"
        )
    })?;
    let (mut entries, mut without_length) = (Vec::new(), Vec::new());
    for (number, own) in schedule.instructions.iter().enumerate() {
        let Lifetime { begin, end } = own.lifetime;
        if end < begin {
            return Err(format!("instruction {number} ends at {end}, before it begins at {begin}"));
        }
        match kind(own) {
            Some(_) if end == begin => without_length.push((number, begin)),
            Some(kind) => {
                let name = name(&own.description);
                entries.push(Entry { cluster: None, kind, begin, end, name, synced: false });
            }
            None => {}
        }
    }
    let mut warnings = Vec::new();
    if let Some((number, begin)) = without_length.first() {
        let first = format!("instruction {number} begins and ends at {begin}");
        if entries.is_empty() {
            return Err(format!("no command of the schedule has a length; {first}"));
        }
        let count = counted(without_length.len(), "command");
        warnings.push(format!("{count} without length left out: {first}"));
    }
    if entries.is_empty() {
        return Err("the schedule has no command of the DMA or the Tensor Unit".to_owned());
    }
    entries.sort_by_key(|entry| (entry.begin, entry.end));
    let first = entries.first().map_or(0, |entry| entry.begin);
    for entry in &mut entries {
        (entry.begin, entry.end) = (entry.begin - first, entry.end - first);
    }
    let last = schedule.instructions.iter().map(|own| own.lifetime.end).fold(0, u64::max);
    let makespan = last.saturating_sub(first);
    let starts = BTreeMap::new();
    Ok(Foreign { what: "the schedule", unit: TimeUnit::Cycle, entries, starts, makespan, warnings })
}

/// The kind by its engines; `None` for instructions of the cores.
fn kind(own: &Instruction) -> Option<Kind> {
    let takes = |name: &str| own.contexts.iter().any(|context| context == name);
    let ends = |name: &str| own.description.trim_end().trim_end_matches("()").ends_with(name);
    if takes("DmaEngine") {
        Some(Kind::Dma)
    } else if !takes("MainContext") && !takes("SubContext") {
        None
    } else if ends("to_trf") || own.description.contains(".to_trf(") {
        Some(Kind::Trf)
    } else if ends("to_vrf") || own.description.contains(".to_vrf(") {
        Some(Kind::Vrf)
    } else if own.tpe == "Sub" && own.description.is_empty() {
        Some(Kind::Table)
    } else {
        Some(Kind::Pass)
    }
}

/// The place in the Rust text, as the description begins.
fn name(description: &str) -> String {
    let place = description.lines().next().unwrap_or_default().trim_start_matches("--> ");
    place.rsplit('/').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_from_engines() {
        let entry = |contexts: &str, tpe: &str, description: &str| {
            format!(
                r#"{{"contexts": [{contexts}], "tpe": "{tpe}", "lifetime": {{"begin": 5, "end": 9}},
                     "description": "{description}"}}"#
            )
        };
        let all = [
            entry("\"DmaEngine\"", "DmaLoad", "--> src/a/b.rs:1:2\\n\\nx.to_dm(ctx)"),
            entry("\"MainContext\", \"VectorEngine\"", "Main", "--> b.rs:3:4\\n\\nx.commit()"),
            entry("\"SubContext\"", "Sub", "--> b.rs:5:6\\n\\nx.to_trf()"),
            entry("\"MainContext\", \"SubContext\"", "Main", "--> b.rs:7:8\\n\\nx.to_vrf(&mut ctx.sub)"),
            entry("\"SubContext\"", "Sub", ""),
            entry("\"PeCore\"", "Core", "--> b.rs:9:1"),
        ];
        let text = format!(r#"{{"title": "Schedule", "instructions": [{}]}}"#, all.join(","));
        let found = read(&text).expect("a schedule");
        let kinds: Vec<_> = found.entries.iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds, [Kind::Dma, Kind::Pass, Kind::Trf, Kind::Vrf, Kind::Table]);
        assert_eq!((found.entries[0].name.as_str(), found.makespan), ("b.rs:1:2", 4));
    }

    #[test]
    fn another_form_is_refused() {
        let refused = |text: &str| read(text).expect_err("refused");
        assert!(refused("{}").contains("missing field `instructions`"));
        assert!(refused(r#"{"instructions": []}"#).contains("no command"));
        let zero = r#"{"instructions": [{"contexts": ["DmaEngine"], "lifetime": {"begin": 5, "end": 5}}]}"#;
        assert_eq!(
            refused(zero),
            "no command of the schedule has a length; instruction 0 begins and ends at 5"
        );
        let backwards =
            r#"{"instructions": [{"contexts": ["DmaEngine"], "lifetime": {"begin": 5, "end": 4}}]}"#;
        assert!(refused(backwards).contains("instruction 0 ends at 4, before it begins at 5"));
    }
}
