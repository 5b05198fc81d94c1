//! A function of the tensor level as a `func.func` on tensors.

use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute, StringAttribute, TypeAttribute};
use melior::ir::r#type::FunctionType;
use melior::ir::{Attribute, Block, Identifier, Location, Region, Type};
use std::collections::HashMap;
use visa_algebra::Axes;
use visa_ir::module::{BlockId, OpRef, ValueId};
use visa_ir::span::Source;
use visa_mapping::ops::call::{CALL, Call};
use visa_mapping::ops::control::{self, FOR, For, IF, If, YIELD, times};
use visa_mapping::ops::func::{Func, RETURN, argument_name, signature};
use visa_mapping::ops::number::{AFFINE, SELECT};
use visa_mapping::tensor::value::Value;

use crate::export::indices;
use crate::export::known::Known;
use crate::export::mlir::builder::{Builder, Parts, Val, region};
use crate::export::mlir::formats::element;
use crate::export::mlir::refusals::{Export, refuse};
use crate::export::mlir::shape::{Shape, signed, value_type, whole};
use crate::export::mlir::value::Tensor;
use crate::export::ops;
use crate::export::scope::{Exported, Scope};
use crate::export::shapes::{is_index, shapes};

/// The values so far.
type Values<'c> = HashMap<ValueId, Exported<'c>>;

/// Writes functions into a module of MLIR.
pub(crate) struct Writer<'c, 'a> {
    pub(crate) context: &'c melior::Context,
    pub(crate) axes: &'a Axes,
    pub(crate) source: &'a Source,
}

impl<'c> Writer<'c, '_> {
    /// Appends a function to a block.
    ///
    /// # Errors
    /// An operation without a counterpart, at its line.
    pub(crate) fn function(&self, func: Func<'_>, into: &Block<'c>) -> Export<()> {
        let known = shapes(*func, self.axes)?;
        let (arguments, results) = signature(*func);
        let builder = self.builder(*func, into);
        let mut types = Vec::new();
        for &argument in arguments {
            types.push(self.ty(builder, *func, argument)?);
        }
        let places: Vec<_> = types.iter().map(|&ty| (ty, builder.location)).collect();
        let block = Block::new(&places);
        let mut values = Values::new();
        for (at, &argument) in arguments.iter().enumerate() {
            let value = builder.argument(&block, at)?;
            values.insert(argument, exported(&known, *func, argument, value)?);
        }
        let scope = Body { writer: self, known: &known };
        for &body in func.regions() {
            scope.operations(*func, body, &block, &mut values)?;
        }
        let outputs = results.iter().map(|&result| self.ty(builder, *func, result));
        let outputs = outputs.collect::<Export<Vec<_>>>()?;
        let ty = FunctionType::new(self.context, &types, &outputs);
        let name = func.name()?;
        let attributes: Vec<(&str, Attribute<'c>)> = vec![
            ("sym_name", StringAttribute::new(self.context, &name).into()),
            ("function_type", TypeAttribute::new(ty.into()).into()),
            ("arg_attrs", self.hints(*func, arguments, true)),
            ("res_attrs", self.hints(*func, results, false)),
        ];
        let parts = Parts { attributes: &attributes, regions: vec![region(block)], ..Parts::default() };
        builder.all("func.func", parts).map(drop)
    }

    fn builder<'b>(&self, op: OpRef<'b>, block: &'b Block<'c>) -> Builder<'c, 'b> {
        let (line, column) = self.source.position(op.span().range().start);
        let location = Location::new(self.context, &self.source.name, line, column);
        Builder { context: self.context, block, source: op, location }
    }

    /// The type of an argument or a result.
    fn ty(&self, builder: Builder<'c, '_>, func: OpRef<'_>, value: ValueId) -> Export<Type<'c>> {
        if is_index(func, value) {
            return Ok(Type::index(self.context));
        }
        let ty = value_type(func, value)?;
        Ok(builder.tensor(&whole(func, &ty, self.axes)?, element(self.context, func, ty.dtype)?))
    }

    /// The names of arguments and axes, as attributes that MLIR carries along.
    fn hints(&self, func: OpRef<'_>, values: &[ValueId], are_arguments: bool) -> Attribute<'c> {
        let text = |text: &str| -> Attribute<'c> { StringAttribute::new(self.context, text).into() };
        let hint = |(at, &value): (usize, &ValueId)| -> Attribute<'c> {
            let axes = func.ctx.type_value::<Value>(func.module.ty(value)).map(|ty| {
                let names: Vec<Attribute<'c>> = ty.axes.iter().map(|axis| text(axis)).collect();
                (Identifier::new(self.context, "visa.axes"), ArrayAttribute::new(self.context, &names).into())
            });
            let name = are_arguments
                .then(|| (Identifier::new(self.context, "visa.name"), text(&argument_name(func, at))));
            let both: Vec<_> = axes.into_iter().chain(name).collect();
            DictionaryAttribute::new(self.context, &both).into()
        };
        let all: Vec<Attribute<'c>> = values.iter().enumerate().map(hint).collect();
        ArrayAttribute::new(self.context, &all).into()
    }
}

