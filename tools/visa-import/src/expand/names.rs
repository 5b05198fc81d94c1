//! The variables and labels of bodies, each with a unique name, by the rules of hygiene: a name of a macro's body
//! means a variable of the same expansion, or one that is in scope where the macro is defined.

use super::{Tree, arguments, block_module, definition};
use crate::error::Error;
use crate::macros::MacroId;
use crate::marks::{MARK, last_mark, marked_name, plain, unmarked, unmarked_tokens};
use crate::program::{AdtId, Item, ModuleId, Program, Space, Style};
use proc_macro2::Ident;
use quote::ToTokens;
use std::rc::Rc;
use syn::visit_mut::{self, VisitMut};

/// The tree with unique names.
///
/// # Errors
/// A label that is not known; or the error of the tree.
pub(super) fn resolve<T: Tree>(
    program: &Program,
    (module, of): (ModuleId, Option<AdtId>),
    tree: &Result<Rc<T>, Error>,
) -> Result<Rc<T>, Error> {
    let mut tree = (**tree.as_ref().map_err(Error::clone)?).clone();
    let mut own = Resolver { program, module, of, ribs: Vec::new(), next: 0, error: None };
    tree.visit(&mut own);
    own.error.map_or(Ok(Rc::new(tree)), Err)
}

/// A scope or boundary that a name meets on its way out.
enum Rib {
    Variable { name: String, unique: String },
    Label { name: String, unique: String },
    Definition(MacroId),
    Items(ModuleId),
}

struct Resolver<'p> {
    program: &'p Program,
    module: ModuleId,
    of: Option<AdtId>,
    ribs: Vec<Rib>,
    next: usize,
    error: Option<Error>,
}

