//! Construction of operations of MLIR in a block, at a line of the kernel.

use melior::Context;
use melior::ir::attribute::{DenseI32ArrayAttribute, DenseI64ArrayAttribute, IntegerAttribute};
use melior::ir::block::{BlockArgument, BlockLike};
use melior::ir::operation::OperationBuilder;
use melior::ir::r#type::RankedTensorType;
use melior::ir::{
    Attribute, Block, Identifier, Location, OperationRef, Region, RegionLike, Type, Value, ValueLike,
};
use std::fmt::Display;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;

use crate::export::mlir::refusals::{Export, refuse};
use crate::export::mlir::shape::Shape;

/// An extent that MLIR does not know before it runs.
const DYNAMIC: i64 = i64::MIN;

/// A value of MLIR. Its block is moved into the module, so it is there as long as the module is.
pub(crate) type Val<'c> = Value<'c, 'c>;

/// Builds operations at the end of a block.
#[derive(Clone, Copy)]
pub(crate) struct Builder<'c, 'b> {
    pub(crate) context: &'c Context,
    /// The block that operations are appended to.
    pub(crate) block: &'b Block<'c>,
    /// The operation of the kernel that they are written for.
    pub(crate) source: OpRef<'b>,
    /// Its line.
    pub(crate) location: Location<'c>,
}

/// The parts of an operation.
#[derive(Default)]
pub(crate) struct Parts<'c, 'a> {
    pub(crate) operands: &'a [Val<'c>],
    pub(crate) attributes: &'a [(&'a str, Attribute<'c>)],
    pub(crate) results: &'a [Type<'c>],
    pub(crate) regions: Vec<Region<'c>>,
}

/// An offset of a slice along a dimension.
#[derive(Clone, Copy)]
pub(crate) enum Offset<'c> {
    /// A number.
    Static(u64),
    /// A value of type `index`.
    Dynamic(Val<'c>),
}

/// A part of a tensor: the offset, the extent and the step along each dimension.
pub(crate) struct Slice<'c> {
    pub(crate) offsets: Vec<Offset<'c>>,
    pub(crate) extents: Vec<u64>,
    pub(crate) steps: Vec<u64>,
}

impl Slice<'_> {
    /// The first elements along each dimension.
    pub(crate) fn first(extents: Vec<u64>) -> Self {
        let (offsets, steps) = (vec![Offset::Static(0); extents.len()], vec![1; extents.len()]);
        Self { offsets, extents, steps }
    }
}

impl<'c, 'b> Builder<'c, 'b> {
    /// The same at the end of another block.
    pub(crate) fn inside<'i>(&self, block: &'i Block<'c>) -> Builder<'c, 'i>
    where
        'b: 'i,
    {
        Builder { context: self.context, block, source: self.source, location: self.location }
    }

    /// Wraps an error of MLIR.
    pub(crate) fn built<T>(&self, result: Result<T, impl Display>) -> Export<T> {
        result.map_err(|why| self.failed(why))
    }

    fn failed(&self, why: impl Display) -> Diagnostic {
        refuse(self.source, format!("MLIR does not build it: {why}"))
    }

