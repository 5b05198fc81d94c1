//! Blocks, branches and loops.

use super::obligations::Pending;
use super::types::{Kind, Taint, Ty};
use super::{Checker, Expect, Loop, holes};
use syn::spanned::Spanned;

/// The common type of branches.
struct Join {
    ty: Ty,
    expect: Expect,
    /// False while no branch ended with a value.
    is_reached: bool,
}

impl Checker<'_> {
    /// Expressions that direct control.
    pub(crate) fn control(&mut self, expr: &syn::Expr, expect: &Expect) -> Ty {
        use syn::Expr;
        match expr {
            Expr::Block(own) => self.labelled(own, expect),
            Expr::Unsafe(own) => self.block(&own.block, expect),
            Expr::Const(own) => self.block(&own.block, expect),
            Expr::If(own) => self.branch(own, expect),
            Expr::Match(own) => self.matched(own, expect),
            Expr::Loop(own) => self.endless(own, expect),
            Expr::While(own) => self.repeated(own),
            Expr::ForLoop(own) => self.each(own),
            Expr::Break(own) => self.leave_loop(own),
            Expr::Continue(_) => Ty::never(),
            Expr::Return(own) => {
                let result = self.result.clone();
                match &own.expr {
                    Some(value) => self.coerced(value, &result),
                    None => self.unify(&result, &Ty::unit(), own.span()),
                }
                Ty::never()
            }
            // An `async` function's type is that of its result.
            Expr::Await(own) => self.check(&own.base, &Expect::None),
            _ => self.unread(expr.span(), "this expression is not read"),
        }
    }

    pub(crate) fn block(&mut self, block: &syn::Block, expect: &Expect) -> Ty {
        let scope = self.env.scope;
        if let Some(module) = self.defs.block(&block.stmts) {
            self.env.scope.module = module;
        }
        let before = std::mem::replace(&mut self.diverges, false);
        let mut ty = None;
        for (at, stmt) in block.stmts.iter().enumerate() {
            let is_last = at + 1 == block.stmts.len();
            match stmt {
                syn::Stmt::Expr(tail, None) if is_last => ty = Some(self.check(tail, expect)),
                syn::Stmt::Macro(own) if is_last && own.semi_token.is_none() => {
                    let own = self.macro_call(&own.mac);
                    self.diverges |= own.is_never();
                    ty = Some(own);
                }
                _ => self.statement(stmt),
            }
        }
        self.env.scope = scope;
        let ty = ty.unwrap_or_else(|| if self.diverges { Ty::never() } else { Ty::unit() });
        self.diverges |= before;
        ty
    }

    fn statement(&mut self, stmt: &syn::Stmt) {
        match stmt {
            syn::Stmt::Local(own) => self.local(own),
            syn::Stmt::Expr(own, None) => self.coerced(own, &Ty::unit()),
            syn::Stmt::Expr(own, Some(_)) => {
                self.check(own, &Expect::None);
            }
            syn::Stmt::Macro(own) => {
                let ty = self.macro_call(&own.mac);
                self.diverges |= ty.is_never();
            }
            syn::Stmt::Item(_) => {}
        }
    }

    fn local(&mut self, own: &syn::Local) {
        let (pat, ty) = match &own.pat {
            syn::Pat::Type(typed) => {
                let env = self.env.clone();
                (&*typed.pat, self.lower(&env, &typed.ty))
            }
            pat => (pat, self.table.fresh(Kind::General)),
        };
        if let Some(init) = &own.init {
            self.coerced(&init.expr, &ty);
            if let Some((_, diverge)) = &init.diverge {
                let diverges = self.diverges;
                self.check(diverge, &Expect::None);
                self.diverges = diverges;
            }
        }
        self.pattern(pat, &ty, false);
    }

    fn join(&mut self, expect: &Expect) -> Join {
        match (expect, self.hint(expect)) {
            (Expect::Has(_), Some(ty)) => Join { expect: Expect::Has(ty.clone()), ty, is_reached: false },
            (_, _) => Join { ty: self.table.fresh(Kind::General), expect: Expect::None, is_reached: false },
        }
    }

    fn add(&mut self, join: &mut Join, ty: &Ty, span: proc_macro2::Span) {
        if !self.table.resolve(ty).is_never() {
            join.is_reached = true;
            self.coerce(ty, &join.ty, span);
        }
    }

    fn branch(&mut self, own: &syn::ExprIf, expect: &Expect) -> Ty {
        self.coerced(&own.cond, &Ty::bool());
        let before = std::mem::replace(&mut self.diverges, false);
        let mut join = self.join(expect);
        let then = self.block(&own.then_branch, &join.expect.clone());
        self.add(&mut join, &then, own.then_branch.span());
        let after_then = std::mem::replace(&mut self.diverges, false);
        match &own.else_branch {
            Some((_, otherwise)) => {
                let ty = self.check(otherwise, &join.expect.clone());
                self.add(&mut join, &ty, otherwise.span());
            }
            None => self.add(&mut join, &Ty::unit(), own.span()),
        }
        self.diverges = before || (after_then && self.diverges);
        if join.is_reached { join.ty } else { Ty::never() }
    }

    fn matched(&mut self, own: &syn::ExprMatch, expect: &Expect) -> Ty {
        let scrutinee = self.check(&own.expr, &Expect::None);
        let before = self.diverges;
        let mut join = self.join(expect);
        let mut all = true;
        for arm in &own.arms {
            self.pattern(&arm.pat, &scrutinee, false);
        }
        for arm in &own.arms {
            self.diverges = false;
            if let Some((_, guard)) = &arm.guard {
                self.coerced(guard, &Ty::bool());
                self.diverges = false;
            }
            let ty = self.check(&arm.body, &join.expect.clone());
            self.add(&mut join, &ty, arm.body.span());
            all &= self.diverges;
        }
        self.diverges = before || all;
        if join.is_reached { join.ty } else { Ty::never() }
    }

    fn enter_loop(&mut self, label: Option<&syn::Label>, result: Option<Ty>, is_loop: bool) {
        let label = label.map(|own| own.name.ident.to_string());
        self.loops.push(Loop { label, result, is_left: false, is_loop });
    }

    fn labelled(&mut self, own: &syn::ExprBlock, expect: &Expect) -> Ty {
        if own.label.is_none() {
            return self.block(&own.block, expect);
        }
        let join = self.join(expect);
        let before = self.diverges;
        self.enter_loop(own.label.as_ref(), Some(join.ty.clone()), false);
        let ty = self.block(&own.block, expect);
        let is_left = self.loops.pop().is_some_and(|own| own.is_left);
        if !is_left {
            return ty;
        }
        self.diverges = before;
        self.coerce(&ty, &join.ty, own.span());
        join.ty
    }

    fn endless(&mut self, own: &syn::ExprLoop, expect: &Expect) -> Ty {
        let join = self.join(expect);
        let before = self.diverges;
        self.enter_loop(own.label.as_ref(), Some(join.ty.clone()), true);
        self.body(&own.body);
        let is_left = self.loops.pop().is_some_and(|own| own.is_left);
        self.diverges = before || !is_left;
        if is_left { join.ty } else { Ty::never() }
    }

    /// The body of a loop, which has no value.
    fn body(&mut self, body: &syn::Block) {
        let ty = self.block(body, &Expect::Has(Ty::unit()));
        self.coerce(&ty, &Ty::unit(), body.span());
    }

    fn repeated(&mut self, own: &syn::ExprWhile) -> Ty {
        self.enter_loop(own.label.as_ref(), None, true);
        self.coerced(&own.cond, &Ty::bool());
        let before = self.diverges;
        self.body(&own.body);
        self.loops.pop();
        self.diverges = before;
        Ty::unit()
    }

    fn each(&mut self, own: &syn::ExprForLoop) -> Ty {
        let iterated = self.check(&own.expr, &Expect::None);
        let before = self.diverges;
        let item = self.item(&iterated, own.expr.span());
        self.pattern(&own.pat, &item, false);
        self.enter_loop(own.label.as_ref(), None, true);
        self.body(&own.body);
        self.loops.pop();
        self.diverges = before;
        Ty::unit()
    }

    /// The type of the items of an iterated type, now or later.
    pub(crate) fn item(&mut self, ty: &Ty, span: proc_macro2::Span) -> Ty {
        let known = self.known(ty);
        if let Some(item) = self.items(&known) {
            return item;
        }
        let item = self.table.fresh(Kind::General);
        self.relate(Pending::Items { ty: known, item: item.clone(), span });
        item
    }

    fn leave_loop(&mut self, own: &syn::ExprBreak) -> Ty {
        let label = own.label.as_ref().map(|own| own.ident.to_string());
        let at = self.loops.iter().rposition(|own| match &label {
            Some(_) => own.label == label,
            None => own.is_loop,
        });
        let result = at.and_then(|at| {
            self.loops[at].is_left = true;
            self.loops[at].result.clone()
        });
        match (&own.expr, result) {
            (Some(value), Some(result)) => self.coerced(value, &result),
            (Some(value), None) => {
                let ty = self.check(value, &Expect::None);
                self.missing(&ty, own.span(), "this loop is not known");
            }
            (None, Some(result)) => self.unify(&result, &Ty::unit(), own.span()),
            (None, None) => {}
        }
        Ty::never()
    }

    /// A macro that expansion leaves.
    pub(crate) fn macro_call(&mut self, mac: &syn::Macro) -> Ty {
        let name = mac.path.segments.last().map(|own| own.ident.to_string()).unwrap_or_default();
        let arguments = holes::arguments(mac).map(|own| own.into_iter().collect::<Vec<_>>());
        let arguments = arguments.unwrap_or_default();
        if let ("dbg", [value]) = (&*name, &*arguments) {
            return self.check(value, &Expect::None);
        }
        let Some(result) = macro_result(&name) else {
            let taint = self.reason(mac.span(), format!("the macro `{name}` is not read"));
            return self.opaque_call(&arguments.iter().collect::<Vec<_>>(), taint);
        };
        let compared = match name.trim_start_matches("debug_") {
            "assert" => {
                arguments.first().iter().for_each(|first| self.coerced(first, &Ty::bool()));
                1
            }
            "assert_eq" | "assert_ne" if arguments.len() >= 2 => {
                let left = self.check(&arguments[0], &Expect::None);
                let right = self.check(&arguments[1], &Expect::None);
                self.compare(&left, &right, mac.span());
                2
            }
            _ => 0,
        };
        for argument in arguments.iter().skip(compared) {
            let value = match argument {
                syn::Expr::Assign(own) => &own.right,
                other => other,
            };
            self.check(value, &Expect::None);
        }
        result
    }

    /// A type that the toolchain fixes.
    pub(crate) fn toolchain(&mut self) -> Ty {
        self.table.tainted(Taint::Toolchain)
    }
}

fn macro_result(name: &str) -> Option<Ty> {
    Some(match name {
        "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => {
            Ty::unit()
        }
        "print" | "println" | "eprint" | "eprintln" | "dbg" => Ty::unit(),
        "panic" | "unreachable" | "todo" | "unimplemented" => Ty::never(),
        _ => return None,
    })
}
