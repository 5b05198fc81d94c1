//! `linalg.generic`: an expression of the elements of tensors, over a space of loops.

use melior::ir::{Attribute, Block, Type, ValueLike};

use crate::export::mlir::builder::{Builder, Parts, Val, region};
use crate::export::mlir::refusals::Export;

/// A loop of a `linalg.generic`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loop {
    /// Each iteration has separate results.
    Parallel,
    /// The iterations are combined.
    Reduction,
}

impl Loop {
    fn attribute(self) -> &'static str {
        match self {
            Self::Parallel => "#linalg.iterator_type<parallel>",
            Self::Reduction => "#linalg.iterator_type<reduction>",
        }
    }
}

/// A tensor that loops read or write, and the expression of each of its coordinates, such as `d0 + d1`.
#[derive(Clone)]
pub(crate) struct Access<'c> {
    pub(crate) value: Val<'c>,
    /// The type of its elements.
    pub(crate) element: Type<'c>,
    pub(crate) coordinates: Vec<String>,
}

/// Appends loops: `body` computes the result's element of those of the inputs, of which the last is the output's.
pub(crate) fn generic<'c>(
    builder: Builder<'c, '_>,
    loops: &[Loop],
    inputs: &[Access<'c>],
    output: &Access<'c>,
    body: impl FnOnce(Builder<'c, '_>, &[Val<'c>]) -> Export<Val<'c>>,
) -> Export<Val<'c>> {
    let all: Vec<&Access<'c>> = inputs.iter().chain([output]).collect();
    let arguments: Vec<_> = all.iter().map(|access| (access.element, builder.location)).collect();
    let block = Block::new(&arguments);
    let inner = builder.inside(&block);
    let arguments: Vec<Val<'c>> =
        (0..all.len()).map(|at| builder.argument(&block, at)).collect::<Export<_>>()?;
    let result = body(inner, &arguments)?;
    inner.all("linalg.yield", Parts { operands: &[result], ..Parts::default() })?;
    let names: Vec<String> = (0..loops.len()).map(|at| format!("d{at}")).collect();
    let map = |access: &&Access<'c>| {
        format!("affine_map<({}) -> ({})>", names.join(", "), access.coordinates.join(", "))
    };
    let list = |items: Vec<String>| builder.attribute(&format!("[{}]", items.join(", ")));
    let maps: Attribute<'c> = list(all.iter().map(map).collect())?;
    let iterators = list(loops.iter().map(|own| own.attribute().to_owned()).collect())?;
    let operands: Vec<_> = all.iter().map(|access| access.value).collect();
    builder.one(
        "linalg.generic",
        Parts {
            operands: &operands,
            attributes: &[
                ("indexing_maps", maps),
                ("iterator_types", iterators),
                ("operandSegmentSizes", builder.segments(&[inputs.len() as i32, 1])),
            ],
            results: &[output.value.r#type()],
            regions: vec![region(block)],
        },
    )
}
