//! Words with the shell's wildcards: `*`, `?` and `[...]`, unless quoted.

use std::path::Path;

/// A word of a RUN line, before it names files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Word(Vec<Part>);

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// `*`, `?`, `[` or `]` without quotes.
    Wildcard(char),
}

/// A pattern for one character of a file name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Atom {
    Char(char),
    Any,
    Many,
    /// `[a-z]`; with `!` or `^` first, all other characters.
    Set {
        inverted: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Word {
    /// Adds a character that is meant literally.
    pub(crate) fn push(&mut self, c: char) {
        match self.0.last_mut() {
            Some(Part::Text(text)) => text.push(c),
            Some(Part::Wildcard(_)) | None => self.0.push(Part::Text(c.to_string())),
        }
    }

    /// Adds a character outside quotes.
    pub(crate) fn push_unquoted(&mut self, c: char) {
        match c {
            '*' | '?' | '[' | ']' => self.0.push(Part::Wildcard(c)),
            _ => self.push(c),
        }
    }

    /// The word with each literal part replaced.
    pub(crate) fn expand(self, expand: impl Fn(&str) -> String) -> Self {
        let part = |part| match part {
            Part::Text(text) => Part::Text(expand(&text)),
            wildcard @ Part::Wildcard(_) => wildcard,
        };
        Self(self.0.into_iter().map(part).collect())
    }

    /// The word as it stands.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Wildcard(c) => text.push(*c),
            }
        }
        text
    }

    /// True if the word may stand for several files.
    pub(crate) fn has_wildcard(&self) -> bool {
        self.atoms().iter().any(|atom| !matches!(atom, Atom::Char(_)))
    }

    /// The files that the word stands for, sorted; the word itself if it has no wildcard or there are none. Relative
    /// ones start from `cwd`. As in the shell, names with a dot in front only match a dot.
    pub(crate) fn files(&self, cwd: &Path) -> Result<Vec<String>, String> {
        if !self.has_wildcard() {
            return Ok(vec![self.text()]);
        }
        let atoms = self.atoms();
        let mut found = vec![String::new()];
        let components: Vec<&[Atom]> = atoms.split(|atom| *atom == Atom::Char('/')).collect();
        for (index, component) in components.iter().enumerate() {
            let separator = if index > 0 { "/" } else { "" };
            let mut next = Vec::new();
            for start in found {
                let start = start + separator;
                match literal(component) {
                    Some(name) => next.push(start + &name),
                    None => next.extend(entries(cwd, &start, component)?),
                }
            }
            found = next;
        }
        found.retain(|path| cwd.join(path).symlink_metadata().is_ok());
        found.sort();
        Ok(if found.is_empty() { vec![self.text()] } else { found })
    }

    fn atoms(&self) -> Vec<Atom> {
        let mut characters = Vec::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => characters.extend(text.chars().map(|c| (c, false))),
                Part::Wildcard(c) => characters.push((*c, true)),
            }
        }
        let mut atoms = Vec::new();
        let mut rest = characters.as_slice();
        while let [first, tail @ ..] = rest {
            rest = tail;
            atoms.push(match first {
                ('*', true) => Atom::Many,
                ('?', true) => Atom::Any,
                ('[', true) => match set(rest) {
                    Some((set, after)) => {
                        rest = after;
                        set
                    }
                    None => Atom::Char('['),
                },
                (c, _) => Atom::Char(*c),
            });
        }
        atoms
    }
}

/// The set up to the closing bracket, and the rest; `None` if no bracket closes it in this component.
fn set(characters: &[(char, bool)]) -> Option<(Atom, &[(char, bool)])> {
    let inverted = matches!(characters, [('!' | '^', false), ..]);
    let members = &characters[usize::from(inverted)..];
    // A bracket in front is a member.
    let end = 1 + members.iter().skip(1).position(|c| *c == (']', true))?;
    let (mut rest, after) = (&members[..end], &members[end + 1..]);
    if rest.iter().any(|(c, _)| *c == '/') {
        return None;
    }
    let mut ranges = Vec::new();
    while let [(first, _), tail @ ..] = rest {
        match tail {
            [('-', _), (last, _), after @ ..] => {
                ranges.push((*first, *last));
                rest = after;
            }
            _ => {
                ranges.push((*first, *first));
                rest = tail;
            }
        }
    }
    Some((Atom::Set { inverted, ranges }, after))
}

/// The text of a component without wildcards.
fn literal(component: &[Atom]) -> Option<String> {
    let character = |atom: &Atom| match atom {
        Atom::Char(c) => Some(*c),
        Atom::Any | Atom::Many | Atom::Set { .. } => None,
    };
    component.iter().map(character).collect()
}

/// The paths of the entries of the directory `start` that match a component.
fn entries(cwd: &Path, start: &str, component: &[Atom]) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    // A path that is no readable directory has no entries, as in the shell.
    let Ok(directory) = std::fs::read_dir(cwd.join(start)) else { return Ok(paths) };
    for entry in directory {
        let entry = entry.map_err(|error| format!("cannot read `{start}`: {error}"))?;
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(|| {
            format!(
                "`{start}` has a file {name:?}, whose name is not UTF-8: rename it, or quote the wildcard"
            )
        })?;
        let hidden = name.starts_with('.') && component.first() != Some(&Atom::Char('.'));
        if !hidden && matches(component, name) {
            paths.push(format!("{start}{name}"));
        }
    }
    Ok(paths)
}

/// True if the atoms match the whole name. After a mismatch, only the last `*` takes one character more.
fn matches(atoms: &[Atom], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut atom, mut at) = (0, 0);
    let mut last_star = None;
    while at < name.len() {
        match atoms.get(atom) {
            Some(Atom::Many) => {
                last_star = Some((atom, at));
                atom += 1;
                continue;
            }
            Some(one) if one.matches(name[at]) => {
                atom += 1;
                at += 1;
                continue;
            }
            Some(_) | None => {}
        }
        let Some((star, taken)) = last_star else { return false };
        last_star = Some((star, taken + 1));
        (atom, at) = (star + 1, taken + 1);
    }
    atoms[atom..].iter().all(|atom| *atom == Atom::Many)
}

impl Atom {
    /// True if this atom, which is no `*`, matches the character.
    fn matches(&self, c: char) -> bool {
        match self {
            Self::Char(expected) => *expected == c,
            Self::Any | Self::Many => true,
            Self::Set { inverted, ranges } => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&c)) != *inverted
            }
        }
    }
}