/// A value of MLIR, as the value of a kernel that it is.
fn exported<'c>(known: &Known<'_>, op: OpRef<'_>, value: ValueId, written: Val<'c>) -> Export<Exported<'c>> {
    if is_index(op, value) {
        return Ok(Exported::Index(written));
    }
    let (shape, dtype) = (known.shape(op, value)?.clone(), value_type(op, value)?.dtype);
    Ok(Exported::Tensor(Tensor { value: written, dtype, shape }))
}

/// The body of a function.
struct Body<'w, 'c, 'a> {
    writer: &'w Writer<'c, 'a>,
    known: &'w Known<'w>,
}

impl<'c> Body<'_, 'c, '_> {
    /// Writes the operations of a block at the end of another one.
    fn operations(
        &self,
        around: OpRef<'_>,
        from: BlockId,
        into: &Block<'c>,
        values: &mut Values<'c>,
    ) -> Export<()> {
        for &id in around.module.ops(from) {
            let op = around.other(id);
            let written = self.operation(op, into, values)?;
            values.extend(op.results().iter().copied().zip(written));
        }
        Ok(())
    }

    /// Writes an operation. Returns its results.
    fn operation(&self, op: OpRef<'_>, into: &Block<'c>, values: &Values<'c>) -> Export<Vec<Exported<'c>>> {
        let scope = Scope { builder: self.writer.builder(op, into), known: self.known, values };
        let number = |number: Val<'c>| vec![Exported::Index(number)];
        if op.is(&AFFINE) {
            return indices::affine(&scope, op).map(number);
        }
        if op.is(&SELECT) {
            return indices::select(&scope, op).map(number);
        }
        if op.is(&FOR) {
            return self.repeat(&scope, op);
        }
        if op.is(&IF) {
            return self.branch(&scope, op);
        }
        if op.is(&CALL) {
            return self.call(&scope, op);
        }
        if op.is(&RETURN) {
            let results = op.operands().iter().map(|&value| {
                let shape = whole(op, &value_type(op, value)?, self.known.axes)?;
                Ok(scope.tensor(op, value)?.shaped(scope.builder, &shape)?.value)
            });
            let operands = &results.collect::<Export<Vec<_>>>()?;
            scope.builder.all("func.return", Parts { operands, ..Parts::default() })?;
            return Ok(Vec::new());
        }
        if op.is(&YIELD) {
            return Ok(Vec::new());
        }
        Ok(vec![Exported::Tensor(ops::write(&scope, op)?)])
    }

    /// The values of a loop or a branch, in the shape that it carries.
    fn shaped(&self, scope: &Scope<'c, '_>, op: OpRef<'_>, values: &[ValueId]) -> Export<Vec<Val<'c>>> {
        let pairs = values.iter().zip(op.results());
        let shaped = pairs.map(|(&value, &result)| {
            let shape: &Shape = self.known.shape(op, result)?;
            Ok(scope.tensor(op, value)?.shaped(scope.builder, shape)?.value)
        });
        shaped.collect()
    }

    fn results(&self, op: OpRef<'_>, written: Vec<Val<'c>>) -> Export<Vec<Exported<'c>>> {
        let pairs = op.results().iter().zip(written);
        pairs.map(|(&result, written)| exported(self.known, op, result, written)).collect()
    }

    fn types(&self, scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Vec<Type<'c>>> {
        let ty = |&result: &ValueId| {
            let dtype = value_type(op, result)?.dtype;
            let element = element(self.writer.context, op, dtype)?;
            Ok(scope.builder.tensor(self.known.shape(op, result)?, element))
        };
        op.results().iter().map(ty).collect()
    }

    /// The body of a loop or a branch, which ends with the values that it yields.
    fn region(
        &self,
        scope: &Scope<'c, '_>,
        op: OpRef<'_>,
        block: Block<'c>,
        values: &mut Values<'c>,
    ) -> Export<Region<'c>> {
        for &body in op.regions() {
            self.operations(op, body, &block, values)?;
        }
        let inner = Scope { builder: scope.builder.inside(&block), known: self.known, values };
        let operands = &self.shaped(&inner, op, control::yielded(op))?;
        inner.builder.all("scf.yield", Parts { operands, ..Parts::default() })?;
        Ok(region(block))
    }

