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
        let wanted = written(wanted);
        let mut free = wanted.clone();
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
        let location = place.location();
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
        let location = place.location();
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

impl Place {
    /// The place as a location of the text.
    pub(crate) fn location(&self) -> String {
        format!("loc({}:{}:{})", quoted(&self.file), self.line, self.column)
    }
}

/// A name of Rust as one of the text, which has letters of ASCII alone.
pub(crate) fn written(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '_' };
    crate::marks::plain(name).chars().map(letter).collect()
}

/// The name of an axis: it begins with a capital letter.
pub(crate) fn written_axis(name: &str) -> String {
    let name = written(name);
    let mut letters = name.chars();
    match letters.next() {
        Some(first) if first.is_ascii_alphabetic() => {
            format!("{}{}", first.to_ascii_uppercase(), letters.as_str())
        }
        Some(_) | None => format!("A{name}"),
    }
}

/// A string of the text.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if letter.is_control() => out.push_str(&format!("\\{:02X}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_text() {
        assert_eq!(written("gr\u{f6}\u{df}e"), "gr__e");
        assert_eq!(written("r#type"), "type");
        assert_eq!(written_axis("x"), "X");
        assert_eq!(written_axis("_1"), "A_1");
        assert_eq!(written_axis("\u{c4}b"), "A_b");
        let mut out = Emitter::default();
        assert_eq!(out.name(Some("\u{e4}")), "%_");
        assert_eq!(out.name(Some("\u{f6}")), "%__2");
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(quoted("a\"b\\c\n"), "\"a\\\"b\\\\c\\0A\"");
    }
}
