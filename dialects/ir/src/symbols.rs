//! Symbols: the names (`@name`) that operations of a module declare and others use.
//!
//! An operation declares a symbol if its effects are [`Effects::Declares`](crate::effects::Effects::Declares) and
//! its first clause is a symbol. Every other clause that is a symbol is a use of one. A name inside the body of an
//! attribute, as `{L}` in a mapping, is not a use that this file sees.

use crate::analysis::Analysis;
use crate::context::{Attr, Context};
use crate::decl::{ClauseKind, OpDecl};
use crate::diag::{Diagnostic, nearest};
use crate::effects;
use crate::module::{Module, OpId, OpRef};
use crate::verify::VerifyCx;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The clause in which an operation declares its symbol.
#[must_use]
pub fn declaring_clause(op: OpRef<'_>) -> Option<&'static str> {
    let lead = op.decl().and_then(OpDecl::lead)?;
    (effects::declares(op) && matches!(lead.kind, ClauseKind::Symbol)).then_some(lead.name)
}

/// The symbol that an operation declares, without its `@`.
#[must_use]
pub fn declared(op: OpRef<'_>) -> Option<Rc<str>> {
    op.symbol(declaring_clause(op)?)
}

/// The operations of a module's body that declare a symbol.
fn all<'a>(ctx: &'a Context, module: &'a Module) -> impl Iterator<Item = (Rc<str>, OpRef<'a>)> {
    let ops = module.ops(module.body()).iter().map(|&id| module.op(ctx, id));
    ops.filter_map(|op| Some((declared(op)?, op)))
}

/// The operation of the module of `op` that declares the symbol `name`, whatever it is.
#[must_use]
pub fn declaring<'a>(op: OpRef<'a>, name: &str) -> Option<OpRef<'a>> {
    all(op.ctx, op.module).find(|(own, _)| **own == *name).map(|(_, found)| found)
}

/// The operation that `decl` declares and that declares the symbol `name`. For more than one look-up, see
/// [`Symbols`].
///
/// # Errors
/// If there is none, in words, with the nearest name.
pub fn find<'a>(op: OpRef<'a>, decl: &OpDecl, name: &str) -> Result<OpRef<'a>, String> {
    let of_kind: Vec<_> = all(op.ctx, op.module).filter(|(_, other)| other.is(decl)).collect();
    if let Some((_, found)) = of_kind.iter().find(|(own, _)| **own == *name) {
        return Ok(*found);
    }
    let near = nearest(name, of_kind.iter().map(|(known, _)| &**known));
    let near = near.map_or_else(String::new, |near| format!("; did you mean `@{near}`?"));
    Err(format!("there is no `{} @{name}`{near}", decl.name))
}

/// The symbols that a module declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    by_name: BTreeMap<Rc<str>, OpId>,
}

impl Analysis for Symbols {
    const SAME: Option<fn(&Self, &Self) -> bool> = Some(Self::eq);

    fn build(ctx: &Context, module: &Module) -> Self {
        let mut by_name = BTreeMap::new();
        for (name, op) in all(ctx, module) {
            // Of several the first one counts; the verifier reports the others.
            by_name.entry(name).or_insert(op.id);
        }
        Self { by_name }
    }
}

impl Symbols {
    /// The operation that declares `name`.
    #[must_use]
    pub fn lookup(&self, name: &str) -> Option<OpId> {
        self.by_name.get(name).copied()
    }

    /// All symbols with what declares them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Rc<str>, OpId)> {
        self.by_name.iter().map(|(name, &op)| (name, op))
    }

    /// A name that no operation declares: `base`, or `base_1` and so on.
    #[must_use]
    pub fn unique(&self, base: &str) -> Rc<str> {
        let numbered = (1_u64..).map(|number| Rc::from(format!("{base}_{number}")));
        let mut names = std::iter::once(Rc::from(base)).chain(numbered);
        names
            .find(|name| !self.by_name.contains_key(name))
            .expect("a module has fewer symbols than there are numbers")
    }

    /// Makes an operation declare `new` in place of `old`, here and in the module, and its uses with it.
    ///
    /// # Errors
    /// If nothing declares `old`, or something declares `new`. Nothing has changed then.
    pub fn rename(&mut self, ctx: &Context, module: &mut Module, old: &str, new: &str) -> Result<(), String> {
        let Some(op) = self.lookup(old) else { return Err(format!("nothing declares `@{old}`")) };
        if self.lookup(new).is_some() {
            return Err(format!("`@{new}` is declared already"));
        }
        let attr = ctx.attr(Attr::Symbol(new.into()));
        let own = declaring_clause(module.op(ctx, op)).map(|clause| (op, clause.to_owned()));
        for (op, clause) in own.into_iter().chain(uses(ctx, module, old)) {
            module.set_clause(op, &clause, Some(attr));
        }
        self.by_name.remove(old);
        self.by_name.insert(new.into(), op);
        Ok(())
    }
}

/// The uses of a symbol: operations with the clause that names it, in the order of the module.
#[must_use]
pub fn uses(ctx: &Context, module: &Module, name: &str) -> Vec<(OpId, String)> {
    let ops = module.walk_all().into_iter().map(|id| module.op(ctx, id));
    let of = |op: OpRef<'_>| {
        let own = declaring_clause(op);
        let clauses = op.clauses().iter().filter(|clause| own != Some(&*clause.name));
        let named = clauses.filter(|clause| op.symbol(&clause.name).is_some_and(|used| *used == *name));
        named.map(|clause| (op.id, clause.name.to_string())).collect::<Vec<_>>()
    };
    ops.flat_map(of).collect()
}

/// Reports symbols that are declared twice.
pub(crate) fn check(cx: &VerifyCx<'_>) {
    let mut seen: BTreeMap<Rc<str>, OpId> = BTreeMap::new();
    for (name, op) in all(cx.ctx, cx.module) {
        let place = |op: OpRef<'_>| declaring_clause(op).map_or(op.span(), |clause| op.clause_span(clause));
        if let Some(&earlier) = seen.get(&name) {
            let message = format!("`@{name}` is declared twice");
            let error = Diagnostic::error("duplicate-symbol", place(op), message);
            cx.report(error.note("first declared here", Some(place(op.other(earlier)))));
        }
        seen.entry(name).or_insert(op.id);
    }
}
