//! An expression as a list of states.

use super::Error;
use super::classes::ByteSet;
use super::parse::{Node, Parsed};

/// A state. Each leads to the one after it; the others that it leads to are its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// The first and the last state.
    Edge,
    Byte(u8),
    Set(ByteSet),
    LineStart,
    LineEnd,
    WordStart,
    WordEnd,
    Open(usize),
    Close(usize),
    PlusStart,
    /// Repeats from `start`.
    PlusEnd {
        start: usize,
    },
    /// Skips to `end`.
    StarStart {
        end: usize,
    },
    StarEnd,
    /// Leads to its own branch, and to the head of the next one.
    BranchesStart {
        next: usize,
    },
    /// Leads to the end of all branches only.
    BranchEnd {
        end: usize,
    },
    /// Leads to its own branch, and to the head of the next one unless it is the last.
    BranchStart {
        next: Option<usize>,
    },
    BranchesEnd,
    ReferenceStart {
        group: usize,
        end: usize,
    },
    ReferenceEnd,
}

/// A compiled expression. The numbering of its states is that of LLVM's matcher: where a search may skip to depends on
/// it.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) states: Vec<State>,
    pub(super) groups: usize,
    pub(super) line_starts: usize,
    pub(super) line_ends: usize,
    pub(super) has_references: bool,
    /// Deepest nesting of repetitions.
    pub(super) depth: usize,
    /// Bytes that are in every match, in this order and without others between them.
    required: Vec<u8>,
}

impl Program {
    pub(super) fn of(parsed: &Parsed) -> Result<Self, Error> {
        let mut layout = Layout { states: vec![State::Edge], depth: 0, deepest: 0 };
        layout.sequence(&parsed.nodes);
        layout.states.push(State::Edge);
        Ok(Self {
            states: layout.states,
            groups: parsed.groups,
            line_starts: parsed.line_starts,
            line_ends: parsed.line_ends,
            has_references: parsed.has_references,
            depth: layout.deepest,
            required: required(&parsed.nodes),
        })
    }

    /// False if `text` lacks bytes that are in every match.
    pub(super) fn may_match(&self, text: &[u8]) -> bool {
        let Some(first) = self.required.first() else { return true };
        let starts = text.iter().enumerate().filter(|(_, byte)| *byte == first);
        starts.map(|(at, _)| &text[at..]).any(|rest| rest.starts_with(&self.required))
    }
}

struct Layout {
    states: Vec<State>,
    /// Nesting of repetitions at this point.
    depth: usize,
    deepest: usize,
}

impl Layout {
    fn sequence(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.node(node));
    }

    /// Adds a state whose fields [`set`](Self::set) decides later; returns its number.
    fn reserve(&mut self) -> usize {
        self.states.push(State::Edge);
        self.states.len() - 1
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Byte(byte) => self.states.push(State::Byte(*byte)),
            Node::Set(set) => self.states.push(State::Set(*set)),
            Node::LineStart => self.states.push(State::LineStart),
            Node::LineEnd => self.states.push(State::LineEnd),
            Node::WordStart => self.states.push(State::WordStart),
            Node::WordEnd => self.states.push(State::WordEnd),
            Node::Open(group) => self.states.push(State::Open(*group)),
            Node::Close(group) => self.states.push(State::Close(*group)),
            Node::Branches(branches) => self.branches(branches),
            Node::Plus(inner) => self.plus(inner),
            Node::Star(inner) => {
                let start = self.reserve();
                self.plus(inner);
                self.states[start] = State::StarStart { end: self.states.len() };
                self.states.push(State::StarEnd);
            }
            Node::Reference { group, contents } => {
                let start = self.reserve();
                self.sequence(contents);
                self.states[start] = State::ReferenceStart { group: *group, end: self.states.len() };
                self.states.push(State::ReferenceEnd);
            }
        }
    }

    fn plus(&mut self, inner: &[Node]) {
        let start = self.states.len();
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.states.push(State::PlusStart);
        self.sequence(inner);
        self.states.push(State::PlusEnd { start });
        self.depth -= 1;
    }

    fn branches(&mut self, branches: &[Vec<Node>]) {
        let mut heads = Vec::new();
        let mut ends = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            if index > 0 {
                ends.push(self.reserve());
            }
            heads.push(self.reserve());
            self.sequence(branch);
        }
        let end = self.states.len();
        self.states.push(State::BranchesEnd);
        for (index, head) in heads.iter().enumerate() {
            let next = heads.get(index + 1).copied();
            self.states[*head] = match (index, next) {
                (0, Some(next)) => State::BranchesStart { next },
                (_, next) => State::BranchStart { next },
            };
        }
        ends.into_iter().for_each(|branch| self.states[branch] = State::BranchEnd { end });
    }
}

/// The longest sequence of bytes at the top level of an expression.
fn required(nodes: &[Node]) -> Vec<u8> {
    let mut longest = Vec::new();
    let mut current = Vec::new();
    for node in nodes {
        match node {
            Node::Byte(byte) => current.push(*byte),
            Node::Open(_) | Node::Close(_) => {}
            Node::Set(_)
            | Node::LineStart
            | Node::LineEnd
            | Node::WordStart
            | Node::WordEnd
            | Node::Branches(_)
            | Node::Plus(_)
            | Node::Star(_)
            | Node::Reference { .. } => current.clear(),
        }
        if current.len() > longest.len() {
            longest.clone_from(&current);
        }
    }
    longest
}
