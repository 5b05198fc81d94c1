//! Changing modules: patterns that a worklist applies until nothing matches, folds, and conversions from some
//! operations to others.

pub mod conversion;
mod converter;
pub mod driver;
pub mod fold;
pub mod pattern;
pub mod rewriter;
pub mod target;
pub mod types;
mod worklist;

pub use conversion::{Conversion, Kind, Order};
pub use converter::{ConversionPattern, ConvertFn, Converter};
pub use driver::{Greedy, MAX_REWRITES, Missed, NOT_CONVERGED, Outcome};
pub use fold::{Fold, FoldFn};
pub use pattern::{NoMatch, RewriteFn, RewritePattern};
pub use rewriter::Rewriter;
pub use target::{ConversionTarget, Legality};
pub use types::TypeConverter;
