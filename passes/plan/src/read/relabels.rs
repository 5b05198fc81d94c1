//! Elements under other axes, and parts of an axis: views and moves within HBM.

use crate::array::{Array, GROUP_BYTES};
use crate::program::Work;
use crate::read::{Reader, unplanned};
use crate::region::{Computation, Operation};
use crate::single::{Move, Part, Single};
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpId, OpRef, ValueId};
use visa_mapping::ops::func::RETURN;
use visa_mapping::ops::rename::{self, Merge, Rearrange, Rename, Split};
use visa_mapping::ops::restrict::{CONCAT, Concat, EXTEND, Extend};
use visa_mapping::tensor::value::{axis_list, one_axis};

/// Axes of an operand, and those that count the same elements in the result.
pub(super) type Exchange = (Vec<Arc<str>>, Vec<Arc<str>>);

impl Reader<'_> {
    /// Reads an operation that gives elements other axes or joins parts; false if it is another one.
    pub(super) fn relabels(&mut self, op: OpRef<'_>) -> Result<bool, Diagnostic> {
        let list =
            |map: &Expr| axis_list(map).map_err(|why| unplanned(op, &format!("axes that are none: {why}")));
        if op.is(&rename::RENAME) {
            let own = Rename::of(op)?;
            let pairs = list(&*own.axes()?)?.into_iter().zip(list(&*own.to()?)?);
            let exchanges: Vec<Exchange> = pairs.map(|(from, to)| (vec![from], vec![to])).collect();
            self.exchange(op, &exchanges)?;
        } else if op.is(&rename::SPLIT) {
            let own = Split::of(op)?;
            self.exchange(op, &[(list(&*own.axis()?)?, list(&*own.to()?)?)])?;
        } else if op.is(&rename::MERGE) {
            let own = Merge::of(op)?;
            self.exchange(op, &[(list(&*own.axes()?)?, list(&*own.to()?)?)])?;
        } else if op.is(&rename::REARRANGE) {
            let own = Rearrange::of(op)?;
            if !self.permutes(own)? {
                self.windows(own)?;
            }
        } else if op.is(&rename::BROADCAST) {
            self.broadcast(op)?;
        } else if op.is(&CONCAT) {
            self.concat(Concat::of(op)?)?;
        } else if op.is(&EXTEND) {
            self.extend(Extend::of(op)?)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// A value with further axes: a pipeline repeats its elements.
    fn broadcast(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let value = op.operands()[0];
        if let Some(&number) = self.constants.get(&value) {
            self.constants.insert(op.results()[0], number);
            return Ok(());
        }
        self.begin(op, &[])?;
        let operand = self.slot(op, value)?;
        let result = self.result(op)?;
        let computation = Computation::Map { expression: None, operands: vec![operand], cast: None };
        self.region.operations.push(Operation { computation, result });
        Ok(())
    }

    /// Elements under other axes.
    pub(super) fn exchange(&mut self, op: OpRef<'_>, exchanges: &[Exchange]) -> Result<(), Diagnostic> {
        let (value, result) = (op.operands()[0], op.results()[0]);
        if let Some(&number) = self.constants.get(&value) {
            self.constants.insert(result, number);
            return Ok(());
        }
        self.close()?;
        let number = self.number(op, value)?;
        let source = self.arrays[number].clone();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for axis in &source.axes {
            let (from, to) = match exchanges.iter().find(|(from, _)| from.contains(axis)) {
                Some((from, _)) if from.first() != Some(axis) => continue,
                Some((from, to)) => (from.clone(), to.clone()),
                None => (vec![Arc::clone(axis)], vec![Arc::clone(axis)]),
            };
            before.push(Expr::pair(from.iter().map(|axis| Expr::axis(axis))));
            after.push(Expr::pair(to.iter().map(|axis| Expr::axis(axis))));
        }
        let out = self.relabelled(op, result, &source, &after)?;
        self.single(op, Move::Relabel { source, before, after }, out, vec![number]);
        Ok(())
    }

    /// Appends a step that gives the elements of an array other axes, or another order of them. Returns the number of
    /// its array, whose name ends with `role`.
    pub(super) fn under(
        &mut self,
        op: OpRef<'_>,
        number: usize,
        [before, after]: [Vec<Expr>; 2],
        (role, axes): (&str, Vec<Arc<str>>),
    ) -> usize {
        let source = self.arrays[number].clone();
        // Rows of several axes stay where they are as rows of one.
        let inner = &source.axes[source.axes.len().saturating_sub(source.joined)..];
        let whole = matches!(after.last(), Some(Expr::Axis(last)) if self.size(last) == self.count(inner));
        let row = (source.joined > 1 && whole)
            .then(|| source.joined_pitch(self.count(inner), self.count(inner.get(1..).unwrap_or_default())));
        let unit = if source.joined > 1 && !whole { GROUP_BYTES } else { source.unit };
        let name = format!("{}_{role}", source.name);
        let out = Array { name, axes, joined: 1, row, unit, ..source.clone() };
        self.arrays.push(out.clone());
        let result = self.arrays.len() - 1;
        let work = Work::Single(Box::new(Single { kind: Move::Relabel { source, before, after }, out }));
        self.push(work, vec![number], vec![result], op);
        result
    }

    /// Returns true if the order of a result's axes is that of its type: the function returns it, or shares it with
    /// others.
    pub(super) fn has_typed_order(&self, result: ValueId) -> bool {
        let returns = |user: &OpId| self.module.op(self.ctx, *user).is(&RETURN);
        self.shared.has(result) || self.module.uses(result).iter().any(returns)
    }

    /// The array of a result whose elements have the axes `after`: in this order, but for a result of the function,
    /// whose order is that of its type.
    fn relabelled(
        &self,
        op: OpRef<'_>,
        result: ValueId,
        source: &Array,
        after: &[Expr],
    ) -> Result<Array, Diagnostic> {
        let typed = self.array(result, &self.name(result), op)?;
        let natural = after.iter().flat_map(|term| term.axis_names(self.axes)).collect();
        let axes = if self.has_typed_order(result) { typed.axes } else { natural };
        let row = source.row.filter(|_| axes.last() == source.axes.last());
        // Rows of an axis stay where they are as rows of its digits.
        let digits = after.last().map_or_else(Vec::new, |last| self.long(&last.axis_names(self.axes)));
        let count = self.count(&digits);
        let stays = digits.len() > 1
            && !self.shared.has(result)
            && axes.ends_with(&digits)
            && source.pitch(count) == source.joined_pitch(count, self.count(&digits[1..]));
        let joined = if stays { digits.len() } else { source.joined };
        Ok(Array { name: typed.name, axes, row, joined, ..source.clone() })
    }

    /// Values one after the other along an axis.
    fn concat(&mut self, op: Concat<'_>) -> Result<(), Diagnostic> {
        self.close()?;
        let axis = one_axis(*op, "C1", "to", &*op.to()?)?;
        let axes = match &*op.axes()? {
            Expr::Pair(terms) => terms.clone(),
            single => vec![single.clone()],
        };
        let (mut parts, mut inputs) = (Vec::new(), Vec::new());
        for (&value, own) in op.operands().iter().zip(axes) {
            let own = one_axis(*op, "C1", "axes", &own)?;
            let number = self.number(*op, value)?;
            let input = inputs.iter().position(|own| *own == number).unwrap_or_else(|| {
                inputs.push(number);
                inputs.len() - 1
            });
            parts.push(Part::Input { input, array: Box::new(self.arrays[number].clone()), axis: own });
        }
        self.joined(*op, axis, parts, inputs)
    }

    /// A value with a number around it.
    fn extend(&mut self, op: Extend<'_>) -> Result<(), Diagnostic> {
        self.close()?;
        let (from, to) = (one_axis(*op, "C1", "axis", &*op.axis()?)?, one_axis(*op, "C1", "to", &*op.to()?)?);
        let number = self.number(*op, op.operands()[0])?;
        let first =
            u64::try_from(op.from()?).map_err(|_| unplanned(*op, "an extension from a negative position"))?;
        let rest = self.size(&to).saturating_sub(first + self.size(&from));
        let around = op.with()?.0;
        let input = Part::Input { input: 0, array: Box::new(self.arrays[number].clone()), axis: from };
        let parts = [Part::Number(around, first), input, Part::Number(around, rest)];
        let present = |part: &Part| !matches!(part, Part::Number(_, 0));
        self.joined(*op, to, parts.into_iter().filter(present).collect(), vec![number])
    }

    /// A step that joins parts along an axis.
    fn joined(
        &mut self,
        op: OpRef<'_>,
        axis: Arc<str>,
        parts: Vec<Part>,
        inputs: Vec<usize>,
    ) -> Result<(), Diagnostic> {
        let out = self.array(op.results()[0], &self.name(op.results()[0]), op)?;
        self.single(op, Move::Join { axis, parts }, out, inputs);
        Ok(())
    }
}
