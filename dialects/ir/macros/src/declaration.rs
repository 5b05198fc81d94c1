//! Reads a declaration as it is written: `OpDecl { operands: &[OperandDecl::one(..)], clauses:
//! &[ClauseDecl::required(..)], .. }`.

use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Error, Expr, Ident, LitStr, Result, Type, Visibility};

/// Names of a view: its own, and that of the base that its declaration extends.
pub(crate) struct Names {
    /// Of the view.
    pub(crate) view: Ident,
    /// Of the base's view.
    pub(crate) base: Option<Ident>,
}

impl Parse for Names {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let view = input.parse()?;
        let colon: Option<syn::Token![:]> = input.parse()?;
        let base = colon.map(|_| input.parse()).transpose()?;
        Ok(Self { view, base })
    }
}

/// The parts of a declaration that a view needs.
pub(crate) struct Declaration<'a> {
    /// Visibility of the item.
    pub(crate) visibility: &'a Visibility,
    /// The item's name if it is a `static`: the declaration of one operation. A `const` is a base of several.
    pub(crate) item: Option<&'a Ident>,
    /// The operation's name, if it is written here.
    pub(crate) name: Option<LitStr>,
    /// The operands, if they are written here.
    pub(crate) operands: Vec<Operand>,
    /// The clauses, if they are written here.
    pub(crate) clauses: Vec<Clause<'a>>,
    /// The results, if they are written here.
    pub(crate) results: Vec<LitStr>,
}

/// Number of values of an operand.
#[derive(Clone, Copy)]
pub(crate) enum Arity {
    /// Exactly one.
    One,
    /// At most one.
    Optional,
    /// Any number.
    Variadic,
}

/// An operand.
pub(crate) struct Operand {
    /// Its name.
    pub(crate) name: LitStr,
    /// Number of its values.
    pub(crate) arity: Arity,
}

/// A clause of a declaration.
pub(crate) enum Clause<'a> {
    /// Written in the declaration.
    Own(OwnClause<'a>),
    /// A shared one, by the path of its `#[clause]` constant.
    Shared(&'a syn::Path),
}

/// A clause as `ClauseDecl::required("time", ClauseKind::body::<Expr>(&MAP), "...")` declares it.
pub(crate) struct OwnClause<'a> {
    /// Its keyword.
    pub(crate) name: LitStr,
    /// Kind of its value.
    pub(crate) kind: Kind<'a>,
    /// True if it may be absent without a default.
    pub(crate) optional: bool,
    /// True if it has a default.
    pub(crate) default: bool,
    /// True if it may be `auto`.
    pub(crate) open: bool,
}

/// Kind of a clause's value.
pub(crate) enum Kind<'a> {
    /// An integer.
    Int,
    /// A string.
    Text,
    /// A word of the enum of this type.
    Word(&'a Type),
    /// A symbol.
    Symbol,
    /// A list of integers.
    Ints,
    /// A list of strings.
    Texts,
    /// Nothing.
    Flag,
    /// A dialect attribute whose value has this type, and the reference to its definition.
    Body(&'a Type, &'a Expr),
}

impl<'a> Declaration<'a> {
    /// Reads a `static` or `const` item.
    pub(crate) fn read(item: &'a syn::Item) -> Result<Self> {
        let (visibility, name, expr) = match item {
            syn::Item::Static(item) => (&item.vis, Some(&item.ident), &*item.expr),
            syn::Item::Const(item) => (&item.vis, None, &*item.expr),
            other => {
                return Err(Error::new(other.span(), "expected a `static` or a `const` of type `OpDecl`"));
            }
        };
        let Expr::Struct(declaration) = expr else {
            return Err(Error::new(expr.span(), "expected `OpDecl { ... }`"));
        };
        let field = |wanted: &str| {
            let named = |field: &&syn::FieldValue| matches!(&field.member, syn::Member::Named(name) if name == wanted);
            declaration.fields.iter().find(named).map(|field| &field.expr)
        };
        let list = |name: &str| field(name).map_or(Ok(Vec::new()), elements);
        Ok(Self {
            visibility,
            item: name,
            name: field("name").map(literal).transpose()?,
            operands: list("operands")?.into_iter().map(Operand::read).collect::<Result<_>>()?,
            clauses: list("clauses")?.into_iter().map(Clause::read).collect::<Result<_>>()?,
            results: list("results")?.into_iter().map(literal).collect::<Result<_>>()?,
        })
    }
}

