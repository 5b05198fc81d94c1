//! The body of a `linalg.generic`, element by element.

use crate::import::emit::elem::Elem;
use crate::import::emit::function::Function;
use crate::import::emit::narrow::select;
use crate::import::emit::scalar::scalar;
use crate::import::importer::Importer;
use crate::import::ops::choice;
use crate::import::ops::combine::{Combine, combined};
use crate::import::ops::composite::Nest;
use crate::import::ops::extract;
use crate::import::read::attributes::{Key, key, operations};
use crate::import::read::operations::{RegionOp, ScalarOp, TensorOp, known};
use crate::import::read::types;
use melior::ir::BlockRef;
use melior::ir::RegionLike as _;
use melior::ir::operation::{OperationLike as _, OperationRef};
use std::collections::{HashMap, HashSet};
use visa_ir::diag::Diagnostic;

/// The elements of a body's values.
pub(crate) struct Body<'c, 'a> {
    block: BlockRef<'c, 'a>,
    elems: HashMap<Key, Elem>,
    /// Values that depend on the element of a result before.
    carried: HashSet<Key>,
    /// The operation of each value.
    definitions: HashMap<Key, OperationRef<'c, 'a>>,
    /// Number of `scf.if` around the operation that is being read.
    branches: usize,
}

/// The deepest nesting of `scf.if`.
const MAX_BRANCHES: usize = 16;

impl<'c, 'a> Body<'c, 'a> {
    /// A body with the elements of its arguments; `carried` are arguments that hold the result before.
    pub(crate) fn new(block: BlockRef<'c, 'a>, elems: HashMap<Key, Elem>, carried: HashSet<Key>) -> Self {
        let mut body = Self { block, elems, carried, definitions: HashMap::new(), branches: 0 };
        for op in operations(block) {
            let depends = op.operands().any(|operand| body.carried.contains(&key(operand)));
            for result in op.results() {
                body.definitions.insert(key(result), op);
                if depends {
                    body.carried.insert(key(result));
                }
            }
        }
        body
    }

    /// The operation that defines a value of the body.
    pub(crate) fn definition(&self, value: Key) -> Option<OperationRef<'c, 'a>> {
        self.definitions.get(&value).copied()
    }

    /// Returns true if a value depends on the element of a result before.
    pub(crate) fn is_carried(&self, value: Key) -> bool {
        self.carried.contains(&value)
    }

    /// The element of a value; `None` if it is not computed.
    pub(crate) fn elem(&self, value: Key) -> Option<&Elem> {
        self.elems.get(&value)
    }

    /// The element of a value of the body, or of a scalar of the function.
    ///
    /// # Errors
    /// A value that depends on the result before it.
    pub(crate) fn value(&self, importer: &Importer<'_, '_>, value: Key) -> Result<Elem, Diagnostic> {
        let elem = self.elem(value).or_else(|| importer.known(value).map(|tensor| &tensor.elem));
        elem.cloned()
            .ok_or_else(|| importer.emit.refuse("a value of the body depends on the result before it"))
    }

    /// Computes all values but those that depend on the result before, and `left_out`.
    ///
    /// # Errors
    /// An operation that is not imported.
    pub(crate) fn compute(
        &mut self,
        importer: &mut Importer<'_, '_>,
        nest: &Nest,
        left_out: &HashSet<Key>,
    ) -> Result<(), Diagnostic> {
        for op in operations(self.block) {
            let Some(result) = op.results().next() else { continue };
            let result = key(result);
            if self.carried.contains(&result) || left_out.contains(&result) {
                continue;
            }
            importer.at(op);
            let elem = self.computed(importer, op, nest)?;
            let elem = if importer.uses(result) > 1 { importer.emit.built(&elem)? } else { elem };
            self.elems.insert(result, elem);
        }
        Ok(())
    }

    /// The element that an operation computes, also an `scf.if`: both of its branches are computed, and one is chosen.
    fn computed(
        &mut self,
        importer: &mut Importer<'_, '_>,
        op: OperationRef<'c, 'a>,
        nest: &Nest,
    ) -> Result<Elem, Diagnostic> {
        if known(op) != Some(TensorOp::If) {
            return self.operation(importer, op, nest);
        }
        let branches: Vec<_> = op.regions().filter_map(|region| region.first_block()).collect();
        let [then, otherwise] = branches.as_slice() else {
            return Err(importer
                .emit
                .refuse("`scf.if` in a body is imported with two branches and one result"));
        };
        let condition = op.operands().next().map(key);
        let condition = condition.ok_or_else(|| importer.emit.refuse("`scf.if` has no condition"))?;
        let condition = self.operand(importer, condition)?;
        self.branches += 1;
        let then = self.branch(importer, *then, nest)?;
        let otherwise = self.branch(importer, *otherwise, nest)?;
        self.branches -= 1;
        let kind = then.kind;
        if kind == types::Kind::F64 {
            return Err(importer.emit.double());
        }
        select(&mut importer.emit, &[&condition, &then, &otherwise], kind)
    }