impl Resolver<'_> {
    fn unique(&mut self, name: &str) -> String {
        self.next += 1;
        format!("{}{MARK}{}", plain(name), self.next - 1)
    }

    /// The unique name of the variable or label that a name means.
    fn find(&self, name: &str, of_rib: impl Fn(&Rib) -> Option<(&String, &String)>) -> Option<String> {
        let mut name = name.to_owned();
        for rib in self.ribs.iter().rev() {
            if let Some((own, unique)) = of_rib(rib) {
                if *own == name {
                    return Some(unique.clone());
                }
                continue;
            }
            match rib {
                Rib::Definition(id) => {
                    if let Some((before, mark)) = last_mark(&name)
                        && self.program.expansions.get(mark) == Some(id)
                    {
                        name = before.to_owned();
                    }
                }
                Rib::Items(module) => {
                    if self.program.find_in_block(*module, plain(&name), Space::Values).is_some() {
                        return None;
                    }
                }
                Rib::Variable { .. } | Rib::Label { .. } => {}
            }
        }
        None
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.find(name, |rib| match rib {
            Rib::Variable { name, unique } => Some((name, unique)),
            Rib::Label { .. } | Rib::Definition(_) | Rib::Items(_) => None,
        })
    }

    /// Gives a label its unique name, for the loop or block that it is around.
    fn label(&mut self, label: &mut Option<syn::Label>) {
        let Some(label) = label else { return };
        let name = marked_name(&label.name.ident);
        let unique = self.unique(&name);
        label.name.ident = Ident::new(&unique, label.name.ident.span());
        self.ribs.push(Rib::Label { name, unique });
    }

    fn jump(&mut self, label: &mut Option<syn::Lifetime>) {
        let Some(label) = label else { return };
        let name = marked_name(&label.ident);
        let found = self.find(&name, |rib| match rib {
            Rib::Label { name, unique } => Some((name, unique)),
            Rib::Variable { .. } | Rib::Definition(_) | Rib::Items(_) => None,
        });
        match found {
            Some(unique) => label.ident = Ident::new(&unique, label.ident.span()),
            None => {
                let place = self.program.place(self.module, label.ident.span());
                let message = format!("the label `'{}` is not around it", plain(&name));
                self.error.get_or_insert(Error::new(place, message));
            }
        }
    }

    /// Visits something whose variables end with it.
    fn scoped(&mut self, visit: impl FnOnce(&mut Self)) {
        let (count, module) = (self.ribs.len(), self.module);
        visit(self);
        self.ribs.truncate(count);
        self.module = module;
    }

    /// Binds the variables of a pattern.
    fn bind(&mut self, pat: &mut syn::Pat) {
        let mut bound = Vec::new();
        self.pattern(pat, &mut bound);
        self.ribs.extend(bound.into_iter().map(|(name, unique)| Rib::Variable { name, unique }));
    }

    fn pattern(&mut self, pat: &mut syn::Pat, bound: &mut Vec<(String, String)>) {
        match pat {
            syn::Pat::Ident(own) => match self.constant(own) {
                Some(path) => *pat = path,
                None => self.binding(own, bound),
            },
            syn::Pat::Or(own) => own.cases.iter_mut().for_each(|own| self.pattern(own, bound)),
            syn::Pat::Paren(own) => self.pattern(&mut own.pat, bound),
            syn::Pat::Reference(own) => self.pattern(&mut own.pat, bound),
            syn::Pat::Slice(own) => own.elems.iter_mut().for_each(|own| self.pattern(own, bound)),
            syn::Pat::Tuple(own) => own.elems.iter_mut().for_each(|own| self.pattern(own, bound)),
            syn::Pat::TupleStruct(own) => {
                self.visit_path_mut(&mut own.path);
                own.elems.iter_mut().for_each(|own| self.pattern(own, bound));
            }
            syn::Pat::Struct(own) => {
                self.visit_path_mut(&mut own.path);
                for field in &mut own.fields {
                    self.visit_member_mut(&mut field.member);
                    field.colon_token.get_or_insert_with(Default::default);
                    self.pattern(&mut field.pat, bound);
                }
            }
            syn::Pat::Type(own) => {
                self.visit_type_mut(&mut own.ty);
                self.pattern(&mut own.pat, bound);
            }
            // Literals, ranges, paths and patterns that bind nothing.
            other => visit_mut::visit_pat_mut(self, other),
        }
    }

    fn binding(&mut self, own: &mut syn::PatIdent, bound: &mut Vec<(String, String)>) {
        let name = marked_name(&own.ident);
        let known = bound.iter().find(|(other, _)| *other == name).map(|(_, unique)| unique.clone());
        let unique = known.unwrap_or_else(|| {
            let unique = self.unique(&name);
            bound.push((name, unique.clone()));
            unique
        });
        own.ident = Ident::new(&unique, own.ident.span());
        if let Some((_, inner)) = &mut own.subpat {
            self.pattern(inner, bound);
        }
    }

    /// The path that an identifier is as a pattern, if it names a constant or an item without fields.
    fn constant(&self, own: &syn::PatIdent) -> Option<syn::Pat> {
        if own.by_ref.is_some() || own.mutability.is_some() || own.subpat.is_some() {
            return None;
        }
        let name = marked_name(&own.ident);
        if self.variable(&name).is_some() {
            return None;
        }
        let path = [plain(&name).to_owned()];
        let is_constant = match self.program.find(self.module, self.of, &path, Space::Values) {
            Some(Item::Const(_)) => true,
            Some(Item::Adt(id)) => {
                self.program.adts[id.0].variants.iter().all(|own| own.style == Style::Unit)
            }
            Some(Item::Variant(id, at)) => self.program.adts[id.0].variants[at].style == Style::Unit,
            Some(
                Item::Module(_)
                | Item::Axis(_)
                | Item::Fn(_)
                | Item::Type(..)
                | Item::Trait(..)
                | Item::Macro(_),
            ) => false,
            None => path[0] == "None" || std_constant(&self.program.external(self.module, &path)),
        };
        let ident = unmarked(&own.ident);
        is_constant.then(|| syn::Pat::Path(syn::parse_quote!(#ident)))
    }

    /// Resolves the arguments of a macro of the language.
    fn builtin(&mut self, mac: &mut syn::Macro) {
        match arguments(mac) {
            Ok(mut all) => {
                all.iter_mut().for_each(|own| self.visit_expr_mut(own));
                mac.tokens = all.to_token_stream();
            }
            Err(_) => mac.tokens = unmarked_tokens(std::mem::take(&mut mac.tokens)),
        }
    }

    fn path(&mut self, own: &mut syn::ExprPath) {
        let single = own.qself.is_none() && own.path.leading_colon.is_none() && own.path.segments.len() == 1;
        if let (true, Some(segment)) = (single, own.path.segments.first_mut())
            && segment.arguments.is_none()
            && let Some(unique) = self.variable(&marked_name(&segment.ident))
        {
            segment.ident = Ident::new(&unique, segment.ident.span());
            return;
        }
        visit_mut::visit_expr_path_mut(self, own);
    }

    fn closure(&mut self, own: &mut syn::ExprClosure) {
        self.scoped(|names| {
            own.inputs.iter_mut().for_each(|input| names.bind(input));
            names.visit_return_type_mut(&mut own.output);
            names.visit_expr_mut(&mut own.body);
        });
    }

    fn stmt(&mut self, stmt: &mut syn::Stmt) {
        match stmt {
            syn::Stmt::Local(local) => {
                if let Some(init) = &mut local.init {
                    self.visit_expr_mut(&mut init.expr);
                    if let Some((_, other)) = &mut init.diverge {
                        self.visit_expr_mut(other);
                    }
                }
                self.bind(&mut local.pat);
            }
            syn::Stmt::Expr(expr, _) => self.visit_expr_mut(expr),
            syn::Stmt::Macro(own) => self.builtin(&mut own.mac),
            syn::Stmt::Item(_) => {}
        }
    }
}

/// Returns true for a path such as `f32::consts::PI`, whose name is that of a constant.
fn std_constant(path: &[String]) -> bool {
    path.len() > 1
        && path.last().is_some_and(|last| {
            last.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        })
}

impl VisitMut for Resolver<'_> {
    fn visit_item_fn_mut(&mut self, item: &mut syn::ItemFn) {
        self.visit_generics_mut(&mut item.sig.generics);
        for input in &mut item.sig.inputs {
            if let syn::FnArg::Typed(typed) = input {
                self.visit_type_mut(&mut typed.ty);
                self.bind(&mut typed.pat);
            }
        }
        self.visit_return_type_mut(&mut item.sig.output);
        self.visit_block_mut(&mut item.block);
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        self.scoped(|names| {
            if let Some(module) = block_module(&block.stmts) {
                names.module = module;
                names.ribs.push(Rib::Items(module));
            }
            let mut stmts = std::mem::take(&mut block.stmts);
            stmts.retain_mut(|stmt| match definition(stmt) {
                Some(id) => {
                    names.ribs.push(Rib::Definition(id));
                    false
                }
                None => {
                    names.stmt(stmt);
                    true
                }
            });
            block.stmts = stmts;
        });
    }

    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        match expr {
            syn::Expr::Path(own) => self.path(own),
            syn::Expr::Closure(own) => self.closure(own),
            syn::Expr::Macro(own) => self.builtin(&mut own.mac),
            syn::Expr::Let(own) => {
                self.visit_expr_mut(&mut own.expr);
                self.bind(&mut own.pat);
            }
            syn::Expr::If(own) => {
                self.scoped(|names| {
                    names.visit_expr_mut(&mut own.cond);
                    names.visit_block_mut(&mut own.then_branch);
                });
                if let Some((_, other)) = &mut own.else_branch {
                    self.visit_expr_mut(other);
                }
            }
            syn::Expr::While(own) => self.scoped(|names| {
                names.label(&mut own.label);
                names.visit_expr_mut(&mut own.cond);
                names.visit_block_mut(&mut own.body);
            }),
            syn::Expr::ForLoop(own) => {
                self.visit_expr_mut(&mut own.expr);
                self.scoped(|names| {
                    names.label(&mut own.label);
                    names.bind(&mut own.pat);
                    names.visit_block_mut(&mut own.body);
                });
            }
            syn::Expr::Loop(own) => self.scoped(|names| {
                names.label(&mut own.label);
                names.visit_block_mut(&mut own.body);
            }),
            syn::Expr::Block(own) => self.scoped(|names| {
                names.label(&mut own.label);
                names.visit_block_mut(&mut own.block);
            }),
            syn::Expr::Break(own) => {
                self.jump(&mut own.label);
                own.expr.iter_mut().for_each(|value| self.visit_expr_mut(value));
            }
            syn::Expr::Continue(own) => self.jump(&mut own.label),
            syn::Expr::Match(own) => {
                self.visit_expr_mut(&mut own.expr);
                for arm in &mut own.arms {
                    self.scoped(|names| {
                        names.bind(&mut arm.pat);
                        arm.guard.iter_mut().for_each(|(_, guard)| names.visit_expr_mut(guard));
                        names.visit_expr_mut(&mut arm.body);
                    });
                }
            }
            syn::Expr::Struct(own) => {
                self.visit_path_mut(&mut own.path);
                for field in &mut own.fields {
                    self.visit_member_mut(&mut field.member);
                    field.colon_token.get_or_insert_with(Default::default);
                    self.visit_expr_mut(&mut field.expr);
                }
                own.rest.iter_mut().for_each(|rest| self.visit_expr_mut(rest));
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_ident_mut(&mut self, ident: &mut Ident) {
        *ident = unmarked(ident);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        mac.tokens = unmarked_tokens(std::mem::take(&mut mac.tokens));
        self.visit_path_mut(&mut mac.path);
    }

    fn visit_attribute_mut(&mut self, _: &mut syn::Attribute) {}
}
