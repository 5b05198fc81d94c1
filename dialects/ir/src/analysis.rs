//! Analyses: facts about a module that are worked out once and kept as long as they hold.
//!
//! [`Analyses`] caches them, each with the [`Stamp`] of the module that it was computed from. An analysis of another
//! state is never returned. After each pass, the manager passes on the analyses that the pass preserved
//! ([`Preserved`]). [`Handle::get`] reports an error if a pass in between did not preserve the analysis.

use crate::context::Context;
use crate::diag::Diagnostic;
use crate::module::{Module, Stamp};
use crate::span::Span;
use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

/// A fact about a whole module that several verifiers or passes need.
pub trait Analysis: Any + Sized {
    /// Computes it.
    fn build(ctx: &Context, module: &Module) -> Self;

    /// Comparison of two results, if the analysis supports one: `Some(Self::eq)`. It checks passes that preserve the
    /// analysis.
    const SAME: Option<fn(&Self, &Self) -> bool> = None;
}

/// An analysis as a value, for [`Preserved::Only`].
#[derive(Clone, Copy)]
pub struct AnalysisKind {
    id: fn() -> TypeId,
    name: fn() -> &'static str,
}

impl AnalysisKind {
    /// The analysis `A`.
    #[must_use]
    pub const fn of<A: Analysis>() -> Self {
        Self { id: TypeId::of::<A>, name: name_of::<A> }
    }
}

impl fmt::Debug for AnalysisKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str((self.name)())
    }
}

/// The last part of a type's path: the name of the analysis in messages.
fn name_of<A: Analysis>() -> &'static str {
    let path = std::any::type_name::<A>();
    path.rsplit("::").next().unwrap_or(path)
}

/// The analyses that still hold after a pass that changed the module. All hold after a pass that changed nothing.
#[derive(Clone, Copy, Debug)]
pub enum Preserved {
    /// All of them.
    All,
    /// None of them.
    None,
    /// These.
    Only(&'static [AnalysisKind]),
}

impl Preserved {
    fn holds(self, id: TypeId) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Only(kinds) => kinds.iter().any(|kind| (kind.id)() == id),
        }
    }
}

/// Since when an analysis does not hold any more.
struct Life {
    stamp: RefCell<Stamp>,
    /// The pass that was running when it was built, or that preserved it last.
    during: Cell<Option<&'static str>>,
    /// The pass that did not preserve it.
    ended: Cell<Option<&'static str>>,
}

/// An analysis that is kept.
struct Kept {
    id: TypeId,
    name: &'static str,
    value: Rc<dyn Any>,
    /// Builds it again and compares; `None` if it cannot be compared.
    check: fn(&dyn Any, &Context, &Module) -> Option<bool>,
    life: Rc<Life>,
}

/// The analyses of a module.
#[derive(Default)]
pub struct Analyses {
    kept: RefCell<Vec<Kept>>,
    during: Cell<Option<&'static str>>,
}

impl Analyses {
    /// The analysis `A` of `module` as it is now: the one that is kept, or a new one.
    pub fn get<A: Analysis>(&self, ctx: &Context, module: &Module) -> Rc<A> {
        self.handle::<A>(ctx, module).value
    }

    /// A handle for later use: [`Handle::get`] reports an error if the analysis no longer holds.
    pub fn handle<A: Analysis>(&self, ctx: &Context, module: &Module) -> Handle<A> {
        self.known(module).unwrap_or_else(|| self.know(Rc::new(A::build(ctx, module)), module))
    }

    /// Keeps an analysis of `module` that was built elsewhere.
    pub fn know<A: Analysis>(&self, value: Rc<A>, module: &Module) -> Handle<A> {
        let (stamp, during) = (RefCell::new(module.stamp()), Cell::new(self.during.get()));
        let life = Rc::new(Life { stamp, during, ended: Cell::new(None) });
        let (id, name) = (TypeId::of::<A>(), name_of::<A>());
        let mut kept = self.kept.borrow_mut();
        kept.retain(|kept| kept.id != id);
        kept.push(Kept { id, name, value: value.clone(), check: check::<A>, life: life.clone() });
        Handle { value, life }
    }

    fn known<A: Analysis>(&self, module: &Module) -> Option<Handle<A>> {
        let kept = self.kept.borrow();
        let found = kept.iter().find(|kept| kept.id == TypeId::of::<A>())?;
        if *found.life.stamp.borrow() != module.stamp() {
            return None;
        }
        Some(Handle { value: found.value.clone().downcast().ok()?, life: found.life.clone() })
    }

    /// Starts a pass; later messages use its name.
    pub fn begin(&self, pass: &'static str) {
        self.during.set(Some(pass));
    }

    /// Ends a pass that left the module unchanged since `before`: preserved analyses hold for the module now, the
    /// others are dropped.
    pub fn end(&self, pass: &'static str, before: &Stamp, preserved: Preserved, module: &Module) {
        let now = module.stamp();
        self.kept.borrow_mut().retain(|kept| {
            let current = *kept.life.stamp.borrow() == now;
            if current {
                return true;
            }
            // An analysis that was built while the pass ran, of a state in between, is as good as one from before: the
            // pass changes none of its results.
            let holds = before == &now || preserved.holds(kept.id);
            if holds {
                kept.life.stamp.replace(now.clone());
                kept.life.during.set(Some(pass));
            } else {
                kept.life.ended.set(Some(pass));
            }
            holds
        });
    }

    /// Names of the cached analyses of `module` that differ from a new computation. Analyses that cannot be compared
    /// are omitted.
    #[must_use]
    pub fn wrong(&self, ctx: &Context, module: &Module) -> Vec<&'static str> {
        let kept = self.kept.borrow();
        let current = kept.iter().filter(|kept| *kept.life.stamp.borrow() == module.stamp());
        current
            .filter(|kept| (kept.check)(&*kept.value, ctx, module) == Some(false))
            .map(|kept| kept.name)
            .collect()
    }
}

fn check<A: Analysis>(kept: &dyn Any, ctx: &Context, module: &Module) -> Option<bool> {
    let (same, kept) = (A::SAME?, kept.downcast_ref::<A>()?);
    Some(same(kept, &A::build(ctx, module)))
}

/// An analysis for later use.
pub struct Handle<A> {
    value: Rc<A>,
    life: Rc<Life>,
}

impl<A> Clone for Handle<A> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), life: self.life.clone() }
    }
}

impl<A: Analysis> Handle<A> {
    /// The analysis, if it still holds for `module`.
    ///
    /// # Errors
    /// If a pass did not preserve it, or if the module was changed since it was built.
    pub fn get(&self, module: &Module) -> Result<Rc<A>, Diagnostic> {
        let name = name_of::<A>();
        let error = |message: String| {
            let fix = "request the analysis again at its use, or let the pass declare that it preserves it";
            Err(Diagnostic::error("stale-analysis", Span::default(), message).fix(fix.to_owned()))
        };
        match self.life.ended.get() {
            Some(pass) => error(format!(
                "analysis `{name}` is asked for through a handle from before pass `{pass}`, which does not \
                 preserve it"
            )),
            None if *self.life.stamp.borrow() == module.stamp() => Ok(self.value.clone()),
            None => {
                let taken = match self.life.during.get() {
                    Some(pass) => format!("that pass `{pass}` took before it changed the module"),
                    None => "from before the module was changed".to_owned(),
                };
                error(format!("analysis `{name}` is asked for through a handle {taken}"))
            }
        }
    }
}
