//! Expressions of single elements, in the operations of `arith` and `math`.

use melior::ir::Type;
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use visa_mapping::expression::{Dag, Function, NodeKind};
use visa_numerics::{AluName, Bits, Compare, Comparisons, DType, ReduceName};

use crate::export::mlir::builder::{Builder, Parts, Val};
use crate::export::mlir::formats::{element, number};
use crate::export::mlir::refusals::{Export, refuse};

/// Cases of `arith.cmpi`, by MLIR's numbers.
#[derive(Clone, Copy)]
enum Predicate {
    Equal = 0,
    NotEqual = 1,
    Less = 2,
    Greater = 4,
    LessUnsigned = 6,
    GreaterUnsigned = 8,
}

/// Cases of `arith.cmpf`, by MLIR's numbers: false for NaN, but for the last one.
#[derive(Clone, Copy)]
enum FloatPredicate {
    Equal = 1,
    Greater = 2,
    Less = 4,
    AtLeastOrUnordered = 10,
}

/// Writes expressions of elements of `i32` and `f32`.
#[derive(Clone, Copy)]
pub(crate) struct Scalars<'c, 'b> {
    builder: Builder<'c, 'b>,
    i32: Type<'c>,
    f32: Type<'c>,
    bool: Type<'c>,
}

impl<'c, 'b> Scalars<'c, 'b> {
    /// Writes at the end of the builder's block.
    pub(crate) fn new(builder: Builder<'c, 'b>) -> Self {
        let integer = |bits| IntegerType::new(builder.context, bits).into();
        Self { builder, i32: integer(32), f32: Type::float32(builder.context), bool: integer(1) }
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// A function without a counterpart.
    pub(crate) fn expression(&self, dag: &Dag, operands: &[Val<'c>]) -> Export<Val<'c>> {
        // A number is written where it is used: the width of a conversion is no value.
        let mut values: Vec<Option<Val<'c>>> = vec![None; dag.nodes.len()];
        for at in 0..dag.nodes.len() {
            let node = &dag.nodes[at];
            values[at] = match &node.kind {
                NodeKind::Operand(number) => operands.get(*number).copied(),
                NodeKind::Number(_) => None,
                NodeKind::Apply(function, args) if function.is_conversion() => {
                    let x = self.argument(dag, &mut values, args[0])?;
                    Some(self.conversion(node.dtype, x, self.width(dag, args[1])?)?)
                }
                NodeKind::Apply(function, args) => {
                    let from = dag.nodes[args[0]].dtype;
                    let args = args.iter().map(|&arg| self.argument(dag, &mut values, arg));
                    let args = args.collect::<Export<Vec<_>>>()?;
                    Some(self.function(function, from, &args)?)
                }
            };
        }
        self.argument(dag, &mut values, dag.root)
    }

    /// The value of a node.
    fn argument(&self, dag: &Dag, values: &mut [Option<Val<'c>>], at: usize) -> Export<Val<'c>> {
        let value = match (values[at], &dag.nodes[at].kind) {
            (Some(known), _) => known,
            (None, NodeKind::Number(bits)) => self.number(dag.nodes[at].dtype, *bits)?,
            (None, NodeKind::Operand(_) | NodeKind::Apply(..)) => {
                return Err(refuse(self.builder.source, "its expression has an operand without a value"));
            }
        };
        values[at] = Some(value);
        Ok(value)
    }

    /// The integer width of a conversion.
    fn width(&self, dag: &Dag, at: usize) -> Export<Bits> {
        match dag.nodes[at].kind {
            NodeKind::Number(width) => Ok(width),
            NodeKind::Operand(_) | NodeKind::Apply(..) => {
                Err(refuse(self.builder.source, "its expression has an integer width that is no number"))
            }
        }
    }

    /// A number.
    pub(crate) fn number(&self, dtype: DType, bits: Bits) -> Export<Val<'c>> {
        let ty = element(self.builder.context, self.builder.source, dtype)?;
        self.builder.constant(number(self.builder.context, ty, dtype, bits), ty)
    }

    fn float(&self, number: f64) -> Export<Val<'c>> {
        self.builder.constant(FloatAttribute::new(self.builder.context, self.f32, number).into(), self.f32)
    }

    fn int(&self, number: i64) -> Export<Val<'c>> {
        self.builder.constant(IntegerAttribute::new(self.i32, number).into(), self.i32)
    }

    fn function(&self, function: &Function, from: DType, args: &[Val<'c>]) -> Export<Val<'c>> {
        let row = function.rows(from).next();
        let row = row.ok_or_else(|| {
            refuse(self.builder.source, format!("`{}` does not take `{from}`", function.name))
        })?;
        match (row.from, args) {
            (DType::F32, _) => self.float_function(row.name, function.name, args),
            (_, &[x, y]) => self.int_function(row.name, function.name, x, y),
            (_, _) => Err(self.lacks(function.name, "it is no function of two integers")),
        }
    }

    fn lacks(&self, name: &str, why: &str) -> visa_ir::diag::Diagnostic {
        refuse(self.builder.source, format!("`{name}` has no counterpart in `arith` or `math`: {why}"))
    }

    fn float_function(&self, alu: AluName, name: &str, args: &[Val<'c>]) -> Export<Val<'c>> {
        let direct = |operation: &str| self.builder.op(operation, args, self.f32);
        match alu {
            AluName::AddF | AluName::Add => direct("arith.addf"),
            AluName::SubF => direct("arith.subf"),
            AluName::MulF0 | AluName::MulF1 | AluName::MulFma => direct("arith.mulf"),
            AluName::DivF => direct("arith.divf"),
            AluName::FmaF => direct("math.fma"),
            AluName::Exp => direct("math.exp"),
            AluName::NegExp => self.negated_exponential(args[0]),
            AluName::Sqrt => direct("math.sqrt"),
            AluName::Tanh => direct("math.tanh"),
            AluName::Erf => direct("math.erf"),
            AluName::Log => direct("math.log"),
            AluName::Sin => direct("math.sin"),
            AluName::Cos => direct("math.cos"),
            AluName::Sigmoid => {
                let power = self.negated_exponential(args[0])?;
                let one = self.float(1.0)?;
                let sum = self.builder.op("arith.addf", &[power, one], self.f32)?;
                self.builder.op("arith.divf", &[one, sum], self.f32)
            }
            AluName::Min => direct("arith.minnumf"),
            AluName::Max => direct("arith.maxnumf"),
            AluName::AbsMin => self.by_magnitude(FloatPredicate::Less, args[0], args[1]),
            AluName::AbsMax => self.by_magnitude(FloatPredicate::Greater, args[0], args[1]),
            AluName::MaskMulF0 | AluName::MaskMulF1 => {
                let product = self.builder.op("arith.mulf", args, self.f32)?;
                self.unless_zero(args[1], product, self.float(0.0)?)
            }
            AluName::MaskFmaF => {
                let fused = self.builder.op("math.fma", args, self.f32)?;
                self.unless_zero(args[1], fused, args[2])
            }
            AluName::BitAnd => self.on_bits("arith.andi", args),
            AluName::BitOr => self.on_bits("arith.ori", args),
            AluName::BitXor => self.on_bits("arith.xori", args),
            AluName::LeftShift
            | AluName::LogicRightShift
            | AluName::ArithRightShift
            | AluName::AddFxp
            | AluName::AddFxpSat
            | AluName::SubFxp
            | AluName::SubFxpSat
            | AluName::LeftShiftSat
            | AluName::MulFxp
            | AluName::MulInt
            | AluName::ArithRightShiftRound
            | AluName::FxpToFp
            | AluName::FpToFxp => Err(self.lacks(name, "it is no function of `f32`")),
        }
    }

    fn int_function(&self, alu: AluName, name: &str, x: Val<'c>, y: Val<'c>) -> Export<Val<'c>> {
        let direct = |operation: &str| self.builder.op(operation, &[x, y], self.i32);
        match alu {
            AluName::AddFxp => direct("arith.addi"),
            AluName::SubFxp => direct("arith.subi"),
            AluName::MulInt => direct("arith.muli"),
            AluName::Min => direct("arith.minsi"),
            AluName::Max => direct("arith.maxsi"),
            AluName::AbsMin => self.by_int_magnitude(Predicate::Less, x, y),
            AluName::AbsMax => self.by_int_magnitude(Predicate::Greater, x, y),
            AluName::BitAnd => direct("arith.andi"),
            AluName::BitOr => direct("arith.ori"),
            AluName::BitXor => direct("arith.xori"),
            AluName::LeftShift => self.logical_shift("arith.shli", x, y),
            AluName::LogicRightShift => self.logical_shift("arith.shrui", x, y),
            AluName::ArithRightShift => {
                let amount = self.builder.op("arith.minui", &[y, self.int(31)?], self.i32)?;
                self.builder.op("arith.shrsi", &[x, amount], self.i32)
            }
            AluName::AddFxpSat | AluName::SubFxpSat | AluName::LeftShiftSat => {
                Err(self.lacks(name, "it saturates"))
            }
            AluName::MulFxp | AluName::ArithRightShiftRound => {
                Err(self.lacks(name, "it rounds a fixed-point number"))
            }
            AluName::FxpToFp
            | AluName::FpToFxp
            | AluName::Exp
            | AluName::NegExp
            | AluName::Sqrt
            | AluName::Tanh
            | AluName::Sigmoid
            | AluName::Erf
            | AluName::Log
            | AluName::Sin
            | AluName::Cos
            | AluName::AddF
            | AluName::SubF
            | AluName::MulF0
            | AluName::MulF1
            | AluName::MulFma
            | AluName::MaskMulF0
            | AluName::MaskMulF1
            | AluName::DivF
            | AluName::FmaF
            | AluName::MaskFmaF
            | AluName::Add => Err(self.lacks(name, "it is no function of `i32`")),
        }
    }

    fn negated_exponential(&self, x: Val<'c>) -> Export<Val<'c>> {
        let negated = self.builder.op("arith.negf", &[x], self.f32)?;
        self.builder.op("math.exp", &[negated], self.f32)
    }

    /// A shift by 32 or more leaves zero, which is poison in MLIR.
    fn logical_shift(&self, operation: &str, x: Val<'c>, amount: Val<'c>) -> Export<Val<'c>> {
        let inside = self.compare_ints(Predicate::LessUnsigned, amount, self.int(32)?)?;
        let shifted = self.builder.op(operation, &[x, amount], self.i32)?;
        self.select(inside, shifted, self.int(0)?)
    }

    /// The one whose magnitude the comparison holds for, else the second one.
    fn by_magnitude(&self, predicate: FloatPredicate, x: Val<'c>, y: Val<'c>) -> Export<Val<'c>> {
        let magnitude = |x| self.builder.op("math.absf", &[x], self.f32);
        let first = self.compare_floats(predicate, magnitude(x)?, magnitude(y)?)?;
        self.select(first, x, y)
    }

    /// The same of integers; the magnitude of the least one is itself.
    fn by_int_magnitude(&self, predicate: Predicate, x: Val<'c>, y: Val<'c>) -> Export<Val<'c>> {
        let magnitude = |x| self.builder.op("math.absi", &[x], self.i32);
        let first = self.compare_ints(predicate, magnitude(x)?, magnitude(y)?)?;
        self.select(first, x, y)
    }

    fn unless_zero(&self, mask: Val<'c>, value: Val<'c>, otherwise: Val<'c>) -> Export<Val<'c>> {
        let is_zero = self.compare_floats(FloatPredicate::Equal, mask, self.float(0.0)?)?;
        self.select(is_zero, otherwise, value)
    }

    fn on_bits(&self, operation: &str, args: &[Val<'c>]) -> Export<Val<'c>> {
        let bits = |&x: &Val<'c>| self.builder.op("arith.bitcast", &[x], self.i32);
        let bits = args.iter().map(bits).collect::<Export<Vec<_>>>()?;
        let result = self.builder.op(operation, &bits, self.i32)?;
        self.builder.op("arith.bitcast", &[result], self.f32)
    }

    /// A conversion between `i32` in units of 2^(width - 31) and `f32`.
    fn conversion(&self, to: DType, x: Val<'c>, width: Bits) -> Export<Val<'c>> {
        let units = |exponent: i32| 2.0_f64.powi(exponent);
        if to == DType::F32 {
            let float = self.builder.op("arith.sitofp", &[x], self.f32)?;
            return match width {
                31 => Ok(float),
                width => {
                    let unit = self.float(units(width as i32 - 31))?;
                    self.builder.op("arith.mulf", &[float, unit], self.f32)
                }
            };
        }
        let scaled = match width {
            31 => x,
            width => {
                let unit = self.float(units(31 - width as i32))?;
                self.builder.op("arith.mulf", &[x, unit], self.f32)?
            }
        };
        self.clamped_to_int(scaled)
    }

    /// To nearest, ties away from zero, clamped: `arith.fptosi` has no value past the ends. A NaN is the greatest
    /// number: that of arithmetic is positive at the tensor level, and has no sign in MLIR.
    fn clamped_to_int(&self, x: Val<'c>) -> Export<Val<'c>> {
        let rounded = self.builder.op("math.round", &[x], self.f32)?;
        let (least, past) = (self.float(f64::from(i32::MIN))?, self.float(-f64::from(i32::MIN))?);
        let inside = self.builder.op("arith.fptosi", &[rounded], self.i32)?;
        let is_high = self.compare_floats(FloatPredicate::AtLeastOrUnordered, rounded, past)?;
        let is_low = self.compare_floats(FloatPredicate::Less, rounded, least)?;
        let high = self.select(is_high, self.int(i64::from(i32::MAX))?, inside)?;
        self.select(is_low, self.int(i64::from(i32::MIN))?, high)
    }

    /// One of two values.
    pub(crate) fn select(&self, condition: Val<'c>, then: Val<'c>, otherwise: Val<'c>) -> Export<Val<'c>> {
        use melior::ir::ValueLike;
        self.builder.op("arith.select", &[condition, then, otherwise], then.r#type())
    }

    fn compare_ints(&self, predicate: Predicate, x: Val<'c>, y: Val<'c>) -> Export<Val<'c>> {
        self.compare("arith.cmpi", predicate as i64, x, y)
    }

    fn compare_floats(&self, predicate: FloatPredicate, x: Val<'c>, y: Val<'c>) -> Export<Val<'c>> {
        self.compare("arith.cmpf", predicate as i64, x, y)
    }

    fn compare(&self, operation: &str, predicate: i64, x: Val<'c>, y: Val<'c>) -> Export<Val<'c>> {
        let attributes = &[("predicate", self.builder.case(predicate))];
        let parts = Parts { operands: &[x, y], attributes, results: &[self.bool], ..Parts::default() };
        self.builder.one(operation, parts)
    }

    /// True where an `i32` is not 0.
    pub(crate) fn holds(&self, condition: Val<'c>) -> Export<Val<'c>> {
        self.compare_ints(Predicate::NotEqual, condition, self.int(0)?)
    }

    /// An `i32` with a bit for each comparison.
    pub(crate) fn comparisons(&self, list: &Comparisons<Bits>, dtype: DType, x: Val<'c>) -> Export<Val<'c>> {
        let mut bits: Option<Val<'c>> = None;
        for (number, (compare, boundary)) in list.0.iter().enumerate() {
            let Some(holds) = self.comparison(*compare, dtype, x, *boundary)? else {
                continue;
            };
            let holds = self.builder.op("arith.extui", &[holds], self.i32)?;
            let bit = match number {
                0 => holds,
                number => self.builder.op("arith.shli", &[holds, self.int(number as i64)?], self.i32)?,
            };
            bits = Some(match bits {
                None => bit,
                Some(others) => self.builder.op("arith.ori", &[others, bit], self.i32)?,
            });
        }
        bits.map_or_else(|| self.int(0), Ok)
    }

    /// A comparison with a number; `None` if it never holds.
    fn comparison(
        &self,
        compare: Compare,
        dtype: DType,
        x: Val<'c>,
        boundary: Option<Bits>,
    ) -> Export<Option<Val<'c>>> {
        let boundary = || {
            let missing = || refuse(self.builder.source, "a comparison has no number to compare with");
            boundary.ok_or_else(missing)
        };
        let (predicate, float) = match compare {
            Compare::Less => (Predicate::Less, FloatPredicate::Less),
            Compare::Equal => (Predicate::Equal, FloatPredicate::Equal),
            Compare::Greater => (Predicate::Greater, FloatPredicate::Greater),
            Compare::LessUnsigned => return self.unsigned(Predicate::LessUnsigned, dtype, x, boundary()?),
            Compare::GreaterUnsigned => {
                return self.unsigned(Predicate::GreaterUnsigned, dtype, x, boundary()?);
            }
            Compare::True => {
                let yes = IntegerAttribute::new(self.bool, 1).into();
                return self.builder.constant(yes, self.bool).map(Some);
            }
            Compare::False => return Ok(None),
        };
        let number = self.number(dtype, boundary()?)?;
        match dtype.is_float() {
            true => self.compare_floats(float, x, number),
            false => self.compare_ints(predicate, x, number),
        }
        .map(Some)
    }

    fn unsigned(
        &self,
        predicate: Predicate,
        dtype: DType,
        x: Val<'c>,
        with: Bits,
    ) -> Export<Option<Val<'c>>> {
        let bits = match dtype.is_float() {
            true => self.builder.op("arith.bitcast", &[x], self.i32)?,
            false => x,
        };
        self.compare_ints(predicate, bits, self.int(i64::from(with.cast_signed()))?).map(Some)
    }

    /// The function of a reduction.
    ///
    /// # Errors
    /// A saturating sum.
    pub(crate) fn reduction(&self, op: ReduceName, dtype: DType, x: Val<'c>, y: Val<'c>) -> Export<Val<'c>> {
        let (name, ty) = match (op, dtype.is_float()) {
            (ReduceName::Add, true) => ("arith.addf", self.f32),
            (ReduceName::Add, false) => ("arith.addi", self.i32),
            (ReduceName::Max, true) => ("arith.maxnumf", self.f32),
            (ReduceName::Max, false) => ("arith.maxsi", self.i32),
            (ReduceName::Min, true) => ("arith.minnumf", self.f32),
            (ReduceName::Min, false) => ("arith.minsi", self.i32),
            (ReduceName::Mul, true) => ("arith.mulf", self.f32),
            (ReduceName::Mul, false) => ("arith.muli", self.i32),
            (ReduceName::AddSat, _) => return Err(self.lacks("AddSat", "it saturates")),
        };
        self.builder.op(name, &[x, y], ty)
    }
}
