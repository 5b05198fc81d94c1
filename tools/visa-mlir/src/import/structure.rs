//! The axes of a module, from all of its operations, before any is built.

use crate::import::emit::axes::{Axes, Classes, Dim};
use crate::import::read::attributes::{Key, key, name, op_key, operations, reassociation, symbol};
use crate::import::read::loops::{Linear, Loops};
use crate::import::read::operations::{FUNC, TensorOp, known};
use crate::import::read::types;
use melior::ir::RegionLike as _;
use melior::ir::block::BlockLike as _;
use melior::ir::operation::{OperationLike as _, OperationRef};
use melior::ir::{BlockRef, Value, ValueLike as _};
use std::collections::HashMap;

/// The dimensions of all values and operations, and the number of uses of each value.
#[derive(Default)]
pub(crate) struct Structure {
    classes: Classes,
    values: HashMap<Key, Vec<Dim>>,
    loops: HashMap<Key, Vec<Dim>>,
    uses: HashMap<Key, usize>,
    /// The dimensions that were collapsed to each dimension of a value, if there are several of them.
    parts: HashMap<Key, Vec<Vec<Dim>>>,
    /// The results of each function.
    results: HashMap<String, Vec<Vec<Dim>>>,
    arguments: HashMap<String, Vec<Vec<Dim>>>,
}

/// The dimensions of a [`Structure`] by value and operation, for later steps.
pub(crate) struct Dims {
    pub(crate) values: HashMap<Key, Vec<Dim>>,
    pub(crate) loops: HashMap<Key, Vec<Dim>>,
    pub(crate) uses: HashMap<Key, usize>,
}

impl Structure {
    /// Reads all functions. Operations whose types are refused later have no dimensions.
    pub(crate) fn of(body: BlockRef<'_, '_>) -> (Dims, Axes) {
        let mut structure = Self::default();
        for function in operations(body) {
            if name(function) == FUNC {
                structure.declare(function);
            }
        }
        for function in operations(body) {
            let name = symbol(function, "sym_name").unwrap_or_default();
            let blocks = function.regions().next().and_then(|region| region.first_block());
            if let Some(block) = blocks {
                structure.block(&name, block);
            }
        }
        let dims = Dims { values: structure.values, loops: structure.loops, uses: structure.uses };
        (dims, Axes::new(structure.classes))
    }

    /// The dimensions of a function's arguments and results.
    fn declare(&mut self, function: OperationRef<'_, '_>) {
        let Some(name) = symbol(function, "sym_name") else { return };
        let block = function.regions().next().and_then(|region| region.first_block());
        let Some(block) = block else { return };
        let mut arguments = Vec::new();
        for at in 0..block.argument_count() {
            if let Ok(argument) = block.argument(at) {
                arguments.push(self.value(argument.into()));
            }
        }
        let returned = block.terminator().map(|end| end.operands().collect::<Vec<_>>()).unwrap_or_default();
        let results = returned.into_iter().map(|value| self.fresh(value)).collect();
        self.arguments.insert(name.clone(), arguments);
        self.results.insert(name, results);
    }

