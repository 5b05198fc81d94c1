//! Parts of arrays along whole axes: a layer of the weights of all layers, and a layer that is replaced.

use crate::array::Array;
use crate::program::{Cut, Item, same_layout};
use crate::read::{Extracted, Reader, unplanned};
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{Expr, PadKind};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::ops::restrict::{EXTRACT, Extract, INSERT, Insert, RESTRICT, Restrict};
use visa_mapping::tensor::value::{Value, axis_list};

impl Reader<'_> {
    /// Reads an operation on parts of a value; false if it is another one.
    pub(super) fn parts(&mut self, op: OpRef<'_>) -> Result<bool, Diagnostic> {
        if op.is(&EXTRACT) {
            let own = Extract::of(op)?;
            if !self.extracts_piece(own)? {
                self.extract(own)?;
            }
        } else if op.is(&RESTRICT) {
            let own = Restrict::of(op)?;
            if !self.restricts_to_piece(own)? {
                self.close()?;
                self.restrict(own)?;
            }
        } else if op.is(&INSERT) {
            let own = Insert::of(op)?;
            if !self.inserts_piece(own)? {
                self.close()?;
                self.insert(own)?;
            }
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// The axes that are cut, each as a whole.
    fn cut_axes(op: OpRef<'_>, along: &Expr) -> Result<Vec<Arc<str>>, Diagnostic> {
        axis_list(along).map_err(|_| {
            let message =
                format!("the planner has no step for a part along `{along}`: it cuts whole axes alone");
            let fix = "divide the axis with `tm.split` before, and cut along its outer part".to_owned();
            Diagnostic::error("plan-kernel", op.span(), message).fix(fix)
        })
    }

    /// Returns true if a mapping of coordinates has those of one position of the axes that are cut, and all others.
    fn holds_all(part: &Expr, cut: &[Arc<str>]) -> bool {
        let of_cut = |inner: &Expr| cut.iter().any(|axis| *inner == Expr::axis(axis));
        part.terms().into_iter().all(|term| {
            matches!(term, Expr::Axis(_) | Expr::Literal(1))
                || matches!(term, Expr::Modulo { inner, .. } if of_cut(inner))
        })
    }

    /// A part whose only uses leave out the axes that are cut.
    fn extract(&mut self, op: Extract<'_>) -> Result<(), Diagnostic> {
        let along = op.along()?;
        let axes = Self::cut_axes(*op, &along)?;
        let all = op.part()?.is_none_or(|part| Self::holds_all(&part, &axes));
        let result = op.results()[0];
        let leaves_out = |id: &_| {
            let user = self.module.op(self.ctx, *id);
            user.result_type::<Value>(0)
                .is_some_and(|ty| user.is(&RESTRICT) && axes.iter().all(|axis| !ty.has(axis)))
        };
        if !all || !self.module.uses(result).iter().all(leaves_out) {
            let message =
                format!("the planner has no step for `tm.extract` whose result has an axis of `{along}`");
            let fix = "leave the axis out: `tm.restrict` of the result to its other axes, and nothing else";
            return Err(Diagnostic::error("plan-kernel", op.span(), message).fix(fix.to_owned()));
        }
        let (value, numbers) = (op.operands()[0], op.operands()[1..].to_vec());
        self.extracted.insert(result, Extracted { value, along, axes, numbers, index: op.index()? });
        Ok(())
    }

    /// A value without some axes: those at one of their positions.
    fn restrict(&mut self, op: Restrict<'_>) -> Result<(), Diagnostic> {
        let (value, to, result) = (op.operands()[0], op.to()?, op.results()[0]);
        let (typed, kept) = (self.array(result, &self.name(result), *op)?, axis_list(&to));
        let before = self.extracted.get(&value).cloned();
        let source = before.as_ref().map_or(value, |before| before.value);
        let whole = self.number(*op, source)?;
        let own = self.arrays[whole].clone();
        let gone: Vec<Arc<str>> =
            own.axes.iter().filter(|axis| typed.position(axis).is_none()).cloned().collect();
        if kept.is_err() || gone.is_empty() {
            return Err(unplanned(*op, &format!("a restriction to `{to}`, which is no list of axes")));
        }
        let cut = before.unwrap_or_else(|| Extracted {
            value,
            along: Rc::new(Expr::pair(gone.iter().map(|axis| Expr::axis(axis)))),
            axes: gone.clone(),
            numbers: Vec::new(),
            index: 0,
        });
        if gone.iter().any(|axis| !cut.axes.contains(axis)) {
            let message = format!("the planner has no step for a restriction of `tm.extract` to `{to}`");
            let fix = format!("cut along each axis that is left out: `along [{}]`", gone.join(", "));
            return Err(Diagnostic::error("plan-kernel", op.span(), message).fix(fix));
        }
        let kept: Vec<Arc<str>> = own.axes.iter().filter(|axis| !gone.contains(axis)).cloned().collect();
        let part = Array { name: typed.name.clone(), axes: kept, ..own.clone() };
        let outer = own.axes[..gone.len()].iter().all(|axis| gone.contains(axis));
        let view = outer && self.has_layout_of_part(&own, &part);
        let number = self.add(result, part.clone());
        self.aliases.insert(number, whole);
        self.views.insert(number);
        self.cuts.insert(number);
        let element = if view { part.layout(self.axes) } else { self.first_positions(&own, &cut.axes) };
        let element = Rc::new(element);
        let Extracted { along, numbers, index, .. } = cut;
        self.items.push(Item::Tile(Cut { op: op.id, whole, along, numbers, index, element, result: number }));
        if !view || !same_layout(&part, &typed) {
            let copy = self.copy(number, &typed, *op);
            self.known.insert(result, copy);
        }
        Ok(())
    }

    /// Returns true if the layout of an array without its outer axes is that of `part`.
    fn has_layout_of_part(&self, own: &Array, part: &Array) -> bool {
        let (whole, part) = (own.layout(self.axes), part.layout(self.axes));
        let (whole, part) = (whole.terms(), part.terms());
        whole.len() >= part.len() && whole[whole.len() - part.len()..] == part[..]
    }

    /// The layout of an array of which axes that are cut have their first position alone, at the distances of all.
    fn first_positions(&self, own: &Array, cut: &[Arc<str>]) -> Expr {
        let is_cut = |term: &Expr| cut.iter().any(|axis| *term == Expr::axis(axis));
        let layout = own.layout(self.axes);
        let terms = layout.terms().into_iter().map(|term| match term {
            Expr::Pad { inner, size, kind, .. } if is_cut(inner) => {
                (**inner).clone().resize(1).pad(*size, *kind)
            }
            Expr::Axis(axis) if is_cut(term) => term.clone().resize(1).pad(self.size(axis), PadKind::Top),
            term => term.clone(),
        });
        Expr::pair(terms)
    }

    /// A value with a part replaced, in place if nothing reads it afterwards.
    fn insert(&mut self, op: Insert<'_>) -> Result<(), Diagnostic> {
        let (along, index, result) = (op.along()?, op.index()?, op.results()[0]);
        let axes = Self::cut_axes(*op, &along)?;
        let (part, whole) = (self.number(*op, op.operands()[0])?, self.number(*op, op.operands()[1])?);
        let typed = self.array(result, &self.name(result), *op)?;
        let has = |axis: &Arc<str>| axes.contains(axis) != (self.arrays[part].position(axis).is_some());
        if !Self::holds_all(&*op.part()?, &axes) || !typed.axes.iter().all(has) {
            let message = format!("the planner has no step for a part along `{along}` that is not all of it");
            let fix =
                "insert a value with each other axis of the whole, and without those that are cut".to_owned();
            return Err(Diagnostic::error("plan-kernel", op.span(), message).fix(fix));
        }
        let stays = self.is_last_use(op.operands()[1], whole, *op);
        let whole = self.stored(whole, &typed, stays, *op);
        let element = Rc::new(self.first_positions(&typed, &axes));
        let number = self.add(result, typed);
        self.aliases.insert(number, whole);
        let numbers = op.operands()[2..].to_vec();
        let cut = Cut { op: op.id, whole, along, numbers, index, element, result: number };
        self.items.push(Item::Insert(cut, part));
        Ok(())
    }
}
