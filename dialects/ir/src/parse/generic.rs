//! MLIR's generic form: `%r = "dialect.op"(%operands) <{clauses}> ({ regions }) {extra} : (types) -> types`.

use super::build::{body_error, integer, literal, refuse_hidden};
use super::location::Located;
use super::{Parser, kept_name};
use crate::context::{Attr, AttrId, symbol_name};
use crate::decl::{ClauseDecl, ClauseKind, OpDecl};
use crate::diag::{Diagnostic, counted};
use crate::module::{BlockId, OpId, OpName, OpSpec, TypeId};
use crate::open::Opening;
use crate::span::Span;
use pest::Parser as _;
use pest::iterators::Pair;
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

#[derive(pest_derive::Parser)]
#[grammar = "parse/generic.pest"]
pub(super) struct GenericGrammar;

/// The clause in which the generic form keeps the names of a function's arguments, which mlir-opt renames.
pub(crate) const ARG_NAMES: &str = "arg_names";
/// The module attribute that holds the text's version in the generic form.
pub(crate) const VERSION_ATTR: &str = "visa.version";

type Entry = (String, AttrId, Span);
type ArgNames = Rc<[Rc<str>]>;

impl<'a> Parser<'a> {
    fn rule(&mut self, rule: Rule, wanted: &str) -> Result<Pair<'a, Rule>, Diagnostic> {
        let base = self.pos;
        let parsed = GenericGrammar::parse(rule, self.rest()).ok().and_then(|mut pairs| pairs.next());
        let Some(pair) = parsed else {
            let message = format!("found {}, expected {wanted} in the generic form", self.found());
            return Err(Diagnostic::error("syntax", self.here(), message));
        };
        self.pos = base + pair.as_span().end();
        Ok(pair)
    }

    /// Reads `module attributes {...} {` or `"builtin.module"() ({`, if one of them comes next.
    pub(super) fn generic_module(&mut self) -> bool {
        let quoted = self.rest().starts_with("\"builtin.module\"");
        let custom = ["module ", "module{", "module\n"].iter().any(|start| self.rest().starts_with(start));
        if !quoted && !custom {
            return false;
        }
        if let Err(error) = self.module_inside(quoted) {
            self.diagnostics.push(error);
        }
        true
    }

    fn module_inside(&mut self, quoted: bool) -> Result<(), Diagnostic> {
        let base = self.pos;
        let head = self.rule(if quoted { Rule::head } else { Rule::module_head }, "a module")?;
        let body = self.module.body();
        self.module_attributes(head, base)?;
        if quoted {
            self.expect("(")?;
            self.expect("{")?;
        }
        self.module_label()?;
        self.block(body);
        self.expect("}")?;
        if quoted {
            self.expect(")")?;
            self.skip_blank();
            let base = self.pos;
            let tail = self.rule(Rule::tail, "`: () -> ()`")?;
            self.module_attributes(tail, base)?;
        }
        self.skip_blank();
        if self.at_location() {
            self.location(Located::Module)?;
        }
        self.aliases();
        if self.rest().is_empty() {
            return Ok(());
        }
        let message = format!("found {} after the module, expected the end of the input", self.found());
        Err(Diagnostic::error("syntax", self.here(), message))
    }

    /// The label of the module's block, which an empty module needs in MLIR.
    fn module_label(&mut self) -> Result<(), Diagnostic> {
        self.skip_blank();
        if !self.rest().starts_with('^') {
            return Ok(());
        }
        let base = self.pos;
        let label = self.rule(Rule::label, "a block label (`^bb0:`)")?;
        match label.into_inner().find(|piece| piece.as_rule() == Rule::argument) {
            Some(argument) => {
                let message = "a module has no arguments";
                Err(Diagnostic::error("syntax", span_of(&argument, base), message))
            }
            None => Ok(()),
        }
    }

    fn module_attributes(&mut self, pair: Pair<'a, Rule>, base: usize) -> Result<(), Diagnostic> {
        for piece in pair.into_inner().filter(|piece| piece.as_rule() == Rule::dictionary) {
            for (name, value, span) in self.dictionary(piece, base)? {
                match self.ctx.attr_data(value) {
                    Attr::Int(version) if name == VERSION_ATTR => {
                        self.version(u32::try_from(version).unwrap_or(u32::MAX), span);
                    }
                    other if name == VERSION_ATTR => {
                        let message =
                            format!("`{name}` is `{}`, expected an integer (`1 : i64`)", other.generic());
                        return Err(Diagnostic::error("version", span, message));
                    }
                    _ => self.module.extra.push(crate::module::Clause { name: name.into(), value, span }),
                }
            }
        }
        Ok(())
    }

    pub(super) fn expect(&mut self, token: &str) -> Result<(), Diagnostic> {
        self.skip_blank();
        if self.eat(token) {
            return Ok(());
        }
        let message = format!("found {}, expected `{token}`", self.found());
        Err(Diagnostic::error("syntax", self.here(), message))
    }

    /// Reads one operation in the generic form, regions included.
    pub(super) fn generic_op(&mut self, block: BlockId) -> Result<(), Diagnostic> {
        let base = self.pos;
        let head = self.rule(Rule::head, "an operation (`\"dialect.op\"(...)`)")?;
        let mut pieces = Head::default();
        for piece in head.into_inner() {
            self.head_piece(&mut pieces, piece, base)?;
        }
        let span = Span::new(base..self.pos);
        let decl = match self.op_decl(&pieces.name, pieces.name_span) {
            Ok(decl) => Some(decl),
            Err(_) if self.ctx.allow_unregistered && self.is_foreign(&pieces.name) => None,
            Err(error) => return Err(error),
        };
        let (spec, arg_names) = self.generic_clauses(decl, &pieces, span)?;
        let operands: Result<Vec<_>, _> =
            pieces.operands.iter().map(|(name, span)| self.use_value(name, *span)).collect();
        let op = self.module.append(block, spec.operands(operands?));
        self.generic_regions(op, &arg_names)?;
        self.skip_blank();
        let tail_base = self.pos;
        let tail = self.rule(Rule::tail, "`: (types) -> types`")?;
        self.generic_tail(op, decl, &pieces, tail, tail_base, span)?;
        self.skip_blank();
        if self.at_location() { self.location(Located::Op(op)) } else { Ok(()) }
    }

    fn is_foreign(&self, name: &str) -> bool {
        self.ctx.dialect(name.split('.').next().unwrap_or(name)).is_none()
    }

    fn head_piece(
        &self,
        pieces: &mut Head<'a>,
        piece: Pair<'a, Rule>,
        base: usize,
    ) -> Result<(), Diagnostic> {
        let span = span_of(&piece, base);
        match piece.as_rule() {
            Rule::results => {
                for pack in piece.into_inner() {
                    pieces.pack(pack, base);
                }
            }
            Rule::string => {
                pieces.name = literal(piece.as_str(), span)?;
                pieces.name_span = Span { start: span.start + 1, end: span.end - 1 };
            }
            Rule::operands => {
                pieces.operands = piece.into_inner().map(|p| (p.as_str(), span_of(&p, base))).collect();
            }
            Rule::properties => {
                for dictionary in piece.into_inner() {
                    pieces.properties = self.dictionary(dictionary, base)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The operation without operands and types, and the names of its region's arguments.
    fn generic_clauses(
        &self,
        decl: Option<&'static OpDecl>,
        pieces: &Head<'a>,
        span: Span,
    ) -> Result<(OpSpec, ArgNames), Diagnostic> {
        let name = decl.map_or_else(|| OpName::Unknown(pieces.name.as_str().into()), OpName::Known);
        let mut spec = OpSpec::named(name, span);
        let mut arg_names: ArgNames = Rc::from([]);
        let mut found: HashMap<&str, (AttrId, Span)> = HashMap::new();
        for (name, value, span) in &pieces.properties {
            match (self.ctx.attr_data(*value), decl) {
                (Attr::Strs(names), _) if name == ARG_NAMES => {
                    if let Some(name) = names.iter().find(|name| !super::is_value_name(name)) {
                        let message =
                            format!("`{name}` is no value name, expected letters, digits, `_`, `$` and `-`");
                        return Err(Diagnostic::error("wrong-literal", *span, message));
                    }
                    arg_names = names;
                }
                (attr, Some(decl)) => {
                    let clause = self.clause_decl(decl, name, *span)?;
                    check_kind(clause, &attr, *span)?;
                    if found.insert(clause.name, (*value, *span)).is_some() {
                        let message = format!("clause `{name}` is written twice");
                        return Err(Diagnostic::error("duplicate-clause", *span, message));
                    }
                }
                (_, None) => spec = spec.clause_at(name, *value, *span),
            }
        }
        for clause in decl.map_or(&[][..], |decl| decl.clauses) {
            match (found.get(clause.name), decl) {
                (Some(&(value, span)), _) => spec = spec.clause_at(clause.name, value, span),
                (None, Some(decl)) => crate::verify::may_be_absent(decl, clause, pieces.name_span)?,
                (None, None) => {}
            }
        }
        Ok((spec, arg_names))
    }

    fn generic_regions(&mut self, op: OpId, arg_names: &[Rc<str>]) -> Result<(), Diagnostic> {
        self.skip_blank();
        if !self.eat("(") {
            return Ok(());
        }
        loop {
            self.expect("{")?;
            let block = self.module.add_region(op);
            self.scopes.push(super::Scope::default());
            let inside = self.region(block, arg_names);
            self.scopes.pop();
            inside?;
            self.expect("}")?;
            self.skip_blank();
            if !self.eat(",") {
                return self.expect(")");
            }
        }
    }

    fn region(&mut self, block: BlockId, arg_names: &[Rc<str>]) -> Result<(), Diagnostic> {
        self.skip_blank();
        if self.rest().starts_with('^') {
            let base = self.pos;
            let label = self.rule(Rule::label, "a block label (`^bb0(...):`)")?;
            let arguments = label.into_inner().filter(|piece| piece.as_rule() == Rule::argument);
            for (index, argument) in arguments.enumerate() {
                let mut pieces = argument.into_inner();
                let (Some(name), Some(ty)) = (pieces.next(), pieces.next()) else { continue };
                let span = span_of(&name, base);
                let kept = kept_name(arg_names.get(index).map_or(name.as_str(), |name| name));
                let ty = self.ty(ty.as_str(), span_of(&ty, base))?;
                let value = self.module.add_arg(block, ty, kept, span);
                self.define(Cow::Borrowed(name.as_str()), value, span);
                if let Some(location) = pieces.next() {
                    self.location_in(Located::Argument(value), span_of(&location, base))?;
                }
            }
        }
        self.block(block);
        if self.rest().starts_with('^') {
            let message = "a second block: regions here have one block";
            return Err(Diagnostic::error("syntax", self.here(), message));
        }
        Ok(())
    }

    fn generic_tail(
        &mut self,
        op: OpId,
        decl: Option<&'static OpDecl>,
        pieces: &Head<'a>,
        tail: Pair<'a, Rule>,
        base: usize,
        span: Span,
    ) -> Result<(), Diagnostic> {
        let mut lists = Vec::new();
        for piece in tail.into_inner() {
            match piece.as_rule() {
                Rule::dictionary => {
                    let entries = self.dictionary(piece, base)?;
                    let extra = &mut self.module.data_mut(op).extra;
                    for (name, value, span) in entries {
                        extra.push(crate::module::Clause { name: name.into(), value, span });
                    }
                }
                Rule::type_list => lists.push(self.types(piece, base)?),
                _ => {}
            }
        }
        let results = lists.pop().unwrap_or_default();
        let operands = lists.pop().unwrap_or_default();
        self.check_operand_types(op, &operands, span)?;
        self.attach_results(op, decl, &pieces.results, &results, span)
    }

    fn types(&self, list: Pair<'a, Rule>, base: usize) -> Result<Vec<(TypeId, Span)>, Diagnostic> {
        list.into_inner()
            .map(|piece| {
                let span = span_of(&piece, base);
                self.ty(piece.as_str(), span).map(|ty| (ty, span))
            })
            .collect()
    }

    fn check_operand_types(&self, op: OpId, types: &[(TypeId, Span)], span: Span) -> Result<(), Diagnostic> {
        let operands = &self.module.data(op).operands;
        if operands.len() != types.len() {
            let message = format!(
                "{}, but {}",
                counted(operands.len(), "operand"),
                counted(types.len(), "operand type")
            );
            return Err(Diagnostic::error("operand-types", span, message));
        }
        for (&value, &(ty, span)) in operands.iter().zip(types) {
            let actual = self.module.ty(value);
            if actual != ty {
                let (actual, found) = (self.ctx.type_text(actual), self.ctx.type_text(ty));
                let message = format!("the operand has type `{actual}`, but `{found}` is written");
                return Err(Diagnostic::error("operand-types", span, message));
            }
        }
        Ok(())
    }

    fn dictionary(&self, pair: Pair<'a, Rule>, base: usize) -> Result<Vec<Entry>, Diagnostic> {
        let mut entries = Vec::new();
        for entry in pair.into_inner() {
            let mut pieces = entry.into_inner();
            let Some(key) = pieces.next() else { continue };
            let name = match key.as_str() {
                quoted if quoted.starts_with('"') => literal(quoted, span_of(&key, base))?,
                bare => bare.to_owned(),
            };
            let (value, span) = match pieces.next() {
                Some(attr) => (self.generic_attr(attr.clone(), base)?, span_of(&attr, base)),
                None => (self.ctx.attr(Attr::Unit), span_of(&key, base)),
            };
            entries.push((name, value, span));
        }
        Ok(entries)
    }

    fn generic_attr(&self, pair: Pair<'a, Rule>, base: usize) -> Result<AttrId, Diagnostic> {
        let span = span_of(&pair, base);
        let text = pair.as_str();
        let Some(inner) = pair.into_inner().next() else {
            return Ok(self.ctx.attr(Attr::Opaque(text.into())));
        };
        let number = |text: &str| integer(text).map_err(|why| Diagnostic::error("wrong-literal", span, why));
        let attr = match inner.as_rule() {
            Rule::integer => {
                Attr::Int(number(inner.into_inner().as_str().split(':').next().unwrap_or("").trim())?)
            }
            Rule::dense => {
                let values: Result<Vec<_>, _> =
                    inner.into_inner().map(|item| number(item.as_str())).collect();
                Attr::Ints(values?.into())
            }
            Rule::array => {
                let read =
                    |item: Pair<'_, Rule>| literal(item.as_str(), span_of(&item, base)).map(Into::into);
                let values: Result<Vec<_>, _> = inner.into_inner().map(read).collect();
                Attr::Strs(values?.into())
            }
            Rule::auto => Attr::Auto,
            Rule::open_array => {
                let read = |item: Pair<'_, Rule>| match item.as_rule() {
                    Rule::number => number(item.as_str()).map(Some),
                    _ => Ok(None),
                };
                let values: Result<Vec<_>, _> = inner.into_inner().map(read).collect();
                Attr::OpenInts(values?.into())
            }
            Rule::string => Attr::Str(literal(inner.as_str(), span_of(&inner, base))?.into()),
            Rule::symbol => {
                let malformed = || {
                    let message = format!(
                        "found `{}`, expected a symbol: `@name`, or `@\"name\"` with the escapes of a string",
                        inner.as_str()
                    );
                    Diagnostic::error("wrong-literal", span, message)
                };
                Attr::Symbol(symbol_name(inner.as_str()).ok_or_else(malformed)?.into())
            }
            Rule::unit => Attr::Unit,
            Rule::body_attr => return self.body_attr(inner, base),
            _ => {
                refuse_hidden(inner.as_str(), span)?;
                Attr::Opaque(inner.as_str().into())
            }
        };
        Ok(self.ctx.attr(attr))
    }

    fn body_attr(&self, pair: Pair<'a, Rule>, base: usize) -> Result<AttrId, Diagnostic> {
        let whole = span_of(&pair, base);
        let text = pair.as_str();
        let mut pieces = pair.into_inner();
        let (Some(name), Some(body)) = (pieces.next(), pieces.next()) else {
            return Ok(self.ctx.attr(Attr::Opaque(text.into())));
        };
        let Some(def) = self.ctx.attr_def(name.as_str()) else {
            if self.is_foreign(name.as_str()) && self.ctx.allow_unregistered {
                refuse_hidden(text, whole)?;
                return Ok(self.ctx.attr(Attr::Opaque(text.into())));
            }
            let message = format!("unknown attribute `#{}`", name.as_str());
            return Err(Diagnostic::error("unknown-attribute", whole, message));
        };
        let span = span_of(&body, base);
        let span = Span { start: span.start + 1, end: span.end - 1 };
        let inside = &body.as_str()[1..body.as_str().len() - 1];
        self.ctx.parse_attr(def, inside).map_err(|error| body_error(def, '#', error, span, whole))
    }
}

/// The pieces in front of an operation's regions.
#[derive(Default)]
struct Head<'a> {
    results: Vec<(Cow<'a, str>, Span)>,
    name: String,
    name_span: Span,
    operands: Vec<(&'a str, Span)>,
    properties: Vec<Entry>,
}

impl<'a> Head<'a> {
    /// `%name`, or `%name:2`, which mlir-opt prints for several results and refers to as `%name#0`, `%name#1`.
    fn pack(&mut self, pair: Pair<'a, Rule>, base: usize) {
        let mut pieces = pair.into_inner();
        let Some(value) = pieces.next() else { return };
        let (name, span) = (value.as_str(), span_of(&value, base));
        match pieces.next().and_then(|count| count.as_str().parse::<usize>().ok()) {
            None => self.results.push((Cow::Borrowed(name), span)),
            Some(count) => {
                let count = count.min(super::limits::MAX_ERRORS);
                self.results.extend((0..count).map(|index| (Cow::Owned(format!("{name}#{index}")), span)));
            }
        }
    }
}

fn span_of(pair: &Pair<'_, Rule>, base: usize) -> Span {
    Span::new(base + pair.as_span().start()..base + pair.as_span().end())
}

/// Checks that an attribute has the kind that its clause accepts.
fn check_kind(clause: &ClauseDecl, attr: &Attr, span: Span) -> Result<(), Diagnostic> {
    let open =
        matches!(attr, Attr::Auto) || matches!((clause.kind, attr), (ClauseKind::Ints, Attr::OpenInts(_)));
    if open && clause.opening == Opening::Never {
        return Err(super::build::never_open(clause, span));
    }
    let fits = open
        || match (clause.kind, attr) {
            (ClauseKind::Int, Attr::Int(_)) | (ClauseKind::Str, Attr::Str(_)) => true,
            (ClauseKind::Word(words), Attr::Str(text)) => words.contains(&&**text),
            (ClauseKind::Symbol, Attr::Symbol(_)) | (ClauseKind::Flag, Attr::Unit) => true,
            (ClauseKind::Ints, Attr::Ints(_)) => true,
            (ClauseKind::Strs, Attr::Strs(_)) => true,
            (ClauseKind::Body(wanted), Attr::Body(def, _)) => std::ptr::eq(wanted, *def),
            _ => false,
        };
    if fits { Ok(()) } else { Err(super::build::wrong_literal(clause, &attr.generic(), span)) }
}
