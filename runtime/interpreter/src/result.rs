//! Results of a run.

use std::fmt;

use visa_ir::span::Span;

/// A result: the array in C order, little-endian elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultData {
    /// Bytes of the whole array.
    pub bytes: Vec<u8>,
    /// In shadow mode, the first element that depends on an undefined byte.
    pub undefined: Option<UndefinedReport>,
}

/// An operation that undefined data came through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// Where it is in the source.
    pub span: Span,
    /// Reason that undefined elements are excluded from a reduction of several.
    pub excludes: Option<&'static str>,
}

/// Where undefined data begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Memory that nothing wrote; the chain's first operation read it.
    NeverWritten,
    /// A table that has no entry for an element, which the fetch, the chain's first operation, indexed it with.
    OutsideTable,
    /// A slice that takes no part in the command; the switch, the chain's first operation, took its data all the
    /// same.
    InactiveSlice,
}

/// A result's element that depends on undefined data, and how it came there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedReport {
    /// The result.
    pub result: String,
    /// C-order coordinates of the first such element.
    pub index: Vec<u64>,
    /// The operations on its way, first to last; empty if nothing ever wrote the element.
    pub chain: Vec<Step>,
    /// The undefined data at the start of the chain.
    pub origin: Origin,
}

impl fmt::Display for UndefinedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "element {:?} of result `{}` is undefined: ", self.index, self.result)?;
        let Some(first) = self.chain.first() else {
            return write!(f, "it was never written");
        };
        match self.origin {
            Origin::NeverWritten => write!(f, "{} read memory that was never written", first.name)?,
            Origin::OutsideTable => write!(f, "{} indexed outside the table", first.name)?,
            Origin::InactiveSlice => {
                write!(f, "{} took data of a slice that takes no part in the command", first.name)?;
            }
        }
        if self.chain.len() > 1 {
            let names: Vec<&str> = self.chain.iter().map(|step| step.name.as_str()).collect();
            write!(f, "; it came through {}", names.join(", "))?;
        }
        if let Some(excludes) = self.chain.iter().find_map(|step| step.excludes) {
            write!(f, "; {excludes}")?;
        }
        Ok(())
    }
}

/// C-order coordinates of an element; empty for a scalar.
pub(crate) fn coordinates(element: u64, shape: &[u64]) -> Vec<u64> {
    let mut rest = element;
    let mut index: Vec<u64> = shape
        .iter()
        .rev()
        .map(|&extent| {
            let at = rest % extent;
            rest /= extent;
            at
        })
        .collect();
    index.reverse();
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_count_the_last_axis_fastest() {
        assert_eq!(coordinates(23, &[2, 3, 4]), [1, 2, 3]);
        assert_eq!(coordinates(5, &[2, 3, 4]), [0, 1, 1]);
        assert!(coordinates(0, &[]).is_empty());
    }

    #[test]
    fn an_untouched_element_says_so() {
        let report = UndefinedReport {
            result: "out".to_owned(),
            index: vec![1, 0],
            chain: Vec::new(),
            origin: Origin::NeverWritten,
        };
        assert_eq!(report.to_string(), "element [1, 0] of result `out` is undefined: it was never written");
    }
}
