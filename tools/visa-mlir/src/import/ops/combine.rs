//! Functions of two elements that reductions use.

use crate::import::emit::elem::Elem;
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::emit::integers;
use crate::import::ops::choice::Extreme;
use crate::import::read::operations::ScalarOp;
use crate::import::read::types::Kind;
use visa_ir::diag::Diagnostic;
use visa_ir::words;
use visa_numerics::ReduceName;

/// A function of two elements that a reduction uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combine {
    Add,
    Mul,
    Max,
    Min,
    /// Conditions that all hold.
    And,
    /// Conditions of which one holds.
    Or,
    /// The greatest integer without a sign.
    MaxUnsigned,
    /// The least integer without a sign.
    MinUnsigned,
}

words! {
    /// An operation that a reduction may repeat.
    pub(crate) enum Repeated: ScalarOp {
        AddF, AddI, MulF, MulI, MaximumF, MaxNumF, MaxSI, MinimumF, MinNumF, MinSI, AndI, MinUI, OrI, MaxUI,
    }
}

impl Combine {
    /// The function of an operation; `None` if it is no reduction's.
    pub(crate) fn of(op: Repeated, kind: Kind) -> Option<Self> {
        let condition = kind == Kind::I1;
        match op {
            Repeated::AddF | Repeated::AddI => Some(Self::Add),
            // A condition that holds is -1 in operations with signs.
            Repeated::MulI | Repeated::MaxSI if condition => Some(Self::And),
            Repeated::MinSI if condition => Some(Self::Or),
            Repeated::MulF | Repeated::MulI => Some(Self::Mul),
            Repeated::MaximumF | Repeated::MaxNumF | Repeated::MaxSI => Some(Self::Max),
            Repeated::MinimumF | Repeated::MinNumF | Repeated::MinSI => Some(Self::Min),
            Repeated::AndI => condition.then_some(Self::And),
            Repeated::OrI => condition.then_some(Self::Or),
            Repeated::MinUI => Some(if condition { Self::And } else { Self::MinUnsigned }),
            Repeated::MaxUI => Some(if condition { Self::Or } else { Self::MaxUnsigned }),
        }
    }

    /// The function that a choice of two elements is.
    pub(crate) fn of_extreme(extreme: Extreme) -> Self {
        match extreme {
            Extreme::Max => Self::Max,
            Extreme::Min => Self::Min,
            Extreme::MaxUnsigned => Self::MaxUnsigned,
            Extreme::MinUnsigned => Self::MinUnsigned,
        }
    }

    pub(crate) fn name(self) -> ReduceName {
        match self {
            Self::Add => ReduceName::Add,
            Self::Mul => ReduceName::Mul,
            Self::Max | Self::Or | Self::MaxUnsigned => ReduceName::Max,
            Self::Min | Self::And | Self::MinUnsigned => ReduceName::Min,
        }
    }

    pub(crate) fn function(self) -> Function {
        match self {
            Self::Add => Function::Add,
            Self::Mul => Function::Mul,
            Self::Max | Self::Or | Self::MaxUnsigned => Function::Max,
            Self::Min | Self::And | Self::MinUnsigned => Function::Min,
        }
    }

    /// Returns true if combining with `number` changes nothing.
    pub(crate) fn is_identity(self, kind: Kind, number: f64) -> bool {
        let (least, greatest) =
            if kind.is_float() { (f64::NEG_INFINITY, f64::INFINITY) } else { float_range(kind.range()) };
        match self {
            Self::Add => number == 0.0,
            Self::Mul => number == 1.0,
            Self::Max => number <= least,
            Self::Min => number >= greatest,
            Self::And => number != 0.0,
            Self::Or | Self::MaxUnsigned => number == 0.0,
            // All bits are set.
            Self::MinUnsigned => number == -1.0,
        }
    }
}

fn float_range((least, greatest): (i64, i64)) -> (f64, f64) {
    (least as f64, greatest as f64)
}

/// Combines two elements, and rounds to a kind.
///
/// # Errors
/// Those of the operations that it takes.
pub(crate) fn combined(
    emit: &mut Emitter<'_>,
    combine: Combine,
    both: [&Elem; 2],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    if matches!(combine, Combine::MaxUnsigned | Combine::MinUnsigned) {
        return integers::unsigned_extreme(emit, combine.function(), both, kind);
    }
    let elem = emit.apply(combine.function(), &both, kind)?;
    emit.rounded(elem)
}
