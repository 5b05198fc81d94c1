//! The grammar of expressions.

use super::Error;
use super::classes::{ByteSet, class, named};

/// Most nested groups.
const MAX_DEPTH: usize = 200;

/// Largest count of a repetition: POSIX's `RE_DUP_MAX`.
const MAX_COUNT: u16 = 255;

/// Most nodes of an expression after its repetitions are written out.
const MAX_NODES: usize = 100_000;

/// Groups that a back-reference can name: 1 to 9.
const REFERABLE: usize = 10;

const NOTHING: Error = Error::Syntax("empty (sub)expression");
const OPEN_GROUP: Error = Error::Syntax("parentheses not balanced");
const OPEN_BRACKET: Error = Error::Syntax("brackets ([ ]) not balanced");
const OPEN_BRACE: Error = Error::Syntax("braces not balanced");
const BAD_COUNT: Error = Error::Syntax("invalid repetition count(s)");
const BAD_REPEAT: Error = Error::Syntax("repetition-operator operand invalid");
const BAD_RANGE: Error = Error::Syntax("invalid character range");
const BAD_CLASS: Error = Error::Syntax("invalid character class");
const BAD_NAME: Error = Error::Syntax("invalid collating element");
const BAD_ESCAPE: Error = Error::Syntax("trailing backslash (\\)");
const BAD_REFERENCE: Error = Error::Syntax("invalid backreference number");
const TOO_DEEP: Error = Error::Limit("regular expression nested too deeply: at most 200 levels");
const TOO_LARGE: Error = Error::Limit("regular expression too large: at most 100000 states");
const DROPPED: Error = Error::Limit("back-reference to a group that is repeated {0} times");

/// A part of an expression. A group is its parentheses and its contents in one sequence, as they match in sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Byte(u8),
    Set(ByteSet),
    LineStart,
    LineEnd,
    WordStart,
    WordEnd,
    Open(usize),
    Close(usize),
    /// `a|b`, and `a?` with an empty second branch.
    Branches(Vec<Vec<Node>>),
    /// `a+`.
    Plus(Vec<Node>),
    /// `a*`.
    Star(Vec<Node>),
    /// `\1`, with the contents of the group: texts that match them match it too.
    Reference {
        group: usize,
        contents: Vec<Node>,
    },
}

impl Node {
    /// Number of nodes in the tree.
    fn size(&self) -> usize {
        match self {
            Self::Branches(branches) => branches.iter().map(|branch| 2 + size(branch)).sum(),
            Self::Plus(inner) | Self::Star(inner) | Self::Reference { contents: inner, .. } => {
                4 + size(inner)
            }
            Self::Byte(_)
            | Self::Set(_)
            | Self::LineStart
            | Self::LineEnd
            | Self::WordStart
            | Self::WordEnd
            | Self::Open(_)
            | Self::Close(_) => 1,
        }
    }
}

fn size(nodes: &[Node]) -> usize {
    nodes.iter().map(Node::size).sum()
}

/// A parsed expression.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) nodes: Vec<Node>,
    pub(super) groups: usize,
    /// Number of `^` as written, which bounds how many of them match at one position.
    pub(super) line_starts: usize,
    /// Number of `$` as written.
    pub(super) line_ends: usize,
    pub(super) has_references: bool,
}

/// Parses an expression.
pub(super) fn parse(pattern: &[u8], ignore_case: bool) -> Result<Parsed, Error> {
    let mut parser = Parser {
        rest: pattern,
        ignore_case,
        groups: 0,
        line_starts: 0,
        line_ends: 0,
        has_references: false,
        contents: vec![None; REFERABLE],
        copied: 0,
    };
    let nodes = parser.alternatives(None, 0)?;
    if size(&nodes) > MAX_NODES {
        return Err(TOO_LARGE);
    }
    Ok(Parsed {
        nodes,
        groups: parser.groups,
        line_starts: parser.line_starts,
        line_ends: parser.line_ends,
        has_references: parser.has_references,
    })
}

/// The contents of a closed group.
#[derive(Debug, Clone)]
enum Contents {
    Nodes(Vec<Node>),
    /// The group is in an operand of `{0}`.
    Dropped,
}