    /// `scf.for`.
    fn repeat(&self, scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Vec<Exported<'c>>> {
        let (builder, types) = (scope.builder, self.types(scope, op)?);
        let times = signed(op, times(For::of(op)?, self.known.axes)?)?;
        let initial = self.shaped(scope, op, op.operands())?;
        let index = Type::index(self.writer.context);
        let arguments: Vec<_> =
            std::iter::once(index).chain(types.iter().copied()).map(|ty| (ty, builder.location)).collect();
        let block = Block::new(&arguments);
        let mut values = scope.values.clone();
        let own = op.regions().first().map_or(&[][..], |&body| op.module.args(body));
        for (at, &argument) in own.iter().enumerate() {
            let value = builder.argument(&block, at)?;
            values.insert(argument, exported(self.known, op, argument, value)?);
        }
        let body = self.region(scope, op, block, &mut values)?;
        let ends = [builder.index(0)?, builder.index(times)?, builder.index(1)?];
        let operands: Vec<Val<'c>> = ends.into_iter().chain(initial).collect();
        let parts = Parts { operands: &operands, results: &types, regions: vec![body], ..Parts::default() };
        self.results(op, builder.all("scf.for", parts)?)
    }

    /// `scf.if`, whose alternative is the values before it.
    fn branch(&self, scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Vec<Exported<'c>>> {
        let (builder, types, branch) = (scope.builder, self.types(scope, op)?, If::of(op)?);
        let number = scope.index(op, branch.number()?.id)?;
        let condition = indices::in_range(scope, number, branch.from()?, branch.below()?)?;
        let initial = self.shaped(scope, op, control::initial(op))?;
        let then = self.region(scope, op, Block::new(&[]), &mut scope.values.clone())?;
        let otherwise = Block::new(&[]);
        let parts = Parts { operands: &initial, ..Parts::default() };
        builder.inside(&otherwise).all("scf.yield", parts)?;
        let regions = vec![then, region(otherwise)];
        let parts = Parts { operands: &[condition], results: &types, regions, ..Parts::default() };
        self.results(op, builder.all("scf.if", parts)?)
    }

    /// `func.call`, on whole tensors.
    fn call(&self, scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Vec<Exported<'c>>> {
        let builder = scope.builder;
        let callee = visa_mapping::ops::call::callee(op)?;
        let (wanted, _) = signature(callee);
        let argument = |(&value, &wanted): (&ValueId, &ValueId)| {
            if is_index(op, value) {
                return scope.index(op, value);
            }
            let shape = whole(callee, &value_type(callee, wanted)?, self.known.axes)?;
            Ok(scope.tensor(op, value)?.shaped(builder, &shape)?.value)
        };
        let operands = op.operands().iter().zip(wanted).map(argument).collect::<Export<Vec<_>>>()?;
        let name = Call::of(op)?.callee()?;
        let symbol = melior::ir::attribute::FlatSymbolRefAttribute::new(self.writer.context, &name);
        let parts = Parts {
            operands: &operands,
            attributes: &[("callee", symbol.into())],
            results: &self.types(scope, op)?,
            ..Parts::default()
        };
        self.results(op, builder.all("func.call", parts)?)
    }
}

/// Refuses the clauses of a function that its counterpart lacks.
///
/// # Errors
/// A function of the memory level, or of several chips.
pub(crate) fn check(func: Func<'_>) -> Export<()> {
    let (arguments, results) = signature(*func);
    for &value in arguments.iter().chain(results) {
        if !is_index(*func, value) {
            value_type(*func, value).map_err(|_| {
                let found = func.ctx.type_text(func.module.ty(value));
                let message =
                    format!("found `{found}`: the function is at the memory level, expected values");
                let fix = "write its computation with `visa-opt --raise FILE`, and export that";
                refuse(*func, message).fix(fix.to_owned())
            })?;
        }
    }
    Ok(())
}
