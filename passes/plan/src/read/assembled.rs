//! Values that are assembled of parts along one axis, as a row whose halves change places: each part moves within HBM.

use crate::read::{Reader, unplanned};
use crate::single::{Move, Part};
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::ops::constant::UNDEFINED;
use visa_mapping::ops::restrict::{Extract, Insert, Restrict};
use visa_mapping::tensor::value::{Value, one_axis};

/// Neighbouring coordinates of an axis of a value, under its first coordinates.
#[derive(Clone)]
pub(super) struct Piece {
    value: ValueId,
    axis: Arc<str>,
    first: u64,
    count: u64,
}

/// A value of which some parts are known, each with its first coordinate; the others are undefined.
#[derive(Clone, Default)]
pub(super) struct Assembly {
    parts: Vec<(u64, Piece)>,
}

impl Reader<'_> {
    /// Reads a value without an element, if parts are inserted into it; false if it is used otherwise.
    pub(super) fn begins_assembly(&mut self, op: OpRef<'_>) -> bool {
        let result = op.results()[0];
        let begins = op.is(&UNDEFINED) && self.is_inserted(result, 1);
        if begins {
            self.assemblies.insert(result, Assembly::default());
        }
        begins
    }

    /// Reads a part of an axis that is inserted elsewhere; false if it is another part.
    pub(super) fn extracts_piece(&mut self, op: Extract<'_>) -> Result<bool, Diagnostic> {
        let axis = one_axis(*op, "C1", "along", &*op.along()?).ok();
        let (Some(axis), Some(part), [value]) = (axis, op.part()?, op.operands()) else { return Ok(false) };
        let first = u64::try_from(op.index()?).ok();
        Ok(self.adds_piece(*op, (*value, axis), first.zip(self.count_of(&part, op.operands()[0]))))
    }

    /// Reads the first part of an axis that is inserted elsewhere; false if it is another part.
    pub(super) fn restricts_to_piece(&mut self, op: Restrict<'_>) -> Result<bool, Diagnostic> {
        let (value, to) = (op.operands()[0], op.to()?);
        let cut = self.cut_of(&to, value).map(|(axis, count)| (axis, (0, count)));
        Ok(cut.is_some_and(|(axis, bounds)| self.adds_piece(*op, (value, axis), Some(bounds))))
    }

    /// Reads the insertion of a part into an assembly. A complete one is a step. False if it is another insertion.
    pub(super) fn inserts_piece(&mut self, op: Insert<'_>) -> Result<bool, Diagnostic> {
        let &[part, whole] = op.operands() else { return Ok(false) };
        let (piece, assembly) = (self.pieces.get(&part).cloned(), self.assemblies.get(&whole).cloned());
        let (Some(piece), Some(mut assembly)) = (piece, assembly) else { return Ok(false) };
        let axis = one_axis(*op, "C1", "along", &*op.along()?).ok();
        let count = self.count_of(&*op.part()?, piece.value);
        let Ok(first) = u64::try_from(op.index()?) else { return Ok(false) };
        if axis.as_ref() != Some(&piece.axis) || count != Some(piece.count) {
            return Ok(false);
        }
        assembly.parts.push((first, piece));
        assembly.parts.sort_by_key(|(first, _)| *first);
        match self.is_complete(&assembly) {
            true => self.assembled(*op, assembly)?,
            false if self.is_inserted(op.results()[0], 1) => {
                self.assemblies.insert(op.results()[0], assembly);
            }
            false => {
                return Err(unplanned(*op, "parts that overlap or leave out coordinates of their axis"));
            }
        }
        Ok(true)
    }

    /// Notes a part of a value that is inserted elsewhere; false if it is used otherwise.
    fn adds_piece(
        &mut self,
        op: OpRef<'_>,
        (value, axis): (ValueId, Arc<str>),
        bounds: Option<(u64, u64)>,
    ) -> bool {
        let fits = |(first, count): &(u64, u64)| first + count <= self.size(&axis);
        let Some((first, count)) = bounds.filter(fits).filter(|_| self.is_inserted(op.results()[0], 0))
        else {
            return false;
        };
        self.pieces.insert(op.results()[0], Piece { value, axis, first, count });
        true
    }

    /// Returns true if only insertions use a value, as that operand.
    fn is_inserted(&self, value: ValueId, operand: usize) -> bool {
        let uses = self.module.uses(value);
        let inserts = |id: &_| {
            let user = self.module.op(self.ctx, *id);
            Insert::cast(user).is_some() && user.operands().get(operand) == Some(&value)
        };
        !uses.is_empty() && uses.iter().all(inserts)
    }

    /// The only axis of which a mapping holds the first coordinates alone, and their number; it holds all of the
    /// value's others.
    fn cut_of(&self, map: &Expr, value: ValueId) -> Option<(Arc<str>, u64)> {
        let ty = self.ctx.type_value::<Value>(self.module.ty(value))?;
        let mut cut = None;
        let mut axes = Vec::new();
        for term in map.terms() {
            let (inner, count) = match term {
                Expr::Modulo { inner, n: count } | Expr::Resize { inner, size: count } => {
                    (&**inner, Some(*count))
                }
                other => (other, None),
            };
            let Expr::Axis(axis) = inner else { return None };
            axes.push(Arc::clone(axis));
            if let Some(count) = count
                && cut.replace((Arc::clone(axis), count)).is_some()
            {
                return None;
            }
        }
        ty.axes.iter().all(|axis| axes.contains(axis)).then_some(cut).flatten()
    }

    /// The coordinates along the only axis of which a mapping holds the first ones alone.
    fn count_of(&self, map: &Expr, value: ValueId) -> Option<u64> {
        self.cut_of(map, value).map(|(_, count)| count)
    }

    /// Returns true if the parts follow each other, and are all of their axis.
    fn is_complete(&self, assembly: &Assembly) -> bool {
        let ends = assembly
            .parts
            .iter()
            .try_fold(0, |next, (first, piece)| (*first == next).then_some(next + piece.count));
        let axis = assembly.parts.first().map(|(_, piece)| self.size(&piece.axis));
        ends.is_some() && ends == axis
    }

    /// The step that moves the parts.
    fn assembled(&mut self, op: OpRef<'_>, assembly: Assembly) -> Result<(), Diagnostic> {
        self.close()?;
        let out = self.array(op.results()[0], &self.name(op.results()[0]), op)?;
        let Some(axis) = assembly.parts.first().map(|(_, piece)| Arc::clone(&piece.axis)) else {
            return Err(unplanned(op, "a value of no parts"));
        };
        let (mut parts, mut inputs) = (Vec::new(), Vec::new());
        for (_, piece) in assembly.parts {
            let number = self.number(op, piece.value)?;
            let array = self.arrays[number].clone();
            let same =
                array.axes.len() == out.axes.len() && array.axes.iter().all(|own| out.axes.contains(own));
            if !same || array.image.is_some() {
                return Err(unplanned(op, "parts of values with other axes"));
            }
            let input = inputs.iter().position(|own| *own == number).unwrap_or_else(|| {
                inputs.push(number);
                inputs.len() - 1
            });
            let (first, count) = (piece.first, piece.count);
            parts.push(Part::Tile { input, array: Box::new(array), first, count });
        }
        self.single(op, Move::Join { axis, parts }, out, inputs);
        Ok(())
    }
}
