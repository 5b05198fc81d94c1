//! The body of a kernel under construction: its variables, and its statements.

use crate::comments::above;
use crate::mappings::Mappings;
use crate::names::Names;
use crate::notes::Notes;
use crate::print::Placeholders;
use crate::refusals::{Export, refuse};
use crate::roots::Roots;
use crate::values::{Linear, Ownership, Stream, Variable, View};
use crate::version::Spelling;
use proc_macro2::{Ident, TokenStream};
use std::collections::{BTreeMap, HashMap, HashSet};
use visa_ir::module::{OpId, OpRef, ValueId};
use visa_ir::span::{Source, Span};

/// The facts of the file that its functions share.
pub(crate) struct File<'a> {
    pub(crate) source: &'a Source,
    pub(crate) spelling: &'static Spelling,
    pub(crate) mappings: Mappings<'a>,
    /// The names of the functions, by their symbols.
    pub(crate) functions: BTreeMap<String, Ident>,
    /// The names of the kernels of functions with tensors of the host, by the symbols of these.
    pub(crate) kernels: BTreeMap<String, Ident>,
}

/// A kernel under construction.
pub(crate) struct Body<'f, 'a> {
    pub(crate) file: &'f File<'a>,
    pub(crate) parts: &'f mut Placeholders,
    pub(crate) notes: Notes,
    pub(crate) names: Names,
    pub(crate) roots: Roots<'a>,
    /// The variables, by the first value of their tensors.
    pub(crate) variables: HashMap<ValueId, Variable>,
    pub(crate) views: HashMap<ValueId, View>,
    pub(crate) streams: HashMap<ValueId, Stream>,
    pub(crate) numbers: HashMap<ValueId, Linear>,
    /// True if it is a host program.
    pub(crate) is_host: bool,
    /// Operations that are written elsewhere.
    pub(crate) left_out: HashSet<OpId>,
    /// Statements of the blocks that are being written, the innermost last.
    blocks: Vec<Vec<TokenStream>>,
    /// The line of the last operation.
    line: usize,
}

impl<'f, 'a> Body<'f, 'a> {
    /// An empty body.
    pub(crate) fn new(file: &'f File<'a>, parts: &'f mut Placeholders, roots: Roots<'a>) -> Self {
        let reserved = [file.spelling.parameter];
        let functions = file.functions.values().chain(file.kernels.values()).map(Ident::to_string);
        let names = Names::with(functions.collect::<Vec<_>>().iter().map(String::as_str).chain(reserved));
        Self {
            file,
            parts,
            notes: Notes::default(),
            names,
            roots,
            variables: HashMap::new(),
            views: HashMap::new(),
            streams: HashMap::new(),
            numbers: HashMap::new(),
            is_host: false,
            left_out: HashSet::new(),
            blocks: vec![Vec::new()],
            line: 0,
        }
    }

    /// The first parameter, which has the contexts.
    pub(crate) fn device(&self) -> Ident {
        crate::names::ident(self.file.spelling.parameter)
    }

    /// Adds a statement.
    pub(crate) fn statement(&mut self, statement: TokenStream) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(statement);
        }
    }

    /// Adds lines of comments.
    pub(crate) fn comment(&mut self, lines: &[String]) {
        for line in lines {
            let line = self.parts.comment(line);
            self.statement(line);
        }
    }

    /// Comments of the source above an operation, once.
    pub(crate) fn comments_of(&mut self, op: OpRef<'_>) -> Vec<String> {
        let line = self.file.source.line(op.span().range().start);
        if op.span() == Span::default() || std::mem::replace(&mut self.line, line) == line {
            return Vec::new();
        }
        above(self.file.source, op.span())
    }

    /// Begins a block.
    pub(crate) fn open(&mut self) {
        self.blocks.push(Vec::new());
    }

    /// Ends a block: its statements.
    pub(crate) fn close(&mut self) -> Vec<TokenStream> {
        self.blocks.pop().unwrap_or_default()
    }

    /// Notes a clause that the language lacks: its comment.
    pub(crate) fn lacks(&mut self, kind: &'static str, clause: impl std::fmt::Display) -> String {
        self.notes.count(kind);
        clause.to_string()
    }

    /// A name for a value: that of the text.
    pub(crate) fn name_of(&mut self, op: OpRef<'_>, value: ValueId) -> Ident {
        let wanted = op.module.value_name(value).map_or_else(|| "v".to_owned(), ToString::to_string);
        self.names.new_name(&wanted)
    }

    /// Declares the variable of a new tensor.
    pub(crate) fn declare(&mut self, op: OpRef<'_>, value: ValueId, ownership: Ownership) -> Ident {
        let name = self.name_of(op, value);
        self.variables.insert(value, Variable { name: name.clone(), ownership });
        name
    }

    /// The variable of a tensor.
    pub(crate) fn variable(&self, op: OpRef<'_>, value: ValueId) -> Export<&Variable> {
        self.variables.get(&self.roots.root(value)).ok_or_else(|| {
            let name = op.module.value_name(value).map_or_else(String::new, |name| format!(" `%{name}`"));
            refuse(op, format!("its operand{name} is no tensor in a memory"))
        })
    }

    /// The variable of a tensor that is written.
    pub(crate) fn changed(&self, op: OpRef<'_>, value: ValueId) -> Export<Ident> {
        let variable = self.variable(op, value)?;
        match variable.ownership {
            Ownership::Owned | Ownership::Changed => Ok(variable.name.clone()),
            Ownership::Shared => {
                let name = &variable.name;
                let message =
                    format!("it writes into argument `{name}`, which the language passes by reference");
                Err(refuse(op, message).fix(Some(format!("mark `%{name}` as `inout`, and return it"))))
            }
        }
    }

    /// Takes the pipeline that a value is.
    pub(crate) fn stream(&mut self, op: OpRef<'_>, value: ValueId) -> Export<Stream> {
        let mut stream = self
            .streams
            .remove(&value)
            .ok_or_else(|| refuse(op, "its stream was used by an earlier operation"))?;
        let comments = self.comments_of(op);
        stream.comments.extend(comments);
        Ok(stream)
    }
}
