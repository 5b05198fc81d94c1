//! The log of the device's trace: lines `PROFILE_SPAN`, cluster, begin, end and kind between tabs, among other lines.
//! Each cluster has a separate counter of 32 bits, that may wrap.

use std::collections::BTreeMap;

use super::foreign::{Entry, Foreign, Kind};
use visa_cost::TimeUnit;
use visa_ir::diag::counted;

/// Kind of a span, by its name in the log; commands alone are compared.
enum Span {
    Command(Kind),
    /// The whole kernel on a cluster.
    Task,
    /// Clusters wait for each other.
    Sync,
}

impl Span {
    /// Its kind in the log.
    const fn name(&self) -> &'static str {
        match self {
            Self::Command(Kind::Dma) => "DMA",
            Self::Command(Kind::Pass) => "Renegade::TuExec",
            Self::Command(Kind::Trf) => "Renegade::StoTrf",
            Self::Command(Kind::Vrf) => "Renegade::StoVrf",
            Self::Command(Kind::Table) => "Renegade::StoTab",
            Self::Task => "Task",
            Self::Sync => "Cluster",
        }
    }

    /// Every kind that a span may have.
    fn all() -> impl Iterator<Item = Self> {
        Kind::ALL.into_iter().map(Self::Command).chain([Self::Task, Self::Sync])
    }
}

/// The value at which a counter of 32 bits wraps.
const WRAP: u64 = 1 << 32;

/// Most ticks from the end of a sync to that of a command that waited for it. The traces of K2 have 8.
const LET_GO: u64 = 16;

/// Reads a log.
///
/// # Errors
/// A line that is no span, or spans that overlap where one engine runs one command at a time.
pub(crate) fn read(text: &str) -> Result<Foreign, String> {
    let mut clusters: BTreeMap<u64, Cluster> = BTreeMap::new();
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let last = lines.clone().last().map_or(0, |(number, _)| number);
    let (mut warnings, mut without_length) = (Vec::new(), Vec::new());
    for (number, line) in lines.filter(|(_, line)| line.trim_start().starts_with("PROFILE_SPAN")) {
        match span(line) {
            Ok((_, begin, end, kind)) if begin == end => {
                without_length.push((number, format!("`{}` begins and ends at {begin}", kind.name())));
            }
            Ok((cluster, begin, end, kind)) => {
                let (entry, line) = (clusters.entry(cluster).or_default(), number);
                entry
                    .add(cluster, (begin, end), kind, line)
                    .map_err(|why| format!("line {number}: {why}"))?;
            }
            Err(_) if number == last && !text.ends_with('\n') => {
                warnings.push(format!("the log is cut off in line {number}"));
            }
            Err(why) => return Err(format!("line {number}: {why}")),
        }
    }
    if let Some((line, first)) = without_length.first() {
        if clusters.is_empty() {
            return Err(format!("no span of the log has a length; in line {line}, {first}"));
        }
        let count = counted(without_length.len(), "span");
        warnings.push(format!("{count} without length left out, the first in line {line}: {first}"));
    }
    if clusters.is_empty() {
        return Err(
            "the log has no line `PROFILE_SPAN`: the kernel ran without the device's trace".to_owned()
        );
    }
    let mut foreign = Foreign {
        what: "the trace",
        unit: TimeUnit::Tick,
        entries: Vec::new(),
        starts: BTreeMap::new(),
        makespan: 0,
        warnings,
    };
    for (number, mut cluster) in clusters {
        cluster.entries.sort_by_key(|(entry, _)| (entry.begin, entry.end));
        cluster.check()?;
        cluster.mark_synced();
        if !cluster.whole {
            let message = format!("cluster {number} has no `Task` span: the log is cut off there");
            foreign.warnings.push(message);
        }
        foreign.makespan =
            foreign.makespan.max(cluster.last.saturating_sub(cluster.first.unwrap_or(cluster.last)));
        let first = cluster.entries.first().map_or(0, |(entry, _)| entry.begin);
        foreign.starts.insert(Some(number), first.saturating_sub(cluster.first.unwrap_or(first)));
        foreign.entries.extend(queued(cluster.entries, first));
    }
    Ok(foreign)
}