    /// The element that a branch yields.
    fn branch(
        &mut self,
        importer: &mut Importer<'_, '_>,
        block: BlockRef<'c, 'a>,
        nest: &Nest,
    ) -> Result<Elem, Diagnostic> {
        if self.branches > MAX_BRANCHES {
            return Err(importer.emit.refuse(format!("`scf.if` nests deeper than {MAX_BRANCHES}")));
        }
        for op in operations(block) {
            importer.at(op);
            if known(op) == Some(RegionOp::Yield) {
                let operands: Vec<Key> = op.operands().map(key).collect();
                let &[yielded] = operands.as_slice() else {
                    return Err(importer.emit.refuse("`scf.if` in a body is imported with one result"));
                };
                return self.operand(importer, yielded);
            }
            let elem = self.computed(importer, op, nest)?;
            let elem = importer.emit.built(&elem)?;
            self.elems.extend(op.results().next().map(|result| (key(result), elem)));
        }
        Err(importer.emit.refuse("a branch of `scf.if` has no end"))
    }

    fn operation(
        &self,
        importer: &mut Importer<'_, '_>,
        op: OperationRef<'c, 'a>,
        nest: &Nest,
    ) -> Result<Elem, Diagnostic> {
        if known(op) == Some(RegionOp::Index) {
            return index(importer, op, nest);
        }
        let operands = op.operands().map(|operand| self.operand(importer, key(operand)));
        let args: Vec<Elem> = operands.collect::<Result<_, _>>()?;
        if known(op) == Some(ScalarOp::Select)
            && let Some((combine, [left, right])) = self.extreme(importer, op)
        {
            return combined(&mut importer.emit, combine, [&left, &right], left.kind);
        }
        if known(op) == Some(TensorOp::Extract) {
            return extract::element(importer, op, &args, self.branches > 0);
        }
        scalar(&mut importer.emit, op, &args)
    }

    /// The maximum or minimum that comparisons and choices of two elements of one kind are.
    fn extreme(&self, importer: &Importer<'_, '_>, op: OperationRef<'c, 'a>) -> Option<(Combine, [Elem; 2])> {
        let define = |value| self.definition(value);
        let value = op.results().next().map(key)?;
        let of = <[Key; 2]>::try_from(choice::leaves(&define, value, &[])).ok()?;
        let combine = Combine::of_extreme(choice::extreme(&define, value, of)?);
        let elems = of.map(|leaf| self.operand(importer, leaf).ok());
        let [Some(left), Some(right)] = elems else { return None };
        // Conditions have other signs, and `f64` is compared where its elements are checked.
        let is_plain = !matches!(left.kind, types::Kind::I1 | types::Kind::F64);
        (left.kind == right.kind && is_plain).then_some((combine, [left, right]))
    }

    /// The element of an operand: of the body, or a scalar of the function.
    fn operand(&self, importer: &Importer<'_, '_>, operand: Key) -> Result<Elem, Diagnostic> {
        let elem = self.elems.get(&operand).or_else(|| importer.known(operand).map(|tensor| &tensor.elem));
        elem.cloned().ok_or_else(|| importer.emit.refuse("an operand is not known"))
    }
}

/// The coordinate of a loop: that of its parts together, the last one counting fastest.
fn index(importer: &mut Importer<'_, '_>, op: OperationRef<'_, '_>, nest: &Nest) -> Result<Elem, Diagnostic> {
    let dim = op.attribute("dim").ok().and_then(crate::import::read::attributes::number);
    let Some(places) = dim.and_then(|dim| nest.places.get(dim as usize)) else {
        return Err(importer.emit.refuse("`linalg.index` of a loop that does not exist"));
    };
    let (kind, emit) = (types::Kind::Index, &mut importer.emit);
    let mut sum: Option<(Elem, i64)> = None;
    for &place in places {
        let Some(axis) = &nest.axes[place] else { continue };
        let size = nest.loops.extents[place] as i64;
        let coordinate = Elem::value(kind, emit.index(axis)?).with_range((0, size - 1));
        sum = Some(match sum {
            None => (coordinate, size),
            Some((outer, count)) => {
                let factor = Elem::number(kind, size as f64);
                let outer = emit.apply(Function::Mul, &[&outer, &factor], kind)?;
                let both = emit.apply(Function::Add, &[&outer, &coordinate], kind)?;
                (both.with_range((0, count * size - 1)), count * size)
            }
        });
    }
    Ok(sum.map_or_else(|| Elem::number(kind, 0.0), |(index, _)| index))
}
