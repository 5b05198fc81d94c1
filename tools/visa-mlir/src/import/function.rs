//! Functions of a module, one after the other, callees first.

use crate::import::emit::axes::Axis;
use crate::import::emit::elem::Elem;
use crate::import::emit::emitter::new;
use crate::import::importer::{Array, Importer, Signature};
use crate::import::ops::composite;
use crate::import::ops::operation;
use crate::import::read::attributes::{key, name, operations, symbol};
use crate::import::read::operations::{FUNC, TensorOp, known};
use crate::import::read::types;
use crate::import::tensor::{Tensor, array};
use melior::ir::RegionLike as _;
use melior::ir::block::BlockLike as _;
use melior::ir::operation::{OperationLike as _, OperationRef};
use melior::ir::{BlockRef, ValueLike as _};
use std::collections::HashMap;
use std::rc::Rc;
use visa_ir::build::NewOp;
use visa_ir::context::Attr;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpId;
use visa_mapping::ops::call::CALL;
use visa_mapping::ops::func::{Func, Return};
use visa_mapping::tensor::value::value_type;

/// Most functions that call one another.
pub(crate) const MAX_CALLS: usize = 128;

impl Importer<'_, '_> {
    /// Imports all functions of a module.
    ///
    /// # Errors
    /// The first operation that is not imported.
    pub(crate) fn functions(&mut self, body: BlockRef<'_, '_>) -> Result<(), Diagnostic> {
        let mut functions = HashMap::new();
        for op in operations(body) {
            self.at(op);
            let name = name(op);
            if name != FUNC {
                return Err(self
                    .emit
                    .refuse(format!("`{name}` is not imported: expected functions, `func.func`")));
            }
            functions.insert(symbol(op, "sym_name").unwrap_or_default(), op);
        }
        let defined: Vec<_> = operations(body).filter(|op| block(*op).is_some()).collect();
        if defined.is_empty() {
            return Err(self.emit.refuse("the module has no function with a body"));
        }
        for op in defined {
            self.function(op, &functions, 0)?;
        }
        Ok(())
    }

    fn function(
        &mut self,
        op: OperationRef<'_, '_>,
        all: &HashMap<String, OperationRef<'_, '_>>,
        depth: usize,
    ) -> Result<(), Diagnostic> {
        let symbol_name = symbol(op, "sym_name").unwrap_or_default();
        if self.signatures.contains_key(&symbol_name) {
            return Ok(());
        }
        self.at(op);
        let Some(block) = block(op) else {
            return Err(self.emit.refuse(format!("`@{symbol_name}` is called, and has no body")));
        };
        if block.next_in_region().is_some() {
            return Err(self.emit.refuse(format!("`@{symbol_name}` has branches; expected one block")));
        }
        if depth > MAX_CALLS {
            return Err(self
                .emit
                .refuse(format!("more than {MAX_CALLS} functions call one another, or one calls itself")));
        }
        for call in operations(block).filter(|op| known(*op) == Some(TensorOp::Call)) {
            let callee = symbol(call, "callee").and_then(|callee| all.get(&callee).copied());
            if let Some(callee) = callee {
                self.function(callee, all, depth + 1)?;
            }
        }
        self.at(op);
        let name = self.free_name(&symbol_name);
        let arguments = self.arguments(block)?;
        let (func, _) = self.emit.begin(new!(self.emit, Func).name(name.clone()).spec());
        for (at, array) in arguments.iter().enumerate() {
            self.argument(block, at, array)?;
        }
        for inner in operations(block) {
            self.at(inner);
            if known(inner) == Some(TensorOp::Return) {
                let results = self.returned(inner, &symbol_name)?;
                self.sweep(func);
                self.signatures.insert(symbol_name, Signature { name, arguments, results });
                return Ok(());
            }
            operation::operation(self, inner)?;
        }
        Err(self.emit.refuse(format!("`@{symbol_name}` does not return")))
    }

