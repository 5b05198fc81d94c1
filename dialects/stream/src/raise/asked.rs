//! The elements that the users of a value ask for, in a kernel with open clauses: they decide which axes a sum keeps
//! that does not name the summed ones.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use visa_algebra::{Axes, AxisId, Expr};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::coverage::Coverage;
use visa_mapping::ops::to_tile::{self, TileWrite};
use visa_mapping::ops::view::Tile;
use visa_mapping::raise::Raising;
use visa_mapping::raise::open::OpenTypes;
use visa_mapping::raise::sets::Set;
use visa_mapping::view::{self, ViewKind};
use visa_mapping::{Dim, Tensor, operand};

/// The axes along which an operation sums elements of its first operand.
pub enum Along {
    /// Those that its clauses name.
    Named(BTreeSet<AxisId>),
    /// All that its result lacks.
    Lacking,
    /// All of slices that its result lacks.
    LackingInSlices,
}

/// Interface of sums: their axes, by their clauses.
pub struct SumsAlong(pub fn(OpRef<'_>, &Axes) -> Along);

/// Interface of operations that write their first operand into a part of a tensor: that part.
pub struct WritesPart(pub fn(OpRef<'_>) -> Result<Tensor, Diagnostic>);

/// The axes of a sum; `None` if the operation is none.
fn along(op: OpRef<'_>, axes: &Axes) -> Option<Along> {
    op.decl()?.interface::<SumsAlong>().map(|SumsAlong(along)| along(op, axes))
}

/// The axes that a sum names; `None` if it names none.
pub(super) fn named(op: OpRef<'_>, axes: &Axes) -> Option<BTreeSet<AxisId>> {
    match along(op, axes)? {
        Along::Named(names) => Some(names),
        Along::Lacking | Along::LackingInSlices => None,
    }
}

/// The coordinates along axes that are asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// The coordinates along each axis.
    pub(super) along: BTreeMap<AxisId, Set>,
    /// True if no others are.
    pub(super) all: bool,
}

impl Asked {
    /// The coordinates that one of two users asks for. If all of one are known, the other one asks for no more.
    fn or(mut self, other: Self) -> Self {
        for (axis, set) in other.along {
            let both = match self.along.get(&axis) {
                Some(own) => {
                    let marks = own.marks().iter().zip(set.marks()).map(|(&own, &other)| own || other);
                    Set::of(&marks.collect::<Vec<_>>())
                }
                None => set,
            };
            self.along.insert(axis, both);
        }
        Self { all: self.all || other.all, ..self }
    }

    /// The same with all coordinates along an axis.
    fn with_whole(mut self, axis: AxisId, op: OpRef<'_>, axes: &Axes) -> Result<Self, Diagnostic> {
        self.along.insert(axis, Set::all(axes, axis, op.span())?);
        Ok(self)
    }
}

/// The coordinates of an operation's result that its type asks for, or else its users.
///
/// # Errors
/// A type whose mappings are wrong.
pub(super) fn of_result(cx: &Raising<'_>, op: OpRef<'_>) -> Result<Asked, Diagnostic> {
    let users = Users { cx, types: cx.open_types().unwrap_or_default() };
    op.results().first().map_or_else(|| Ok(Asked::default()), |&result| users.of(op, result))
}

/// The same for a sum over time: if its users ask for an unknown part, the coordinates of its time and packet, where
/// both are explicit.
///
/// # Errors
/// A type whose mappings are wrong.
pub(super) fn of_sum(cx: &Raising<'_>, op: OpRef<'_>) -> Result<Asked, Diagnostic> {
    let asked = of_result(cx, op)?;
    let users = Users { cx, types: cx.open_types().unwrap_or_default() };
    let Some((&result, tensor)) = op.results().first().zip(op.result_type::<Tensor>(0)) else {
        return Ok(asked);
    };
    let is_open = |dim: Dim| users.types.is_open(result, dim);
    if asked.all || is_open(Dim::Time) || is_open(Dim::Packet) {
        return Ok(asked);
    }
    Ok(asked.or(users.of_map(op, &Expr::pair([tensor.dim(Dim::Time), tensor.dim(Dim::Packet)]))?))
}

/// The users of values in a kernel.
struct Users<'a, 'b> {
    cx: &'a Raising<'b>,
    types: Rc<OpenTypes>,
}

impl Users<'_, '_> {
    /// The coordinates that a value has by its type, or that its users ask for.
    fn of(&self, op: OpRef<'_>, value: ValueId) -> Result<Asked, Diagnostic> {
        let tensor = op.ctx.type_value::<Tensor>(op.module.ty(value));
        if let Some(tensor) = tensor.filter(|_| self.types.is_explicit(value)) {
            return self.of_type(op, &tensor);
        }
        // Of another operand than the first a user may take less than its result has.
        let users = op.module.uses(value).iter().map(|&user| op.other(user));
        let mut streams = users.filter(|user| user.operands().first() == Some(&value));
        streams.try_fold(Asked::default(), |asked, user| Ok(asked.or(self.of_user(user)?)))
    }

    fn of_type(&self, op: OpRef<'_>, tensor: &Tensor) -> Result<Asked, Diagnostic> {
        self.of_coverage(op, &Coverage::new(tensor, self.cx.axes, op.span())?)
    }

    fn of_map(&self, op: OpRef<'_>, map: &Expr) -> Result<Asked, Diagnostic> {
        self.of_coverage(op, &Coverage::of_map(map, self.cx.axes, op.span())?)
    }

    fn of_coverage(&self, op: OpRef<'_>, held: &Coverage) -> Result<Asked, Diagnostic> {
        let set = |axis| {
            let size = Set::all(self.cx.axes, axis, op.span())?.len();
            Ok((axis, Set::of(&held.held(axis, size))))
        };
        Ok(Asked { along: held.axes().map(set).collect::<Result<_, Diagnostic>>()?, all: true })
    }

    /// The coordinates of its first operand that a user asks for.
    fn of_user(&self, user: OpRef<'_>) -> Result<Asked, Diagnostic> {
        let axes = self.cx.axes;
        let Some(&result) = user.results().first() else { return Ok(Asked::default()) };
        let asked = match part(user, axes)? {
            Some(part) => self.of_type(user, &part)?,
            None => self.of(user, result)?,
        };
        let asked = match view::kind(user) {
            Some(kind) => self.of_source(user, kind, asked)?,
            None => asked,
        };
        match along(user, axes) {
            None => Ok(asked),
            Some(Along::Named(names)) => {
                names.into_iter().try_fold(asked, |asked, axis| asked.with_whole(axis, user, axes))
            }
            Some(Along::Lacking) => Ok(Asked { all: false, ..asked }),
            Some(Along::LackingInSlices) => match self.slices(user)? {
                Some(slices) => Ok(Asked { all: asked.all, ..asked.or(slices) }),
                None => Ok(Asked { all: false, ..asked }),
            },
        }
    }

    /// The coordinates of its source that a view asks for, of which its result is asked for `asked`.
    fn of_source(&self, view: OpRef<'_>, kind: ViewKind, asked: Asked) -> Result<Asked, Diagnostic> {
        let axes = self.cx.axes;
        match kind {
            ViewKind::Slice | ViewKind::Padding => Ok(asked),
            ViewKind::Tile => {
                let along = ids(&*Tile::of(view)?.along()?, axes);
                along.into_iter().try_fold(asked, |asked, axis| asked.with_whole(axis, view, axes))
            }
            ViewKind::Transpose => {
                let pairs = view::renaming(view, axes)?;
                let old =
                    |axis: AxisId| pairs.iter().find(|(_, to)| *to == axis).map_or(axis, |(from, _)| *from);
                let along = asked.along.into_iter().map(|(axis, set)| (old(axis), set)).collect();
                Ok(Asked { along, ..asked })
            }
            ViewKind::Reshape | ViewKind::Window | ViewKind::Relabel => {
                let seen = view.result_type::<Tensor>(0).map(|seen| ids(&seen.dim(Dim::Element), axes));
                let seen = seen.unwrap_or_default();
                let along = asked.along.into_iter().filter(|(axis, _)| !seen.contains(axis)).collect();
                let others = Asked { along, all: false };
                // The same positions under other axes: those of the source's layout, if that is explicit.
                let source =
                    view.operands().first().filter(|&&source| !self.types.is_open(source, Dim::Element));
                match source.and_then(|_| operand(view, 0)) {
                    Some(source) => {
                        let source = self.of_map(view, &source.dim(Dim::Element))?;
                        Ok(Asked { all: asked.all, ..others.or(source) })
                    }
                    None => Ok(others),
                }
            }
        }
    }

    /// The coordinates in the slices of an operation's first operand, if they are explicit.
    fn slices(&self, op: OpRef<'_>) -> Result<Option<Asked>, Diagnostic> {
        let value = op.operands().first().filter(|&&value| !self.types.is_open(value, Dim::Slice));
        let tensor = value.and_then(|_| operand(op, 0));
        tensor.map(|tensor| self.of_map(op, &tensor.dim(Dim::Slice))).transpose()
    }
}

/// The part of a tensor that an operation writes its first operand into.
fn part(op: OpRef<'_>, axes: &Axes) -> Result<Option<Tensor>, Diagnostic> {
    if let Some(WritesPart(part)) = op.decl().and_then(|decl| decl.interface()) {
        return part(op).map(Some);
    }
    TileWrite::cast(op).map(|write| to_tile::part(write, axes)).transpose()
}

/// The axes that a mapping names.
fn ids(map: &Expr, axes: &Axes) -> BTreeSet<AxisId> {
    map.axis_names(axes).iter().filter_map(|name| axes.id(name)).collect()
}
