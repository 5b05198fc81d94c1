//! `!tm.tensor`: a value of the tensor level, a function from the coordinates along its axes to elements. It has a
//! format and axes; it is in no memory, and its elements have no order.

use crate::tensor::{map_error, parse_dtype, split_fields};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::context::Context;
use visa_ir::decl::{Body, BodyDef, BodyError, make_type};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::level::Level;
use visa_ir::module::{OpRef, TypeId};
use visa_numerics::DType;

/// `!tm.tensor<f32, [M, N]>`.
pub static VALUE: BodyDef = BodyDef {
    name: "tm.tensor",
    syntax: "DTYPE, AXES",
    doc: "A tensor in no memory: an element for each combination of coordinates along its axes. `[1]` stands for no \
          axis, a single number. Along an axis that it lacks it is the same everywhere. The order of the axes \
          counts only for arrays: an argument or a result is an array with these dimensions, outermost first.",
    parse: |text| Value::parse(text).map(|value| Rc::new(value) as Rc<dyn Body>),
    level: Some(Level::Tensor),
    ..BodyDef::BASE
};

/// Most axes of a value.
pub const MAX_RANK: usize = 32;

/// The body of `!tm.tensor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Format of the elements.
    pub dtype: DType,
    /// The axes, outermost first in arrays; each once.
    pub axes: Vec<Arc<str>>,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes = if self.axes.is_empty() { "1".to_owned() } else { self.axes.join(", ") };
        write!(f, "{}, [{axes}]", self.dtype)
    }
}

impl Value {
    /// Reads `f32, [M, N]`.
    fn parse(text: &str) -> Result<Self, BodyError> {
        let mut fields = split_fields(text)?.into_iter();
        let dtype = parse_dtype(fields.next())?;
        let (Some((start, list)), None) = (fields.next(), fields.next()) else {
            let message = format!("found `{}`, expected a format and axes, as `f32, [M, N]`", text.trim());
            return Err(BodyError::new("tensor-axes", message));
        };
        let list = Expr::parse(list).map_err(|error| map_error(error, start))?;
        let axes = axis_list(&list).map_err(|message| BodyError::new("tensor-axes", message))?;
        Ok(Self { dtype, axes })
    }

    /// Returns true if it has an element for each coordinate along the axis.
    #[must_use]
    pub fn has(&self, axis: &str) -> bool {
        self.axes.iter().any(|own| **own == *axis)
    }
}

/// The names in a list of axes such as `[M, N]`; none for `[1]`.
///
/// # Errors
/// A term that is no axis, an axis that is there twice, or more than [`MAX_RANK`].
pub fn axis_list(list: &Expr) -> Result<Vec<Arc<str>>, String> {
    let terms = match list {
        Expr::Literal(1) => Vec::new(),
        Expr::Pair(terms) => terms.clone(),
        term => vec![term.clone()],
    };
    if terms.len() > MAX_RANK {
        return Err(format!("{}, at most {MAX_RANK} are taken", counted(terms.len(), "axis")));
    }
    let mut names: Vec<Arc<str>> = Vec::new();
    for term in terms {
        let Expr::Axis(name) = &term else {
            return Err(format!("`{term}` is no axis: expected names, as `[M, N]`, or `[1]` for none"));
        };
        if names.contains(name) {
            return Err(format!("axis `{name}` is there twice"));
        }
        names.push(Arc::clone(name));
    }
    Ok(names)
}

/// The one axis that a clause names.
///
/// # Errors
/// The constraint: a term that is no axis, or another number of axes.
pub fn one_axis(op: OpRef<'_>, constraint: &str, clause: &str, list: &Expr) -> Result<Arc<str>, Diagnostic> {
    let names = axis_list(list).map_err(|why| op.clause_error(constraint, clause, why))?;
    if let [name] = names.as_slice() {
        return Ok(Arc::clone(name));
    }
    Err(op.clause_error(constraint, clause, format!("{}, expected one", counted(names.len(), "axis"))))
}

/// The type of a value.
pub fn value_type(ctx: &Context, dtype: DType, axes: Vec<Arc<str>>) -> TypeId {
    make_type(ctx, &VALUE, Value { dtype, axes })
}

/// The result types of an operation whose result is a value.
///
/// # Errors
/// More than [`MAX_RANK`] axes.
pub fn value_result(op: OpRef<'_>, dtype: DType, axes: Vec<Arc<str>>) -> Result<Vec<TypeId>, Diagnostic> {
    if axes.len() <= MAX_RANK {
        return Ok(vec![value_type(op.ctx, dtype, axes)]);
    }
    let message = format!(
        "the result has {}: `{}`; at most {MAX_RANK} are taken",
        counted(axes.len(), "axis"),
        axes.join("`, `")
    );
    Err(Diagnostic::error("tensor-axes", op.span(), message))
}

/// The type of operand `index`, if it is at the tensor level.
#[must_use]
pub fn value_operand(op: OpRef<'_>, index: usize) -> Option<Rc<Value>> {
    op.operand_type(index)
}

/// The axes of some values together, in the order in which they first appear.
pub fn union_of_axes<'a>(values: impl IntoIterator<Item = &'a Value>) -> Vec<Arc<str>> {
    let mut axes: Vec<Arc<str>> = Vec::new();
    for axis in values.into_iter().flat_map(|value| &value.axes) {
        if !axes.contains(axis) {
            axes.push(Arc::clone(axis));
        }
    }
    axes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        (VALUE.parse)(text).map(|body| body.to_string()).map_err(|error| error.message)
    }

    #[test]
    fn text_is_canonical() {
        for (text, canonical) in [
            ("f32,[M,N]", "f32, [M, N]"),
            ("bf16, [M]", "bf16, [M]"),
            ("i32, [1]", "i32, [1]"),
            ("i32, [M, N']", "i32, [M, N']"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(canonical), "{text}");
        }
    }

    #[test]
    fn bad_text_is_refused() {
        for (text, part) in [
            ("", "expected a number format"),
            ("f32", "expected a format and axes"),
            ("[M]", "format"),
            ("f32, [M], [N]", "expected a format and axes"),
            ("f32, [M, M]", "axis `M` is there twice"),
            ("f32, [M / 2]", "`[M / 2]` is no axis"),
            ("f32, [2]", "is no axis"),
            ("f32, M", ""),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
        let axes: Vec<String> = (0..33).map(|at| format!("A{at}")).collect();
        assert!(read(&format!("f32, [{}]", axes.join(", "))).unwrap_err().contains("at most 32"));
        assert!(read(&format!("f32, [{}]", axes[..32].join(", "))).is_ok());
    }
}