struct Parser<'a> {
    rest: &'a [u8],
    ignore_case: bool,
    groups: usize,
    line_starts: usize,
    line_ends: usize,
    has_references: bool,
    /// Contents of the closed groups 1 to 9.
    contents: Vec<Option<Contents>>,
    /// Nodes that back-references have copied so far.
    copied: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn eat(&mut self, text: &[u8]) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Branches up to `stop` or the end.
    fn alternatives(&mut self, stop: Option<u8>, depth: usize) -> Result<Vec<Node>, Error> {
        if depth > MAX_DEPTH {
            return Err(TOO_DEEP);
        }
        let mut branches = Vec::new();
        loop {
            let mut branch = Vec::new();
            while let Some(next) = self.peek().filter(|next| *next != b'|' && Some(*next) != stop) {
                self.rest = &self.rest[1..];
                branch.extend(self.repeated(next, depth)?);
            }
            if branch.is_empty() {
                return Err(NOTHING);
            }
            branches.push(branch);
            if !self.eat(b"|") {
                break;
            }
        }
        Ok(match <[Vec<Node>; 1]>::try_from(branches) {
            Ok([only]) => only,
            Err(branches) => vec![Node::Branches(branches)],
        })
    }

    /// An atom that starts with `first`, with its repetition.
    fn repeated(&mut self, first: u8, depth: usize) -> Result<Vec<Node>, Error> {
        let groups_before = self.groups;
        let atom = self.atom(first, depth)?;
        if !self.at_repetition() {
            return Ok(atom);
        }
        if first == b'^' {
            return Err(BAD_REPEAT);
        }
        let repeated = match self.next() {
            Some(b'*') => vec![Node::Star(atom)],
            Some(b'+') => vec![Node::Plus(atom)],
            Some(b'?') => vec![Node::Branches(vec![atom, Vec::new()])],
            Some(_) | None => {
                let (least, most) = self.counts()?;
                if most == Some(0) {
                    self.drop_groups(groups_before);
                }
                counted(atom, least, most)?
            }
        };
        if self.at_repetition() {
            return Err(BAD_REPEAT);
        }
        Ok(repeated)
    }

    /// True before `*`, `+`, `?`, and before `{` with a digit after it.
    fn at_repetition(&self) -> bool {
        match self.rest {
            [b'*' | b'+' | b'?', ..] => true,
            [b'{', digit, ..] => digit.is_ascii_digit(),
            _ => false,
        }
    }

    fn atom(&mut self, first: u8, depth: usize) -> Result<Vec<Node>, Error> {
        let node = match first {
            b'(' => return self.group(depth),
            b')' => return Err(OPEN_GROUP),
            b'*' | b'+' | b'?' => return Err(BAD_REPEAT),
            b'{' if self.peek().is_some_and(|next| next.is_ascii_digit()) => return Err(BAD_REPEAT),
            b'^' => {
                self.line_starts += 1;
                Node::LineStart
            }
            b'$' => {
                self.line_ends += 1;
                Node::LineEnd
            }
            b'.' => Node::Set(ByteSet::not_newline()),
            b'[' => self.bracket()?,
            b'\\' => match self.next().ok_or(BAD_ESCAPE)? {
                digit @ b'1'..=b'9' => self.reference(usize::from(digit - b'0'))?,
                escaped => self.ordinary(escaped),
            },
            byte => self.ordinary(byte),
        };
        Ok(vec![node])
    }

    fn group(&mut self, depth: usize) -> Result<Vec<Node>, Error> {
        self.groups += 1;
        let number = self.groups;
        let contents = match self.peek().ok_or(OPEN_GROUP)? {
            b')' => Vec::new(),
            _ => self.alternatives(Some(b')'), depth + 1)?,
        };
        if !self.eat(b")") {
            return Err(OPEN_GROUP);
        }
        if let Some(slot) = self.contents.get_mut(number) {
            *slot = Some(Contents::Nodes(contents.clone()));
        }
        let mut nodes = vec![Node::Open(number)];
        nodes.extend(contents);
        nodes.push(Node::Close(number));
        Ok(nodes)
    }

    fn reference(&mut self, group: usize) -> Result<Node, Error> {
        self.has_references = true;
        let contents = match &self.contents[group] {
            None => return Err(BAD_REFERENCE),
            Some(Contents::Dropped) => return Err(DROPPED),
            Some(Contents::Nodes(contents)) => contents,
        };
        self.copied += size(contents);
        if self.copied > MAX_NODES {
            return Err(TOO_LARGE);
        }
        Ok(Node::Reference { group, contents: contents.clone() })
    }

    /// Marks the groups after number `before` as dropped.
    fn drop_groups(&mut self, before: usize) {
        for slot in self.contents.iter_mut().take(self.groups + 1).skip(before + 1) {
            *slot = Some(Contents::Dropped);
        }
    }

    fn ordinary(&self, byte: u8) -> Node {
        if self.ignore_case && byte.is_ascii_alphabetic() {
            let mut both = ByteSet::default();
            both.insert(byte);
            return Node::Set(both.with_both_cases());
        }
        Node::Byte(byte)
    }

    /// The counts of `{n}`, `{n,}` or `{n,m}`, after the brace.
    fn counts(&mut self) -> Result<(u16, Option<u16>), Error> {
        let least = self.count()?;
        let most = if !self.eat(b",") {
            Some(least)
        } else if self.peek().is_some_and(|next| next.is_ascii_digit()) {
            Some(self.count()?)
        } else {
            None
        };
        if most.is_some_and(|most| most < least) {
            return Err(BAD_COUNT);
        }
        match self.eat(b"}") {
            true => Ok((least, most)),
            false if self.rest.contains(&b'}') => Err(BAD_COUNT),
            false => Err(OPEN_BRACE),
        }
    }

    fn count(&mut self) -> Result<u16, Error> {
        let mut count = 0;
        while count <= MAX_COUNT
            && let Some(digit) = self.peek().filter(u8::is_ascii_digit)
        {
            count = count * 10 + u16::from(digit - b'0');
            self.next();
        }
        if count <= MAX_COUNT { Ok(count) } else { Err(BAD_COUNT) }
    }

    /// A bracket expression, after its `[`.
    fn bracket(&mut self) -> Result<Node, Error> {
        if self.eat(b"[:<:]]") {
            return Ok(Node::WordStart);
        }
        if self.eat(b"[:>:]]") {
            return Ok(Node::WordEnd);
        }
        let mut set = ByteSet::default();
        let inverted = self.eat(b"^");
        if self.eat(b"]") {
            set.insert(b']');
        } else if self.eat(b"-") {
            set.insert(b'-');
        }
        while self.peek().is_some_and(|next| next != b']') && !self.rest.starts_with(b"-]") {
            self.bracket_term(&mut set)?;
        }
        if self.eat(b"-") {
            set.insert(b'-');
        }
        if !self.eat(b"]") {
            return Err(OPEN_BRACKET);
        }
        if self.ignore_case {
            set = set.with_both_cases();
        }
        if inverted {
            set = set.complement_in_line();
        }
        Ok(set.single().map_or(Node::Set(set), Node::Byte))
    }

    /// A class, an equivalence class, a character or a range.
    fn bracket_term(&mut self, set: &mut ByteSet) -> Result<(), Error> {
        if self.rest.starts_with(b"-") {
            return Err(BAD_RANGE);
        }
        if self.eat(b"[:") {
            return self.named_class(set);
        }
        if self.eat(b"[=") {
            if matches!(self.peek().ok_or(OPEN_BRACKET)?, b'-' | b']') {
                return Err(BAD_NAME);
            }
            set.insert(self.collating_element(b"=]")?);
            return Ok(());
        }
        let first = self.bracket_symbol()?;
        let is_range = matches!(self.rest, [b'-', next, ..] if *next != b']');
        let last = match is_range {
            false => first,
            true => {
                self.next();
                if self.eat(b"-") { b'-' } else { self.bracket_symbol()? }
            }
        };
        // LLVM's characters are signed here.
        let (first, last) = (first.cast_signed(), last.cast_signed());
        if first > last {
            return Err(BAD_RANGE);
        }
        (first..=last).for_each(|byte| set.insert(byte.cast_unsigned()));
        Ok(())
    }

    fn named_class(&mut self, set: &mut ByteSet) -> Result<(), Error> {
        if self.rest.is_empty() {
            return Err(OPEN_BRACKET);
        }
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (name, rest) = self.rest.split_at(length);
        let members = class(name).ok_or(BAD_CLASS)?;
        self.rest = rest;
        (0..=u8::MAX).filter(|byte| members(*byte)).for_each(|byte| set.insert(byte));
        if self.eat(b":]") { Ok(()) } else { Err(BAD_CLASS) }
    }

    fn bracket_symbol(&mut self) -> Result<u8, Error> {
        if self.eat(b"[.") {
            return self.collating_element(b".]");
        }
        self.next().ok_or(OPEN_BRACKET)
    }

    /// A name of a character up to `end`, which is taken too.
    fn collating_element(&mut self, end: &[u8]) -> Result<u8, Error> {
        let length = self.rest.windows(end.len()).position(|window| window == end).ok_or(OPEN_BRACKET)?;
        let (name, rest) = self.rest.split_at(length);
        let byte = named(name).ok_or(BAD_NAME)?;
        self.rest = &rest[end.len()..];
        Ok(byte)
    }
}

/// `atom{least,most}` written out; `None` is no upper bound.
fn counted(atom: Vec<Node>, least: u16, most: Option<u16>) -> Result<Vec<Node>, Error> {
    let copies = usize::from(most.unwrap_or(least)).max(1);
    if (size(&atom) + 4).saturating_mul(copies) > MAX_NODES {
        return Err(TOO_LARGE);
    }
    let optional = |nodes| Node::Branches(vec![nodes, Vec::new()]);
    if least == 0 {
        return Ok(match most {
            Some(0) => Vec::new(),
            Some(_) | None => vec![optional(counted(atom, 1, most)?)],
        });
    }
    let mut nodes = Vec::new();
    (1..least).for_each(|_| nodes.extend(atom.iter().cloned()));
    match most {
        None => nodes.push(Node::Plus(atom)),
        Some(most) => {
            (least..most).for_each(|_| nodes.push(optional(atom.clone())));
            nodes.extend(atom);
        }
    }
    Ok(nodes)
}