    fn fresh(&mut self, value: Value<'_, '_>) -> Vec<Dim> {
        let sizes = types::tensor(value.r#type()).map(|(_, sizes)| sizes).unwrap_or_default();
        self.classes.group(&sizes)
    }

    /// The dimensions of a value.
    fn value(&mut self, value: Value<'_, '_>) -> Vec<Dim> {
        if let Some(dims) = self.values.get(&key(value)) {
            return dims.clone();
        }
        let dims = self.fresh(value);
        self.values.insert(key(value), dims.clone());
        dims
    }

    fn block(&mut self, function: &str, block: BlockRef<'_, '_>) {
        for op in operations(block) {
            for operand in op.operands() {
                *self.uses.entry(key(operand)).or_default() += 1;
            }
            self.operation(function, op);
            for region in op.regions() {
                let Some(inner) = region.first_block() else { continue };
                match known(op) {
                    Some(TensorOp::For) => self.iterations(function, op, inner),
                    Some(_) | None => self.count(inner),
                }
            }
        }
    }

    /// The values that the iterations of a loop pass on have the same dimensions.
    fn iterations(&mut self, function: &str, op: OperationRef<'_, '_>, block: BlockRef<'_, '_>) {
        self.block(function, block);
        let yielded = block.terminator().map(|end| end.operands().collect::<Vec<_>>()).unwrap_or_default();
        let passed = op.operands().skip(3).zip(op.results()).zip(yielded);
        for (at, ((operand, result), yielded)) in passed.enumerate() {
            let dims = self.value(result.into());
            self.same(operand, &dims);
            self.same(yielded, &dims);
            if let Ok(argument) = block.argument(at + 1) {
                self.same(argument.into(), &dims);
            }
        }
    }

    /// Counts the uses in a body and in the branches of its operations.
    fn count(&mut self, block: BlockRef<'_, '_>) {
        for op in operations(block) {
            for operand in op.operands() {
                *self.uses.entry(key(operand)).or_default() += 1;
            }
            let branches = op.regions().filter_map(|region| region.first_block());
            branches.for_each(|branch| self.count(branch));
        }
    }

    fn operation(&mut self, function: &str, op: OperationRef<'_, '_>) {
        // An operation on elements has no dimensions; any other one is refused when it is imported.
        let Some(read) = known::<TensorOp>(op) else { return };
        match read {
            TensorOp::Generic => self.generic(op),
            TensorOp::Return => {
                let results = self.results.get(function).cloned().unwrap_or_default();
                for (operand, dims) in op.operands().zip(results) {
                    self.same(operand, &dims);
                }
            }
            TensorOp::Call => self.call(op),
            TensorOp::Reshape => self.reshape(op),
            TensorOp::CollapseShape => {
                self.reshape(op);
                self.collapse(op);
            }
            TensorOp::ExpandShape => {
                self.reshape(op);
                self.expand(op);
            }
            TensorOp::Softmax
            | TensorOp::Fill
            | TensorOp::Cast
            | TensorOp::Pad
            | TensorOp::ExtractSlice
            | TensorOp::InsertSlice
            | TensorOp::Insert
            | TensorOp::Concat => {
                if let Some(result) = op.results().next() {
                    let dims = self.value(result.into());
                    let tensors: Vec<_> = op.operands().collect();
                    for operand in tensors {
                        self.same(operand, &dims);
                    }
                }
            }
            TensorOp::Constant
            | TensorOp::Empty
            | TensorOp::Splat
            | TensorOp::Gather
            | TensorOp::FromElements
            | TensorOp::Generate
            | TensorOp::Pack
            | TensorOp::Unpack
            | TensorOp::Rank
            | TensorOp::Extract
            | TensorOp::Dim
            | TensorOp::If
            | TensorOp::For => {}
        }
    }

    /// Makes equal dimensions of the same number one axis.
    fn same(&mut self, value: Value<'_, '_>, dims: &[Dim]) {
        let own = self.value(value);
        if own.len() == dims.len() {
            own.iter().zip(dims).for_each(|(&left, &right)| self.classes.unite(left, right));
        }
    }

    fn call(&mut self, op: OperationRef<'_, '_>) {
        let Some(callee) = symbol(op, "callee") else { return };
        let arguments = self.arguments.get(&callee).cloned().unwrap_or_default();
        for (operand, dims) in op.operands().zip(arguments) {
            self.same(operand, &dims);
        }
        let results = self.results.get(&callee).cloned().unwrap_or_default();
        for (result, dims) in op.results().zip(results) {
            self.same(result.into(), &dims);
        }
    }

    fn generic(&mut self, op: OperationRef<'_, '_>) {
        let Ok(loops) = Loops::of(op) else { return };
        let own = self.classes.group(&loops.extents);
        self.loops.insert(op_key(&op), own.clone());
        self.roles(&loops, &own);
        let outputs = op.operands().skip(loops.inputs).zip(op.results());
        let outputs: Vec<_> = outputs.map(|(_, result)| Value::from(result)).collect();
        let maps = loops.maps.iter();
        let values = op.operands().zip(maps.clone()).chain(outputs.into_iter().zip(maps.skip(loops.inputs)));
        let values: Vec<_> = values.collect();
        self.cut(&loops, &values);
        for (value, map) in values {
            let dims = self.value(value);
            for (&dim, index) in dims.iter().zip(map) {
                match index.single() {
                    Some(at) => self.classes.unite(dim, own[at]),
                    None => self.classes.hint(dim, "X"),
                }
            }
        }
    }

    /// Makes the collapsed dimensions that a loop counts the same axes, if they are cut alike.
    fn cut(&mut self, loops: &Loops, values: &[(Value<'_, '_>, &Vec<Linear>)]) {
        let mut cuts: Vec<Option<Vec<Dim>>> = vec![None; loops.extents.len()];
        for &(value, map) in values {
            let Some(parts) = self.parts.get(&key(value)).cloned() else { continue };
            for (own, index) in parts.into_iter().zip(map) {
                let Some(at) = index.single().filter(|_| own.len() > 1) else { continue };
                match &cuts[at] {
                    Some(cut) if cut.len() == own.len() => {
                        cut.iter().zip(&own).for_each(|(&left, &right)| self.classes.unite(left, right));
                    }
                    Some(_) => {}
                    None => cuts[at] = Some(own),
                }
            }
        }
        if cuts.iter().all(Option::is_none) {
            return;
        }
        for &(value, map) in values.iter().rev().take(values.len() - loops.maps.len()) {
            let dims = self.value(value);
            let parts = map.iter().zip(dims).map(|(index, dim)| {
                index.single().and_then(|at| cuts[at].clone()).unwrap_or_else(|| vec![dim])
            });
            self.parts.insert(key(value), parts.collect());
        }
    }

    /// The parts of each dimension of a value.
    fn parts_of(&mut self, value: Value<'_, '_>) -> Vec<Vec<Dim>> {
        if let Some(parts) = self.parts.get(&key(value)) {
            return parts.clone();
        }
        self.value(value).into_iter().map(|dim| vec![dim]).collect()
    }

    fn collapse(&mut self, op: OperationRef<'_, '_>) {
        let (Some(source), Some(result)) = (op.operands().next(), op.results().next()) else { return };
        let source = self.parts_of(source);
        let joined = reassociation(op).unwrap_or_default().into_iter().map(|group| {
            let parts = group.into_iter().filter_map(|dim| source.get(dim)).flatten().copied();
            let long: Vec<Dim> = parts.filter(Option::is_some).collect();
            if long.is_empty() { vec![None] } else { long }
        });
        let joined = joined.collect();
        self.parts.insert(key(result), joined);
    }

    /// Dimensions that are collapsed and expanded again alike are the same axes.
    fn expand(&mut self, op: OperationRef<'_, '_>) {
        let (Some(source), Some(result)) = (op.operands().next(), op.results().next()) else { return };
        let (source, result) = (self.parts_of(source), self.value(result.into()));
        for (parts, group) in source.into_iter().zip(reassociation(op).unwrap_or_default()) {
            let long: Vec<Dim> =
                group.iter().filter_map(|&dim| result.get(dim).copied()).flatten().map(Some).collect();
            if parts.len() == long.len() {
                parts.iter().zip(&long).for_each(|(&left, &right)| self.classes.unite(left, right));
            }
        }
    }

    /// Names the loops of products by their roles.
    fn roles(&mut self, loops: &Loops, own: &[Dim]) {
        let has = |map: &[Linear], at: usize| map.iter().any(|index| index.has(&|known| known == at));
        let slides = |at: usize| {
            let mut all = loops.maps.iter().flatten().filter(|index| index.terms.len() > 1);
            all.any(|index| index.terms.iter().any(|&(known, _)| known == at))
        };
        for (at, &dim) in own.iter().enumerate() {
            let name = match (slides(at), loops.reduced[at]) {
                (true, true) => Some("F"),
                (true, false) => Some("P"),
                (false, _) if loops.inputs < 2 || !loops.reduced.contains(&true) => None,
                (false, reduced) => match (has(&loops.maps[0], at), has(&loops.maps[1], at), reduced) {
                    (_, _, true) => Some("K"),
                    (true, true, false) => Some("B"),
                    (true, false, false) => Some("M"),
                    (false, true, false) => Some("N"),
                    (false, false, false) => None,
                },
            };
            if let Some(name) = name {
                self.classes.hint(dim, name);
            }
        }
    }

    /// Dimensions in front of the reshaped ones and after them stay the same axes.
    fn reshape(&mut self, op: OperationRef<'_, '_>) {
        let (Ok(source), Ok(result)) = (op.operand(0), op.result(0)) else { return };
        let source: Vec<usize> = self.value(source).into_iter().flatten().collect();
        let result: Vec<usize> = self.value(result.into()).into_iter().flatten().collect();
        let same = |classes: &Classes, pairs: &mut dyn Iterator<Item = (&usize, &usize)>| {
            pairs.take_while(|&(&left, &right)| classes.same_size(left, right)).count()
        };
        let front = same(&self.classes, &mut source.iter().zip(&result));
        let back = same(&self.classes, &mut source[front..].iter().rev().zip(result[front..].iter().rev()));
        let pairs = source.iter().zip(&result).take(front);
        for (&left, &right) in pairs.chain(source.iter().rev().zip(result.iter().rev()).take(back)) {
            self.classes.unite(Some(left), Some(right));
        }
    }
}
