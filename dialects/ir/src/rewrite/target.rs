//! Target of a conversion: the operations that are legal after it.

use crate::decl::OpDecl;
use crate::module::OpRef;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// Legality of an operation after a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Legality {
    /// It may.
    Legal,
    /// It may not, for this reason.
    Illegal(Cow<'static, str>),
    /// Not specified: a partial conversion keeps it, a full one does not.
    Unknown,
}

/// Checks that a single operation is legal; the error is the reason.
type Legal = dyn Fn(OpRef<'_>) -> Result<(), Cow<'static, str>>;

#[derive(Clone)]
enum Rule {
    Legal,
    Illegal,
    Where(Rc<Legal>),
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legal => "legal",
            Self::Illegal => "illegal",
            Self::Where(_) => "legal in part",
        })
    }
}

/// Legal operations. A rule for an operation has precedence over a rule for its dialect.
#[derive(Clone, Debug, Default)]
pub struct ConversionTarget {
    dialects: BTreeMap<&'static str, Rule>,
    ops: BTreeMap<&'static str, Rule>,
}

impl ConversionTarget {
    /// A target without rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All operations of a dialect are legal.
    #[must_use]
    pub fn legal_dialect(mut self, name: &'static str) -> Self {
        self.dialects.insert(name, Rule::Legal);
        self
    }

    /// No operation of a dialect is legal.
    #[must_use]
    pub fn illegal_dialect(mut self, name: &'static str) -> Self {
        self.dialects.insert(name, Rule::Illegal);
        self
    }

    /// An operation is legal.
    #[must_use]
    pub fn legal_op(mut self, decl: &'static OpDecl) -> Self {
        self.ops.insert(decl.name, Rule::Legal);
        self
    }

    /// An operation is not legal.
    #[must_use]
    pub fn illegal_op(mut self, decl: &'static OpDecl) -> Self {
        self.ops.insert(decl.name, Rule::Illegal);
        self
    }

    /// Makes an operation legal if `legal` returns `Ok`; its error is the reason.
    #[must_use]
    pub fn legal_where(
        mut self,
        decl: &'static OpDecl,
        legal: impl Fn(OpRef<'_>) -> Result<(), Cow<'static, str>> + 'static,
    ) -> Self {
        self.ops.insert(decl.name, Rule::Where(Rc::new(legal)));
        self
    }

    /// The legality of an operation.
    #[must_use]
    pub fn legality(&self, op: OpRef<'_>) -> Legality {
        let dialect = op.name().split('.').next();
        let of_dialect =
            || dialect.and_then(|dialect| self.dialects.get(dialect)).map(|rule| (rule, dialect));
        match self.ops.get(op.name()).map(|rule| (rule, None)).or_else(of_dialect) {
            None => Legality::Unknown,
            Some((Rule::Legal, _)) => Legality::Legal,
            Some((Rule::Illegal, None)) => Legality::Illegal("the operation is illegal".into()),
            Some((Rule::Illegal, Some(dialect))) => {
                Legality::Illegal(format!("dialect `{dialect}` is illegal").into())
            }
            Some((Rule::Where(legal), _)) => legal(op).map_or_else(Legality::Illegal, |()| Legality::Legal),
        }
    }
}