/// Entries from the first on. A time of a transfer begins when the cluster's transfer before it has ended.
fn queued(entries: Vec<(Entry, usize)>, first: u64) -> Vec<Entry> {
    let mut free = 0;
    let each = entries.into_iter().map(|(entry, _)| {
        let mut entry = Entry { begin: entry.begin - first, end: entry.end - first, ..entry };
        if entry.kind == Kind::Dma {
            entry.begin = entry.begin.max(free).min(entry.end);
            free = free.max(entry.end);
        }
        entry
    });
    each.collect()
}

#[derive(Default)]
struct Cluster {
    /// With their lines.
    entries: Vec<(Entry, usize)>,
    first: Option<u64>,
    last: u64,
    /// Ends of syncs.
    syncs: Vec<u64>,
    /// Sum of the counter's wraps.
    wraps: u64,
    before: u64,
    whole: bool,
}

impl Cluster {
    fn add(&mut self, cluster: u64, (begin, end): (u64, u64), span: Span, line: usize) -> Result<(), String> {
        if self.before > begin && self.before - begin > WRAP / 2 && begin < WRAP {
            self.wraps += WRAP;
        }
        if !matches!(span, Span::Task) {
            self.before = begin;
        }
        let of_task = matches!(span, Span::Task) && begin > end;
        let begin_at = if of_task { begin + self.wraps.saturating_sub(WRAP) } else { begin + self.wraps };
        let mut end_at = end + self.wraps;
        if end_at < begin_at {
            if begin < WRAP && begin - end > WRAP / 2 {
                end_at += WRAP;
            } else {
                return Err(format!("the span ends at {end}, before it begins at {begin}"));
            }
        }
        self.first = Some(self.first.map_or(begin_at, |first| first.min(begin_at)));
        self.last = self.last.max(end_at);
        match span {
            Span::Command(kind) => {
                let entry = Entry {
                    cluster: Some(cluster),
                    kind,
                    begin: begin_at,
                    end: end_at,
                    name: String::new(),
                    synced: false,
                };
                self.entries.push((entry, line));
            }
            Span::Task => self.whole = true,
            Span::Sync => self.syncs.push(end_at),
        }
        Ok(())
    }

    /// Marks the commands that a sync let go.
    fn mark_synced(&mut self) {
        for (entry, _) in &mut self.entries {
            let waits = |&end: &u64| entry.begin < end && end <= entry.end && entry.end - end <= LET_GO;
            entry.synced = entry.kind != Kind::Dma && self.syncs.iter().any(waits);
        }
    }

    /// Passes of a context, and loads of one register file, run one after the other: if two of a kind overlap, they
    /// are main and sub; a third has no engine.
    fn check(&self) -> Result<(), String> {
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Dma) {
            let most = if kind == Kind::Pass { 2 } else { 1 };
            // By their begins, so that entries that have ended are not looked at again.
            let mut running: Vec<(u64, usize)> = Vec::new();
            for (entry, line) in self.entries.iter().filter(|(entry, _)| entry.kind == kind) {
                running.retain(|(end, _)| *end > entry.begin);
                running.push((entry.end, *line));
                if running.len() > most {
                    let lines: Vec<String> =
                        running[..most].iter().map(|(_, line)| line.to_string()).collect();
                    let lines = lines.join(" and ");
                    return Err(format!(
                        "lines {lines} and {line}: more spans of `{}` at once than engines run",
                        kind.name()
                    ));
                }
            }
        }
        Ok(())
    }
}

