//! Lists of digits, major to minor, as rules put them together.

use visa_algebra::{Axes, Digit, Digits, Expr, rebuild};

/// The mapping of a list of digits; `None` if there is none, or it has too many positions.
#[must_use]
pub(crate) fn mapping<'a>(digits: impl IntoIterator<Item = &'a Digit>, axes: &Axes) -> Option<Expr> {
    let mut digits = digits.into_iter();
    let whole = digits.try_fold(Digits::unit(), |all, digit| Digits::concat(&all, &Digits::of(*digit)));
    rebuild(&whole.ok()?, axes).ok()
}

/// Every order of different digits or terms; of more than `most` only their own.
#[must_use]
pub(crate) fn orders<T: Clone + PartialEq>(digits: &[T], most: usize) -> Vec<Vec<T>> {
    if digits.len() > most {
        return vec![digits.to_vec()];
    }
    let mut orders = vec![Vec::new()];
    for _ in digits {
        let longer = orders.iter().flat_map(|order: &Vec<T>| {
            let left = digits.iter().filter(|digit| !order.contains(digit));
            left.map(|digit| order.iter().chain([digit]).cloned().collect::<Vec<_>>())
        });
        orders = longer.collect();
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_algebra::digits;

    fn list(axes: &Axes) -> Vec<Digit> {
        let expr = Expr::pair(["A", "B", "C"].map(Expr::axis));
        digits(&expr, axes).expect("digits").iter().rev().copied().collect()
    }

    #[test]
    fn three_digits_have_six_orders_and_one_where_that_is_too_many() {
        let mut axes = Axes::new();
        for (name, size) in [("A", 2), ("B", 3), ("C", 5)] {
            axes.declare(name, size).expect("a new axis");
        }
        let digits = list(&axes);
        let texts = |most: usize| -> Vec<String> {
            let orders = orders(&digits, most);
            orders.iter().map(|order| mapping(order, &axes).expect("a mapping").to_string()).collect()
        };
        assert_eq!(texts(3), ["[A, B, C]", "[A, C, B]", "[B, A, C]", "[B, C, A]", "[C, A, B]", "[C, B, A]"]);
        assert_eq!(texts(2), ["[A, B, C]"]);
        assert_eq!(mapping(&[], &axes), Some(Expr::Literal(1)));
    }
}
