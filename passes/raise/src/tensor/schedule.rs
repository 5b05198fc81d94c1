//! The order of the terms of a function: each value once, in the outermost block in which it can be computed.
//!
//! A value that does not depend on a loop is before the loop, even if only a branch inside of the loop uses it. One
//! whose index may be outside of its tensor stays inside the branch, where the index is known to be inside.

use crate::tensor::choose::Choice;
use crate::tensor::facts::{Graph, Kind};
use crate::tensor::term::{Head, Term};
use egg::Id;
use std::collections::{HashMap, HashSet};
use visa_ir::decl::OpDecl;
use visa_mapping::ops::{gather, restrict};

/// Operations that stop the evaluation if an index is outside.
static PARTIAL: &[&OpDecl] = &[&gather::GATHER, &gather::LOOKUP, &gather::SCATTER_INTO];

/// An entry of a block.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// A value.
    Value(Id),
    /// A loop or branch: its class, and its block.
    Around(Id, usize),
}

/// A block.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Its entries, in order.
    pub(crate) entries: Vec<Entry>,
    parent: Option<usize>,
    /// The depth of the loop that it is the body of; a branch has none.
    depth: Option<usize>,
    ready: HashSet<Id>,
}

/// The dependences of a value.
#[derive(Clone, Copy, Default)]
struct Needs {
    /// A bit for the depth of each loop around it.
    loops: u64,
    /// True if it stays inside of a branch.
    stays: bool,
}

/// The schedule of a function. Block 0 is the function's.
pub(crate) struct Schedule<'g, 'a> {
    graph: &'g Graph<'a>,
    choice: &'g Choice,
    /// The blocks.
    pub(crate) blocks: Vec<Block>,
    needs: HashMap<Id, Needs>,
}

impl<'g, 'a> Schedule<'g, 'a> {
    /// The schedule of the terms of these classes; `None` if one has no term.
    #[must_use]
    pub(crate) fn new(graph: &'g Graph<'a>, choice: &'g Choice, results: &[Id]) -> Option<Self> {
        let function = Block { depth: Some(0), ..Block::default() };
        let mut schedule = Self { graph, choice, blocks: vec![function], needs: HashMap::new() };
        for &result in results {
            schedule.put(result, 0)?;
        }
        Some(schedule)
    }

    fn term(&self, class: Id) -> Option<&'g Term> {
        self.choice.term(self.graph.find(class))
    }

    fn needs(&mut self, class: Id) -> Option<Needs> {
        let class = self.graph.find(class);
        if let Some(needs) = self.needs.get(&class) {
            return Some(*needs);
        }
        let term = self.term(class)?;
        let mut needs = Needs::default();
        for &child in &term.children {
            let child = self.needs(child)?;
            needs.loops |= child.loops;
            needs.stays |= child.stays;
        }
        match &term.head {
            Head::Index(depth, _) | Head::Carried { depth, .. } => needs.loops |= 1 << depth,
            // A symbol of the loop is nothing outside of it, and the initial values cannot have it.
            Head::Loop(depth) => needs.loops &= !(1 << depth),
            Head::Operation(declared) => {
                let is = |decls: &[&OpDecl]| decls.iter().any(|decl| std::ptr::eq(*decl, declared.0));
                let operands = term.children.len() - declared.0.clauses.len();
                let indexed =
                    is(&[&restrict::EXTRACT]) && operands > 1 || is(&[&restrict::INSERT]) && operands > 2;
                needs.stays |= indexed || is(PARTIAL);
            }
            Head::Argument(..) | Head::Number(..) | Head::Apply | Head::WhereDefined | Head::Branch => {}
            Head::Result(_) | Head::Clause(_) | Head::Absent | Head::Name(_) => {}
        }
        self.needs.insert(class, needs);
        Some(needs)
    }

    /// The depth of the innermost loop that a value depends on.
    #[must_use]
    pub(crate) fn depth(&mut self, class: Id) -> usize {
        self.needs(class).map_or(0, |needs| (u64::BITS - needs.loops.leading_zeros()) as usize)
    }

    /// The outermost block for a value that is used in `block`.
    fn block_of(&mut self, class: Id, block: usize) -> Option<usize> {
        let needs = self.needs(class)?;
        let (mut best, mut at) = (block, block);
        while let Some(parent) = self.blocks[at].parent {
            match self.blocks[at].depth {
                Some(depth) if needs.loops & (1 << depth) != 0 => break,
                Some(_) => best = parent,
                None if needs.stays => break,
                None => {}
            }
            at = parent;
        }
        Some(best)
    }

    fn is_ready(&self, class: Id, block: usize) -> bool {
        let mut at = Some(block);
        while let Some(block) = at {
            if self.blocks[block].ready.contains(&class) {
                return true;
            }
            at = self.blocks[block].parent;
        }
        false
    }

    /// Makes a value available in a block.
    fn put(&mut self, class: Id, block: usize) -> Option<()> {
        let class = self.graph.find(class);
        if self.is_ready(class, block) {
            return Some(());
        }
        let block = self.block_of(class, block)?;
        let term = self.term(class)?;
        match &term.head {
            Head::Argument(..) | Head::Index(..) | Head::Carried { .. } => return Some(()),
            Head::Clause(_) | Head::Absent | Head::Name(_) => return Some(()),
            Head::Result(_) => return self.put(*term.children.first()?, block),
            Head::Loop(depth) => self.around(class, 1, block, Some(*depth))?,
            Head::Branch => self.around(class, 3, block, None)?,
            Head::Number(..) | Head::Apply | Head::WhereDefined | Head::Operation(_) => {
                for &child in &term.children {
                    self.put(child, block)?;
                }
                self.blocks[block].entries.push(Entry::Value(class));
            }
        }
        self.blocks[block].ready.insert(class);
        Some(())
    }

    /// Puts a loop or branch, whose values begin after `first` children.
    fn around(&mut self, class: Id, first: usize, block: usize, depth: Option<usize>) -> Option<()> {
        let term = self.term(class)?;
        let Kind::Results(types) = &self.graph[class].data.kind else { return None };
        let (before, given) = term.children.split_at(first + types.len());
        for &child in before {
            self.put(child, block)?;
        }
        self.blocks.push(Block { parent: Some(block), depth, ..Block::default() });
        let body = self.blocks.len() - 1;
        for &child in given {
            self.put(child, body)?;
        }
        self.blocks[block].entries.push(Entry::Around(class, body));
        Some(())
    }
}