impl Operand {
    fn read(expr: &Expr) -> Result<Self> {
        let (function, args) =
            call(expr).ok_or_else(|| Error::new(expr.span(), "expected `OperandDecl::one(...)`"))?;
        let arity = match function.to_string().as_str() {
            "one" | "accepting" => Arity::One,
            "optional" => Arity::Optional,
            "variadic" => Arity::Variadic,
            other => return Err(Error::new(function.span(), format!("`{other}` declares no operand"))),
        };
        Ok(Self { name: literal(args[0])?, arity })
    }
}

impl<'a> Clause<'a> {
    /// Reads a clause with its `.open()` and the like.
    pub(crate) fn read(expr: &'a Expr) -> Result<Self> {
        let (mut base, mut open) = (expr, false);
        while let Expr::MethodCall(method) = base {
            open |= method.method == "open" || method.method == "open_address";
            base = &method.receiver;
        }
        if let Expr::Path(path) = base {
            return Ok(Self::Shared(&path.path));
        }
        let (function, args) = call(base).ok_or_else(|| {
            Error::new(base.span(), "expected `ClauseDecl::required(...)` or a `#[clause]` constant")
        })?;
        let (optional, default) = match function.to_string().as_str() {
            "required" | "lead" => (false, false),
            "default" => (false, true),
            "optional" => (true, false),
            other => return Err(Error::new(function.span(), format!("`{other}` declares no clause"))),
        };
        let kind =
            args.get(1).ok_or_else(|| Error::new(base.span(), "expected the kind of the clause's value"))?;
        Ok(Self::Own(OwnClause { name: literal(args[0])?, kind: Kind::read(kind)?, optional, default, open }))
    }
}

impl<'a> Kind<'a> {
    fn read(expr: &'a Expr) -> Result<Self> {
        let wrong = || {
            Error::new(
                expr.span(),
                "expected a kind as it is declared: `ClauseKind::Int`, `ClauseKind::body::<T>(&DEF)`",
            )
        };
        let (path, argument) = match expr {
            Expr::Path(path) => (&path.path, None),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => (&path.path, call.args.first()),
                _ => return Err(wrong()),
            },
            _ => return Err(wrong()),
        };
        let last = path.segments.last().ok_or_else(wrong)?;
        match (last.ident.to_string().as_str(), &last.arguments) {
            ("Int", _) => Ok(Self::Int),
            ("Str", _) => Ok(Self::Text),
            ("Symbol", _) => Ok(Self::Symbol),
            ("Ints", _) => Ok(Self::Ints),
            ("Strs", _) => Ok(Self::Texts),
            ("Flag", _) => Ok(Self::Flag),
            ("word", syn::PathArguments::AngleBracketed(arguments)) => match arguments.args.first() {
                Some(syn::GenericArgument::Type(ty)) => Ok(Self::Word(ty)),
                _ => Err(wrong()),
            },
            ("body", syn::PathArguments::AngleBracketed(arguments)) => match arguments.args.first() {
                Some(syn::GenericArgument::Type(ty)) => Ok(Self::Body(ty, argument.ok_or_else(wrong)?)),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }
}

/// The elements of `&[...]`.
fn elements(expr: &Expr) -> Result<Vec<&Expr>> {
    if let Expr::Reference(reference) = expr
        && let Expr::Array(array) = &*reference.expr
    {
        return Ok(array.elems.iter().collect());
    }
    Err(Error::new(expr.span(), "expected a list as it is written: `&[...]`"))
}

/// The last name of the called function, and the arguments, at least one.
fn call(expr: &Expr) -> Option<(&Ident, Vec<&Expr>)> {
    let Expr::Call(call) = expr else { return None };
    let Expr::Path(path) = &*call.func else { return None };
    let function = &path.path.segments.last()?.ident;
    (!call.args.is_empty()).then(|| (function, call.args.iter().collect()))
}

fn literal(expr: &Expr) -> Result<LitStr> {
    match expr {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Ok(text.clone()),
        other => Err(Error::new(other.span(), "expected a name in quotes")),
    }
}
