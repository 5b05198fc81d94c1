//! The text that is written, and the names in it.

use crate::error::Place;
use std::collections::HashMap;

/// The body of a kernel, line by line.
#[derive(Clone, Default)]
pub(crate) struct Emitter {
    lines: Vec<String>,
    /// Where each line is in the input; of the head of a body that is known at its end.
    places: Vec<Option<Place>>,
    /// The lines of the heads of the bodies around.
    heads: Vec<usize>,
    depth: usize,
    /// How often each name was asked for.
    names: HashMap<String, usize>,
    /// The number of the next name that nobody gave.
    next: usize,
    /// Lines that make numbers alone.
    numbers: usize,
}

impl Emitter {
    /// A name that nothing else has: as the author has it, if it can be.
    pub(crate) fn name(&mut self, wanted: Option<&str>) -> String {
        let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else {
            self.next += 1;
            return format!("%{}", self.next - 1);
        };
        let wanted = wanted.trim_start_matches("r#");
        let mut free = wanted.to_owned();
        loop {
            let count = self.names.entry(free.clone()).or_default();
            *count += 1;
            if *count == 1 {
                return format!("%{free}");
            }
            let number = *count;
            free = format!("{wanted}_{number}");
        }
    }

    /// Writes an operation that makes a value without a name of the author's.
    pub(crate) fn made(&mut self, text: &str, place: &Place) -> String {
        let name = self.name(None);
        self.line(&format!("{name} = {text}"), place);
        name
    }

    /// Writes an operation, with where it is in the input.
    pub(crate) fn line(&mut self, text: &str, place: &Place) {
        let location = format!("loc(\"{}\":{}:{})", place.file, place.line, place.column);
        self.lines.push(format!("{}{text} {location}", "  ".repeat(self.depth + 1)));
        self.places.push(Some(place.clone()));
    }

    /// Writes the operation that makes `name` otherwise: what follows it tells more.
    pub(crate) fn amend(&mut self, name: &str, from: &str, to: &str) {
        let own = format!("{name} = {from}");
        if let Some(line) = self.lines.iter_mut().rev().find(|line| line.trim_start().starts_with(&own)) {
            *line = line.replacen(from, to, 1);
        }
    }

    /// Writes an operation that makes a number of others.
    pub(crate) fn number(&mut self, text: &str, place: &Place) {
        self.line(text, place);
        self.numbers += 1;
    }

    /// Lines that do something, which numbers do not.
    pub(crate) fn acts(&self) -> usize {
        self.lines.len() - self.numbers
    }

    /// Begins a body.
    pub(crate) fn open(&mut self, text: &str) {
        self.heads.push(self.lines.len());
        self.lines.push(format!("{}{text} {{", "  ".repeat(self.depth + 1)));
        self.places.push(None);
        self.depth += 1;
    }

    /// Ends a body.
    pub(crate) fn close(&mut self, place: &Place) {
        self.depth -= 1;
        let location = format!("loc(\"{}\":{}:{})", place.file, place.line, place.column);
        self.lines.push(format!("{}}} {location}", "  ".repeat(self.depth + 1)));
        self.places.push(Some(place.clone()));
        if let Some(head) = self.heads.pop() {
            self.places[head] = Some(place.clone());
        }
    }

    /// Where each line is in the input.
    pub(crate) fn places(&self) -> Vec<Option<Place>> {
        self.places.clone()
    }

    pub(crate) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}