    /// Appends an operation. Returns its results.
    pub(crate) fn all(&self, name: &str, parts: Parts<'c, '_>) -> Export<Vec<Val<'c>>> {
        let attributes: Vec<_> = parts
            .attributes
            .iter()
            .map(|&(name, attribute)| (Identifier::new(self.context, name), attribute))
            .collect();
        let operation = OperationBuilder::new(name, self.location)
            .add_operands(parts.operands)
            .add_attributes(&attributes)
            .add_results(parts.results)
            .add_regions_vec(parts.regions)
            .build();
        let operation: OperationRef<'c, 'c> = self.block.append_operation(self.built(operation)?);
        (0..parts.results.len()).map(|at| Ok(self.built(operation.result(at))?.into())).collect()
    }

    /// Appends an operation with one result.
    pub(crate) fn one(&self, name: &str, parts: Parts<'c, '_>) -> Export<Val<'c>> {
        let results = self.all(name, parts)?;
        results.first().copied().ok_or_else(|| self.failed(format!("`{name}` has no result")))
    }

    /// Appends an operation of these operands, whose result has the type `ty`.
    pub(crate) fn op(&self, name: &str, operands: &[Val<'c>], ty: Type<'c>) -> Export<Val<'c>> {
        self.one(name, Parts { operands, results: &[ty], ..Parts::default() })
    }

    /// Reads an attribute that the bindings have no constructor of.
    pub(crate) fn attribute(&self, text: &str) -> Export<Attribute<'c>> {
        Attribute::parse(self.context, text).ok_or_else(|| self.failed(format!("no attribute `{text}`")))
    }

    /// A number of type `ty`.
    pub(crate) fn constant(&self, value: Attribute<'c>, ty: Type<'c>) -> Export<Val<'c>> {
        let attributes = &[("value", value)];
        self.one("arith.constant", Parts { attributes, results: &[ty], ..Parts::default() })
    }

    /// A number of type `index`.
    pub(crate) fn index(&self, value: i64) -> Export<Val<'c>> {
        let ty = Type::index(self.context);
        self.constant(IntegerAttribute::new(ty, value).into(), ty)
    }

    /// An enum's case, as the comparisons of `arith` have it.
    pub(crate) fn case(&self, number: i64) -> Attribute<'c> {
        IntegerAttribute::new(melior::ir::r#type::IntegerType::new(self.context, 64).into(), number).into()
    }

    /// The type of a tensor.
    pub(crate) fn tensor(&self, shape: &Shape, element: Type<'c>) -> Type<'c> {
        RankedTensorType::new(&shape.extents(), element, None).into()
    }

    /// A tensor without contents.
    pub(crate) fn empty(&self, shape: &Shape, element: Type<'c>) -> Export<Val<'c>> {
        self.op("tensor.empty", &[], self.tensor(shape, element))
    }

    /// A tensor of one number.
    pub(crate) fn filled(&self, shape: &Shape, element: Type<'c>, with: Attribute<'c>) -> Export<Val<'c>> {
        let (number, empty) = (self.constant(with, element)?, self.empty(shape, element)?);
        let body = Block::new(&[(element, self.location), (element, self.location)]);
        let inner = self.inside(&body);
        let taken = self.argument(&body, 0)?;
        inner.all("linalg.yield", Parts { operands: &[taken], ..Parts::default() })?;
        self.one(
            "linalg.fill",
            Parts {
                operands: &[number, empty],
                attributes: &[("operandSegmentSizes", self.segments(&[1, 1]))],
                results: &[self.tensor(shape, element)],
                regions: vec![region(body)],
            },
        )
    }

    /// An argument of a block.
    pub(crate) fn argument(&self, block: &Block<'c>, number: usize) -> Export<Val<'c>> {
        let argument: BlockArgument<'c, 'c> = self.built(block.argument(number))?;
        Ok(argument.into())
    }

    /// The numbers of operands of each kind.
    pub(crate) fn segments(&self, counts: &[i32]) -> Attribute<'c> {
        DenseI32ArrayAttribute::new(self.context, counts).into()
    }

    fn numbers(&self, numbers: &[i64]) -> Attribute<'c> {
        DenseI64ArrayAttribute::new(self.context, numbers).into()
    }

    /// A list of lists of numbers of dimensions.
    pub(crate) fn groups(&self, groups: &[Vec<usize>]) -> Export<Attribute<'c>> {
        self.attribute(&format!("{groups:?}"))
    }

    /// A part of a tensor, of type `ty`: one with fewer dimensions lacks dimensions of extent 1.
    pub(crate) fn extract(&self, from: Val<'c>, slice: &Slice<'c>, ty: Type<'c>) -> Export<Val<'c>> {
        let (statics, dynamic) = self.slice(slice);
        let segments = self.segments(&[1, dynamic.len() as i32, 0, 0]);
        let operands: Vec<_> = std::iter::once(from).chain(dynamic).collect();
        let attributes: Vec<_> = statics.into_iter().chain([("operandSegmentSizes", segments)]).collect();
        self.one(
            "tensor.extract_slice",
            Parts { operands: &operands, attributes: &attributes, results: &[ty], ..Parts::default() },
        )
    }

    /// A tensor with a part replaced.
    pub(crate) fn insert(&self, part: Val<'c>, into: Val<'c>, slice: &Slice<'c>) -> Export<Val<'c>> {
        let (statics, dynamic) = self.slice(slice);
        let segments = self.segments(&[1, 1, dynamic.len() as i32, 0, 0]);
        let ty = into.r#type();
        let operands: Vec<_> = [part, into].into_iter().chain(dynamic).collect();
        let attributes: Vec<_> = statics.into_iter().chain([("operandSegmentSizes", segments)]).collect();
        self.one(
            "tensor.insert_slice",
            Parts { operands: &operands, attributes: &attributes, results: &[ty], ..Parts::default() },
        )
    }

    /// The attributes of a slice, and its dynamic offsets.
    fn slice(&self, slice: &Slice<'c>) -> ([(&'static str, Attribute<'c>); 3], Vec<Val<'c>>) {
        let offset = |offset: &Offset<'c>| match offset {
            Offset::Static(number) => *number as i64,
            Offset::Dynamic(_) => DYNAMIC,
        };
        let dynamic = |offset: &Offset<'c>| match offset {
            Offset::Static(_) => None,
            Offset::Dynamic(value) => Some(*value),
        };
        let whole = |numbers: &[u64]| numbers.iter().map(|&number| number as i64).collect::<Vec<_>>();
        let offsets: Vec<i64> = slice.offsets.iter().map(offset).collect();
        let statics = [
            ("static_offsets", self.numbers(&offsets)),
            ("static_sizes", self.numbers(&whole(&slice.extents))),
            ("static_strides", self.numbers(&whole(&slice.steps))),
        ];
        (statics, slice.offsets.iter().filter_map(dynamic).collect())
    }

    /// A tensor whose dimensions are counted by others: the groups are those of `ty` that each dimension becomes.
    pub(crate) fn expand(
        &self,
        value: Val<'c>,
        groups: &[Vec<usize>],
        shape: &Shape,
        element: Type<'c>,
    ) -> Export<Val<'c>> {
        let extents: Vec<i64> = shape.extents().into_iter().map(|extent| extent as i64).collect();
        let attributes =
            &[("reassociation", self.groups(groups)?), ("static_output_shape", self.numbers(&extents))];
        let results = &[self.tensor(shape, element)];
        self.one("tensor.expand_shape", Parts { operands: &[value], attributes, results, ..Parts::default() })
    }

    /// A tensor with fewer dimensions: the groups are those of the value that become one.
    pub(crate) fn collapse(
        &self,
        value: Val<'c>,
        groups: &[Vec<usize>],
        shape: &Shape,
        element: Type<'c>,
    ) -> Export<Val<'c>> {
        let attributes = &[("reassociation", self.groups(groups)?)];
        let results = &[self.tensor(shape, element)];
        self.one(
            "tensor.collapse_shape",
            Parts { operands: &[value], attributes, results, ..Parts::default() },
        )
    }
}

/// A region with one block.
pub(crate) fn region(block: Block<'_>) -> Region<'_> {
    let region = Region::new();
    region.append_block(block);
    region
}
