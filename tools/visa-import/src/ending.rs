//! Types of variables that follow from the last expression of the block.

use crate::value::Type;

/// The type of a variable that the block ends with, alone or in a tuple, where `ty` is wanted of the block.
pub(crate) fn type_by_end(name: &str, rest: &[syn::Stmt], ty: &Type) -> Option<Type> {
    let (last, others) = rest.split_last()?;
    // The block ends with another variable of the same name.
    if others.iter().any(|stmt| matches!(stmt, syn::Stmt::Local(local) if binds(&local.pat, name))) {
        return None;
    }
    match last {
        syn::Stmt::Expr(expr, None) => type_at(expr, name, ty),
        syn::Stmt::Expr(syn::Expr::Return(own), Some(_)) => type_at(own.expr.as_ref()?, name, ty),
        syn::Stmt::Expr(_, Some(_)) | syn::Stmt::Local(_) | syn::Stmt::Item(_) | syn::Stmt::Macro(_) => None,
    }
}

/// The part of a type that a variable is of an expression.
fn type_at(expr: &syn::Expr, name: &str, ty: &Type) -> Option<Type> {
    match (expr, ty) {
        (syn::Expr::Path(path), _) => path.path.is_ident(name).then(|| ty.clone()),
        (syn::Expr::Paren(inner), _) => type_at(&inner.expr, name, ty),
        (syn::Expr::Group(inner), _) => type_at(&inner.expr, name, ty),
        (syn::Expr::Reference(inner), _) => type_at(&inner.expr, name, ty),
        (syn::Expr::Unsafe(inner), _) => type_by_end(name, &inner.block.stmts, ty),
        (syn::Expr::Block(inner), _) => type_by_end(name, &inner.block.stmts, ty),
        (syn::Expr::Tuple(tuple), Type::Tuple(types)) if tuple.elems.len() == types.len() => {
            tuple.elems.iter().zip(types).find_map(|(own, ty)| type_at(own, name, ty))
        }
        _ => None,
    }
}

/// Returns true if a pattern makes a variable of that name.
fn binds(pat: &syn::Pat, name: &str) -> bool {
    match pat {
        syn::Pat::Ident(ident) => ident.ident == name,
        syn::Pat::Type(typed) => binds(&typed.pat, name),
        syn::Pat::Reference(inner) => binds(&inner.pat, name),
        syn::Pat::Paren(inner) => binds(&inner.pat, name),
        syn::Pat::Tuple(tuple) => tuple.elems.iter().any(|own| binds(own, name)),
        syn::Pat::TupleStruct(tuple) => tuple.elems.iter().any(|own| binds(own, name)),
        syn::Pat::Slice(slice) => slice.elems.iter().any(|own| binds(own, name)),
        syn::Pat::Struct(of) => of.fields.iter().any(|field| binds(&field.pat, name)),
        _ => false,
    }
}
