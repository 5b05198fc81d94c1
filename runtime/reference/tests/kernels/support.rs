//! Reading kernels, making data, and the arithmetic of the oracles: written from docs/numerics.md, sharing nothing
//! with the crates under test.

use std::collections::BTreeMap;

use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_ir::verify::verify;
use visa_numerics::SumOrder;
use visa_reference::{LogicalResult, Options, evaluate};

/// A context with the logical dialects.
pub(crate) fn context() -> Context {
    Context::new(&[&visa_mapping::DIALECT, &visa_stream::DIALECT])
}

/// A module that is read without errors; it need not verify.
pub(crate) fn read(ctx: &Context, text: &str) -> Module {
    let source = Source::new("test", format!("visa 1\n{text}"));
    let parsed = parse(ctx, &source, 0..source.text.len());
    assert_eq!(parsed.diagnostics, [], "{text}");
    parsed.module
}

/// A module that verifies.
pub(crate) fn verified(ctx: &Context, text: &str) -> Module {
    let module = read(ctx, text);
    assert_eq!(verify(ctx, &module), [], "{text}");
    module
}

/// Arguments by name.
pub(crate) fn arguments<const N: usize>(given: [(&str, Vec<u8>); N]) -> BTreeMap<String, Vec<u8>> {
    given.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

/// The results of the only kernel of a text that verifies.
pub(crate) fn run<const N: usize>(
    text: &str,
    order: SumOrder,
    given: [(&str, Vec<u8>); N],
) -> Vec<LogicalResult> {
    let ctx = context();
    let module = verified(&ctx, text);
    evaluate(
        &ctx,
        &module,
        None,
        &arguments(given).into(),
        Options { sum_order: order, ..Options::default() },
    )
    .unwrap()
}

/// The results of the only kernel of a text that need not verify.
pub(crate) fn run_unverified<const N: usize>(
    text: &str,
    order: SumOrder,
    given: [(&str, Vec<u8>); N],
) -> Vec<LogicalResult> {
    let ctx = context();
    let module = read(&ctx, text);
    evaluate(
        &ctx,
        &module,
        None,
        &arguments(given).into(),
        Options { sum_order: order, ..Options::default() },
    )
    .unwrap()
}

/// The error of a text that may or may not verify.
pub(crate) fn refused<const N: usize>(
    text: &str,
    entry: Option<&str>,
    given: [(&str, Vec<u8>); N],
) -> Diagnostic {
    let ctx = context();
    let module = read(&ctx, text);
    evaluate(&ctx, &module, entry, &arguments(given).into(), Options::default()).unwrap_err()
}

/// Deterministic numbers (a 64-bit linear congruential generator).
pub(crate) struct Random(visa_support::Random);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(visa_support::Random(seed))
    }

    pub(crate) fn next(&mut self) -> u32 {
        self.0.word()
    }

    pub(crate) fn i32s(&mut self, count: usize) -> Vec<i32> {
        (0..count).map(|_| (self.next() << 1 ^ self.next()).cast_signed()).collect()
    }

    pub(crate) fn i8s(&mut self, count: usize) -> Vec<i8> {
        (0..count).map(|_| self.next() as i8).collect()
    }

    /// Numbers of both signs over 16 binades, so that sums in another order differ.
    pub(crate) fn bf16s(&mut self, count: usize) -> Vec<u16> {
        let one = |bits: u32| ((bits & 0x8000) | (0x3c00 + (bits & 0x07ff))) as u16;
        (0..count).map(|_| one(self.next())).collect()
    }
}

pub(crate) fn bytes_i32(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub(crate) fn bytes_i8(values: &[i8]) -> Vec<u8> {
    values.iter().map(|value| value.cast_unsigned()).collect()
}

pub(crate) fn bytes_u16(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The number that a bf16 is.
pub(crate) fn wide(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The bf16 nearest to a normal number, ties to even.
pub(crate) fn narrow(x: f32) -> u16 {
    let bits = x.to_bits();
    let (kept, lost) = (bits >> 16, bits & 0xffff);
    let up = lost > 0x8000 || (lost == 0x8000 && kept % 2 == 1);
    (kept + u32::from(up)) as u16
}

/// The sum of one packet: neighbours first, recursively.
pub(crate) fn pairwise(products: &[f32]) -> f32 {
    match products {
        [only] => *only,
        _ => {
            let (low, high) = products.split_at(products.len() / 2);
            pairwise(low) + pairwise(high)
        }
    }
}

/// The sum of packets of `packet` products in an order; normal numbers only.
pub(crate) fn total(products: &[f32], packet: usize, order: SumOrder) -> f32 {
    match order {
        SumOrder::Tree => products.chunks(packet).map(pairwise).reduce(|sum, partial| sum + partial).unwrap(),
        SumOrder::Sequential => products.iter().fold(-0.0, |sum, product| sum + product),
    }
}
