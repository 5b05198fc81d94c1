//! Versions: a kernel and its plan, and the difference of their reports.

use std::collections::BTreeMap;
use visa_cost::{Component, Components, Report};
use visa_hw::program::{CommandKind, Program};
use visa_ir::diag::{Diagnostic, Severity, counted};
use visa_ir::span::Span;

/// Most lines of a kernel that a change names.
const MOST_LINES: usize = 3;

/// The line of the author's text that a span is in.
pub(crate) type LineOf<'a> = &'a dyn Fn(Span) -> Option<String>;

/// A program with its report.
pub(crate) struct Version {
    pub(crate) report: Report,
    /// The most slices of a chip that a pipeline uses.
    pub(crate) slices: usize,
    /// The decisions of a plan.
    pub(crate) decisions: Vec<String>,
    /// The differences of a planned function from the kernel, by rounding.
    pub(crate) differences: Vec<String>,
}

impl Version {
    /// A version without notes.
    pub(crate) fn new(program: &Program, report: Report) -> Self {
        Self { report, slices: slices(program), decisions: Vec::new(), differences: Vec::new() }
    }

    /// The total of its report.
    pub(crate) fn cycles(&self) -> u64 {
        self.report.totals.cycles
    }
}

/// The other version of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Against {
    /// The plan of its function.
    Plan,
    /// The kernel with other clauses.
    Clauses,
}

impl Against {
    /// The version of the kernel `name`, as the subject of a sentence.
    fn subject(self, name: &str) -> String {
        match self {
            Self::Plan => format!("the plan of what `@{name}` computes"),
            Self::Clauses => format!("`@{name}` with the chosen clauses"),
        }
    }

    /// The remark that the kernel stays, because a pass refuses the version.
    pub(crate) fn refused(
        self,
        code: &str,
        (name, span): (&str, Span),
        findings: &[Diagnostic],
    ) -> Diagnostic {
        let error = findings.iter().find(|finding| finding.severity == Severity::Error);
        let why = error
            .map_or_else(|| counted(findings.len() as u64, "finding"), |finding| finding.message.clone());
        let (parts, refused) = match self {
            Self::Plan => ("operations", "its plan is refused"),
            Self::Clauses => ("clauses", "the chosen ones are refused"),
        };
        remark(code, span, format!("`@{name}` keeps its {parts}: {refused}: {why}"))
    }

    /// The phrase for a figure of the version.
    fn place(self) -> &'static str {
        match self {
            Self::Plan => "in the plan",
            Self::Clauses => "with the chosen clauses",
        }
    }
}

/// A kernel, and another version of it.
pub(crate) struct Versions<'a> {
    pub(crate) kernel: &'a Version,
    pub(crate) plan: &'a Version,
    pub(crate) against: Against,
}

impl Versions<'_> {
    /// Returns true if the plan takes less time.
    pub(crate) fn is_faster(&self) -> bool {
        self.plan.cycles() < self.kernel.cycles()
    }

    /// The difference as a remark about the kernel, the greatest gain first. Changes name the lines of the kernel.
    pub(crate) fn comparison(&self, code: &str, (name, span): (&str, Span), line: LineOf<'_>) -> Diagnostic {
        let Self { kernel, plan, against } = self;
        let place = against.place();
        let verdict = if self.is_faster() { "" } else { ": no change would bring anything" };
        let message = format!(
            "{} takes {}, this kernel {}{verdict}",
            against.subject(name),
            counted(plan.cycles(), plan.report.unit.name()),
            kernel.cycles()
        );
        let mut remark = remark(code, span, message);
        for change in self.changes(line) {
            remark = remark.note(change, None);
        }
        if kernel.slices != plan.slices || *against == Against::Plan {
            remark = remark.note(format!("slices: {} here, {} {place}", kernel.slices, plan.slices), None);
        }
        for difference in &plan.differences {
            remark = remark.note(format!("in the function of the plan, {difference}"), None);
        }
        let decisions = plan.decisions.iter().filter(|_| self.is_faster());
        decisions.fold(remark, |remark, decision| remark.note(format!("in the plan, {decision}"), None))
    }

    /// The components of both reports that differ, the greatest gain first.
    fn changes(&self, line: LineOf<'_>) -> Vec<String> {
        let [kernel, plan] = [self.kernel, self.plan].map(|version| Components::of(&version.report).each());
        let pairs = kernel.into_iter().zip(plan).map(|((part, before), (_, after))| (part, before, after));
        let mut changed: Vec<_> = pairs.filter(|(_, before, after)| before != after).collect();
        changed.sort_by_key(|(_, before, after)| after - before);
        let unit = format!("{}s", self.kernel.report.unit.name());
        let change = |(part, before, after): &(Option<Component>, i128, i128)| {
            let name = part.map_or("overlap", Component::name);
            let lines = part.map_or_else(String::new, |part| lines(&self.kernel.report, part, line));
            let place = self.against.place();
            format!("{:+} {unit} by {name}: {before} here, {after} {place}{lines}", after - before)
        };
        changed.iter().map(change).collect()
    }
}

/// The lines of the commands of a component, the longest first; empty if no line is known.
fn lines(report: &Report, component: Component, line: LineOf<'_>) -> String {
    let mut cycles: BTreeMap<String, u64> = BTreeMap::new();
    let commands = report.commands.iter().filter(|command| Component::of(command) == component);
    for command in commands {
        let Some(line) = line(command.span) else { continue };
        let sum = cycles.entry(line).or_default();
        *sum = sum.saturating_add(command.cycles.saturating_mul(command.runs));
    }
    let mut longest: Vec<(String, u64)> = cycles.into_iter().collect();
    longest.sort_by_key(|(_, cycles)| std::cmp::Reverse(*cycles));
    let each = |(line, cycles): &(String, u64)| format!("{line} ({cycles})");
    let named: Vec<String> = longest.iter().take(MOST_LINES).map(each).collect();
    match (named.len(), longest.len() - named.len()) {
        (0, _) => String::new(),
        (1, _) => format!("; line {}", longest[0].0),
        (_, 0) => format!("; lines {}", named.join(", ")),
        (_, others) => format!("; lines {} and {}", named.join(", "), counted(others as u64, "other")),
    }
}

/// The messages of the notes of findings without a place: neither origins in other files, nor reasons of kernels that
/// stay.
pub(crate) fn messages(findings: Vec<Diagnostic>) -> Vec<String> {
    let notes = findings.into_iter().flat_map(|finding| finding.notes);
    notes.filter(|note| note.places.is_empty() && note.span.is_none()).map(|note| note.message).collect()
}

/// A remark about a kernel.
pub(crate) fn remark(code: &str, span: Span, message: String) -> Diagnostic {
    Diagnostic { severity: Severity::Remark, ..Diagnostic::error(code, span, message) }
}

/// The most slices of a chip that a pipeline uses.
fn slices(program: &Program) -> usize {
    let used = |kind: &CommandKind| match kind {
        CommandKind::Exec(exec) => exec.slices.iter().map(ExactSizeIterator::len).sum(),
        CommandKind::Loop(_) | CommandKind::Launch(_) | CommandKind::Dma(_) | CommandKind::Indexed(_) => 0,
    };
    program.flat().iter().map(|(command, _)| used(&command.kind)).max().unwrap_or_default()
}
