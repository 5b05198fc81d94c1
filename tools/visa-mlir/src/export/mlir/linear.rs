//! Sums of loop indices times constants, and their quotients and remainders.

/// A sum of expressions of loop indices, each times a factor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear(Vec<Term>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    factor: u64,
    text: String,
    /// The greatest value of the expression.
    most: u64,
}

impl Linear {
    /// The index of a loop with this number of iterations.
    pub(crate) fn index(number: usize, count: u64) -> Self {
        Self::term(format!("d{number}"), count.saturating_sub(1))
    }

    fn term(text: String, most: u64) -> Self {
        if most == 0 { Self::default() } else { Self(vec![Term { factor: 1, text, most }]) }
    }

    /// The greatest value.
    pub(crate) fn most(&self) -> u64 {
        self.0.iter().map(|term| term.factor * term.most).sum()
    }

    /// The sum of two.
    pub(crate) fn plus(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The product with a number.
    pub(crate) fn times(mut self, by: u64) -> Self {
        self.0.iter_mut().for_each(|term| term.factor *= by);
        self
    }

    /// The terms that are multiples of a number, and the others.
    fn parts(self, by: u64) -> (Self, Self) {
        let (whole, rest) = self.0.into_iter().partition(|term| term.factor.is_multiple_of(by));
        (Self(whole), Self(rest))
    }

    /// The quotient, rounded down.
    pub(crate) fn divided(self, by: u64) -> Self {
        let (mut whole, rest) = self.parts(by);
        whole.0.iter_mut().for_each(|term| term.factor /= by);
        let most = rest.most() / by;
        whole.plus(Self::term(format!("({rest}) floordiv {by}"), most))
    }

    /// The remainder of the quotient.
    pub(crate) fn remainder(self, by: u64) -> Self {
        let (_, rest) = self.parts(by);
        if rest.most() < by { rest } else { Self::term(format!("(({rest}) mod {by})"), by - 1) }
    }
}

impl std::fmt::Display for Linear {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let term = |term: &Term| match term.factor {
            1 => term.text.clone(),
            factor => format!("({}) * {factor}", term.text),
        };
        let terms: Vec<String> = self.0.iter().map(term).collect();
        f.write_str(if terms.is_empty() { "0" } else { "" })?;
        f.write_str(&terms.join(" + "))
    }
}
