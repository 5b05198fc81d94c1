//! Symbols: the names (`@name`) that operations of a module declare and others use.
//!
//! An operation declares a symbol if its effects are [`Effects::Declares`](crate::effects::Effects::Declares) and
//! its first clause is a symbol. A use of one is every other clause that is a symbol, and a name in the body of a
//! clause or of a value's type, as `{L}` in a mapping: [`BodyDef::symbols`](crate::decl::BodyDef::symbols) gives
//! these.

use crate::analysis::Analysis;
use crate::context::{Attr, Context};
use crate::decl::{ClauseKind, OpDecl};
use crate::diag::{Diagnostic, nearest};
use crate::effects;
use crate::module::{AttrId, Module, OpId, OpRef, TypeId, ValueId};
use crate::verify::VerifyCx;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
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

/// The operation in the module of `op` that declares the symbol `name`, of any kind.
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

    /// All symbols with their declaring operations, by name.
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
        let declaring = declaring_clause(module.op(ctx, op)).map(|clause| Use::Clause(op, clause.into()));
        let mut with = |name: &str| (name == old).then(|| Rc::from(new));
        for place in declaring.into_iter().chain(uses(ctx, module, old)) {
            match place {
                Use::Clause(op, name) => {
                    let clause = module.op(ctx, op).clauses().iter().find(|clause| clause.name == name);
                    if let Some(attr) = clause.and_then(|clause| in_attr(ctx, clause.value, &mut with)) {
                        module.set_clause(op, &name, Some(attr));
                    }
                }
                Use::Type(value) => {
                    if let Some(ty) = in_type(ctx, module.ty(value), &mut with) {
                        module.set_type(value, ty);
                    }
                }
            }
        }
        self.by_name.remove(old);
        self.by_name.insert(new.into(), op);
        Ok(())
    }
}

/// Where a symbol is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Use {
    /// In the clause of this name.
    Clause(OpId, Cow<'static, str>),
    /// In the type of a result or of an argument.
    Type(ValueId),
}

/// Returns the replacement of a name.
type Rename<'a> = dyn FnMut(&str) -> Option<Rc<str>> + 'a;

/// An attribute with other names for the symbols in it; `None` if no name changes.
fn in_attr(ctx: &Context, attr: AttrId, with: &mut Rename<'_>) -> Option<AttrId> {
    let renamed = match ctx.attr_data(attr) {
        Attr::Symbol(name) => Attr::Symbol(with(&name)?),
        Attr::Body(def, body) => Attr::Body(def, (def.symbols?)(&*body, with)?),
        Attr::Int(_) | Attr::Str(_) | Attr::Ints(_) | Attr::Strs(_) | Attr::Unit => return None,
        Attr::Auto | Attr::OpenInts(_) | Attr::Opaque(_) => return None,
    };
    Some(ctx.attr(renamed))
}

/// A type with other names for the symbols in it; `None` if no name changes.
fn in_type(ctx: &Context, ty: TypeId, with: &mut Rename<'_>) -> Option<TypeId> {
    let (def, body) = ctx.type_data(ty).body?;
    Some(ctx.intern_type(def, (def.symbols?)(&*body, with)?))
}

/// The uses of a symbol, in the order of the module: of an operation those in its clauses, then those in the types of
/// its results and of the arguments of its regions.
#[must_use]
pub fn uses(ctx: &Context, module: &Module, name: &str) -> Vec<Use> {
    let found = Cell::new(false);
    let mut look = |used: &str| {
        found.set(found.get() || used == name);
        None
    };
    let mut types: HashMap<TypeId, bool> = HashMap::new();
    let mut uses = Vec::new();
    for op in module.walk_all().into_iter().map(|id| module.op(ctx, id)) {
        let own = declaring_clause(op);
        for clause in op.clauses().iter().filter(|clause| own != Some(&*clause.name)) {
            in_attr(ctx, clause.value, &mut look);
            uses.extend(found.take().then(|| Use::Clause(op.id, clause.name.clone())));
        }
        let arguments = op.regions().iter().flat_map(|&region| module.args(region));
        for &value in op.results().iter().chain(arguments) {
            let ty = module.ty(value);
            let named = *types.entry(ty).or_insert_with(|| {
                in_type(ctx, ty, &mut look);
                found.take()
            });
            uses.extend(named.then_some(Use::Type(value)));
        }
    }
    uses
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