/// A line's cluster, begin, end and kind.
fn span(line: &str) -> Result<(u64, u64, u64, Span), String> {
    let expected = "expected `PROFILE_SPAN`, cluster, begin, end and \"kind\" between tabs";
    let parts: Vec<&str> = line.trim().split('\t').collect();
    let [_, cluster, begin, end, kind] = &*parts else { return Err(expected.to_owned()) };
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no number: {expected}"));
    let name = kind.trim_matches('"');
    let kind = Span::all().find(|kind| kind.name() == name);
    let kind = kind.ok_or_else(|| format!("the kind \"{name}\" is not known"))?;
    Ok((number(cluster)?, number(begin)?, number(end)?, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(cluster: u64, begin: u64, end: u64, kind: &str) -> String {
        format!("PROFILE_SPAN\t{cluster}\t{begin}\t{end}\t\"{kind}\"\n")
    }

    #[test]
    fn a_transfer_takes_time_when_the_one_before_it_has_ended() {
        let text = [
            "noise\n".to_owned(),
            line(0, 100, 300, "DMA"),
            line(0, 150, 450, "DMA"),
            line(0, 90, 460, "Task"),
        ];
        let found = read(&text.concat()).expect("a log");
        assert_eq!(found.entries.iter().map(Entry::time).collect::<Vec<_>>(), [200, 150]);
        assert_eq!((found.makespan, found.warnings.len()), (370, 0));
    }

    /// 32 bits: 100 before the wrap, 60 after it.
    #[test]
    fn counters_wrap() {
        let (first, end) = (WRAP - 100, 60);
        let text = [
            line(1, first, end, "Renegade::TuExec"),
            line(1, 80, 90, "DMA"),
            line(1, first - 10, 95, "Task"),
        ];
        let found = read(&text.concat()).expect("a log");
        assert_eq!(found.entries.iter().map(Entry::time).collect::<Vec<_>>(), [160, 10]);
        assert_eq!(found.makespan, 205);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let refused = |text: &str| read(text).expect_err("refused");
        assert!(refused("nothing\n").contains("no line `PROFILE_SPAN`"));
        assert!(
            refused(&line(0, 5, 4, "DMA")).starts_with("line 1: the span ends at 4, before it begins at 5")
        );
        assert!(refused("PROFILE_SPAN\t0\tx\t2\t\"DMA\"\n").starts_with("line 1: `x` is no number"));
        assert!(refused("PROFILE_SPAN 0 1 2 DMA\n").starts_with("line 1: expected `PROFILE_SPAN`"));
        assert!(refused(&line(0, 1, 2, "Sleep")).contains("the kind \"Sleep\" is not known"));
        let three = [
            line(0, 1, 9, "Renegade::TuExec"),
            line(0, 2, 9, "Renegade::TuExec"),
            line(0, 3, 9, "Renegade::TuExec"),
        ];
        assert!(refused(&three.concat()).starts_with("lines 1 and 2 and 3: more spans of `pass` at once"));
        // Main and sub are two.
        assert!(read(&three[..2].concat()).is_ok());
        let two = [line(0, 1, 9, "Renegade::StoTrf"), line(0, 8, 12, "Renegade::StoTrf")];
        assert!(refused(&two.concat()).starts_with("lines 1 and 2"));
    }

    #[test]
    fn spans_without_length_are_left_out_with_a_message() {
        let refused = |text: &str| read(text).expect_err("refused");
        let zero = line(1, 45_640, 45_640, "Cluster") + &line(1, 7, 7, "Task");
        assert_eq!(
            refused(&zero),
            "no span of the log has a length; in line 1, `Cluster` begins and ends at 45640"
        );
        assert!(refused(&line(0, 0, 0, "DMA")).ends_with("in line 1, `DMA` begins and ends at 0"));
        let kinds = ["Renegade::TuExec", "Renegade::StoTrf", "Renegade::StoVrf", "Renegade::StoTab", "DMA"];
        for kind in kinds {
            // Far from the others, as a counter that was never written is.
            let text =
                line(0, 100, 103, "DMA") + &line(0, WRAP - 10, WRAP - 10, kind) + &line(0, 100, 105, "Task");
            let found = read(&text).expect("a log");
            assert_eq!((found.entries.len(), found.makespan), (1, 5), "{kind}");
            let message =
                format!("1 span without length left out, the first in line 2: `{kind}` begins and ends at");
            assert!(found.warnings[0].starts_with(&message), "{:?}", found.warnings);
        }
        // One tick is a length.
        assert_eq!(read(&(line(0, 7, 8, "DMA") + &line(0, 7, 8, "Task"))).expect("a log").warnings.len(), 0);
    }

    #[test]
    fn a_log_that_is_cut_off_is_compared_as_far_as_it_goes() {
        let whole = line(0, 1, 9, "DMA") + &line(0, 10, 19, "DMA");
        let found = read(&whole[..whole.len() - 8]).expect("a log");
        assert_eq!(found.entries.len(), 1);
        assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
    }
}