    /// A name of a function as the text may have it, which no other one has.
    fn free_name(&mut self, wanted: &str) -> String {
        let letter = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
        let plain: String = wanted.chars().map(letter).collect();
        let plain = if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("f{plain}") } else { plain };
        let mut name = plain.clone();
        let mut number = 1;
        while !self.names.insert(name.clone()) {
            number += 1;
            name = format!("{plain}_{number}");
        }
        name
    }

    fn arguments(&mut self, block: BlockRef<'_, '_>) -> Result<Vec<Array>, Diagnostic> {
        let mut arrays = Vec::new();
        for at in 0..block.argument_count() {
            let argument = block.argument(at).map_err(|error| self.emit.refuse(error.to_string()))?;
            let array = types::passed(argument.r#type())
                .map_err(|why| self.emit.refuse(format!("argument {at}: {why}")))?;
            let axes = self.value_axes(key(argument));
            arrays.push(self.array(array, axes));
        }
        Ok(arrays)
    }

    /// An array whose dimensions of one coordinate have axes, too.
    fn array(&mut self, (kind, shape): (types::Kind, Vec<u64>), axes: Vec<Option<Axis>>) -> Array {
        let count = shape.iter().filter(|&&size| size == 1).count();
        let mut units = self.emit.axes.units(count).into_iter();
        let mut used: Vec<Axis> = Vec::new();
        for (at, &size) in shape.iter().enumerate() {
            let own = axes.get(at).cloned().flatten().filter(|axis| size > 1 && !used.contains(axis));
            let unit = if size == 1 { units.next() } else { None };
            let axis = own.or(unit).unwrap_or_else(|| self.emit.axes.fresh("D", size));
            used.push(axis);
        }
        Array { kind, shape, axes: used }
    }

    /// Adds an argument to the function.
    fn argument(&mut self, block: BlockRef<'_, '_>, at: usize, array: &Array) -> Result<(), Diagnostic> {
        let argument = block.argument(at).map_err(|error| self.emit.refuse(error.to_string()))?;
        let Some(dtype) = array.kind.passed() else { return Ok(()) };
        let ty = value_type(self.emit.ctx, dtype, array.axes.clone());
        let (target, span) = (self.emit.block(), self.emit.span);
        let name: Rc<str> = format!("arg{at}").into();
        let value = self.emit.module.add_arg(target, ty, Some(name), span);
        if self.uses(key(argument)) > 0 {
            let tensor = self.without_units(value, array)?;
            self.bind(key(argument), tensor);
        }
        Ok(())
    }

    /// An array without its axes of one coordinate.
    fn without_units(
        &mut self,
        value: visa_ir::module::ValueId,
        array: &Array,
    ) -> Result<Tensor, Diagnostic> {
        let sizes = array.axes.iter().zip(&array.shape);
        let units: Vec<Axis> =
            sizes.clone().filter(|(_, size)| **size == 1).map(|(axis, _)| axis.clone()).collect();
        let dims = sizes.map(|(axis, &size)| (size > 1).then(|| axis.clone())).collect();
        let value = self.emit.without(value, &units)?;
        Ok(Tensor::plain(Elem::value(array.kind, value), array.shape.clone(), dims))
    }

    /// Ends the function.
    fn returned(&mut self, op: OperationRef<'_, '_>, function: &str) -> Result<Vec<Array>, Diagnostic> {
        if op.operand_count() == 0 {
            return Err(self.emit.refuse(format!(
                "`@{function}` has no result: expected a function of tensors with results"
            )));
        }
        let (mut arrays, mut values) = (Vec::new(), Vec::new());
        for at in 0..op.operand_count() {
            let operand = op.operand(at).map_err(|error| self.emit.refuse(error.to_string()))?;
            types::passed(operand.r#type()).map_err(|why| self.emit.refuse(format!("result {at}: {why}")))?;
            let tensor = composite::operand(self, op, at)?;
            let proposed = self.value_axes(key(operand));
            let axes = tensor.dims.iter().zip(proposed).map(|(own, proposed)| own.clone().or(proposed));
            let axes: Vec<_> = axes.collect();
            let array_type = self.array((tensor.kind(), tensor.shape.clone()), distinct(axes, &tensor));
            values.push(array(&mut self.emit, &tensor, &array_type.axes)?);
            arrays.push(array_type);
        }
        let end = new!(self.emit, Return, values).spec();
        let block = self.emit.block();
        self.emit.module.append(block, end);
        Ok(arrays)
    }

    /// Erases operations that nothing uses.
    fn sweep(&mut self, func: OpId) {
        let op = self.emit.module.op(self.emit.ctx, func);
        let Some(&body) = op.regions().first() else { return };
        let ops: Vec<OpId> = self.emit.module.ops(body).to_vec();
        let mut stay = Vec::with_capacity(ops.len());
        for id in ops.into_iter().rev() {
            let op = self.emit.module.op(self.emit.ctx, id);
            let is_used = op.results().iter().any(|&result| !self.emit.module.uses(result).is_empty());
            if is_used || op.results().is_empty() {
                stay.push(id);
            } else {
                self.emit.module.erase(id);
            }
        }
    }

    /// Imports a call of an imported function.
    pub(crate) fn call(&mut self, op: OperationRef<'_, '_>) -> Result<(), Diagnostic> {
        let callee = symbol(op, "callee").unwrap_or_default();
        let Some(signature) = self.signatures.get(&callee).cloned() else {
            return Err(self.emit.refuse(format!("calls `@{callee}`, which is not imported")));
        };
        let mut values = Vec::new();
        for (at, taken) in signature.arguments.iter().enumerate() {
            let tensor = composite::operand(self, op, at)?;
            values.push(array(&mut self.emit, &tensor, &taken.axes)?);
        }
        let types = signature
            .results
            .iter()
            .filter_map(|array| Some(value_type(self.emit.ctx, array.kind.passed()?, array.axes.clone())));
        let spec = types.fold(
            NewOp::written(&CALL, self.emit.ctx, self.emit.span)
                .operands(values)
                .attr("callee", Attr::Symbol(signature.name.as_str().into()))
                .spec(),
            |spec, ty| spec.result(ty, None),
        );
        let block = self.emit.block();
        let id = self.emit.module.append(block, spec);
        let results = self.emit.module.op(self.emit.ctx, id).results().to_vec();
        for ((result, value), array) in op.results().zip(results).zip(&signature.results) {
            let tensor = self.without_units(value, array)?;
            self.bind(key(result), tensor);
        }
        Ok(())
    }
}

/// The block of a function; `None` for a declaration.
fn block<'c, 'a>(function: OperationRef<'c, 'a>) -> Option<BlockRef<'c, 'a>> {
    function.regions().next().and_then(|region| region.first_block())
}

/// Proposed axes of a result without those that its other dimensions have.
fn distinct(axes: Vec<Option<Axis>>, tensor: &Tensor) -> Vec<Option<Axis>> {
    let own: Vec<&Axis> = tensor.dims.iter().flatten().collect();
    let each = axes.iter().zip(&tensor.dims);
    each.map(|(axis, dim)| axis.clone().filter(|axis| dim.is_some() || !own.contains(&axis))).collect()
}
