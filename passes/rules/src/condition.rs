//! Conditions of rules: tests of a kind, joined by `and`, `or` and `not`.

/// The condition of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition<T> {
    /// One of several.
    Either(Vec<Self>),
    /// All of several.
    Both(Vec<Self>),
    /// The opposite.
    Not(Box<Self>),
    /// A test of the kind.
    Test(T),
}

impl<T> Condition<T> {
    /// Returns true if the condition holds, where `test` decides the tests; `None` if they do not decide it yet.
    pub fn holds(&self, test: &dyn Fn(&T) -> Option<bool>) -> Option<bool> {
        match self {
            Self::Either(parts) => decide(parts, test, true),
            Self::Both(parts) => decide(parts, test, false),
            Self::Not(denied) => denied.holds(test).map(|holds| !holds),
            Self::Test(own) => test(own),
        }
    }

    /// The tests, in order.
    pub fn tests(&self) -> Vec<&T> {
        match self {
            Self::Either(parts) | Self::Both(parts) => parts.iter().flat_map(Self::tests).collect(),
            Self::Not(denied) => denied.tests(),
            Self::Test(own) => vec![own],
        }
    }
}

/// Several conditions of which one with the value `decisive` decides.
fn decide<T>(parts: &[Condition<T>], test: &dyn Fn(&T) -> Option<bool>, decisive: bool) -> Option<bool> {
    let mut known = true;
    for part in parts {
        match part.holds(test) {
            Some(holds) if holds == decisive => return Some(decisive),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(!decisive)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test is its own answer.
    fn holds(condition: &Condition<Option<bool>>) -> Option<bool> {
        condition.holds(&|own| *own)
    }

    #[test]
    fn an_open_test_leaves_open_only_what_it_decides() {
        let [yes, no, open] = [Some(true), Some(false), None].map(Condition::Test);
        let both =
            |left: &Condition<_>, right: &Condition<_>| Condition::Both(vec![left.clone(), right.clone()]);
        let either =
            |left: &Condition<_>, right: &Condition<_>| Condition::Either(vec![left.clone(), right.clone()]);
        assert_eq!(holds(&both(&yes, &yes)), Some(true));
        assert_eq!(holds(&both(&open, &no)), Some(false));
        assert_eq!(holds(&both(&open, &yes)), None);
        assert_eq!(holds(&either(&no, &no)), Some(false));
        assert_eq!(holds(&either(&open, &yes)), Some(true));
        assert_eq!(holds(&either(&open, &no)), None);
        assert_eq!(holds(&Condition::Not(Box::new(open))), None);
        assert_eq!(holds(&Condition::Not(Box::new(no))), Some(true));
    }
}
