//! The normal form as an expression, for people and for comparing texts.

use crate::equality::equal::{Equality, equal};
use crate::error::MapError;
use crate::expr::Expr;
use crate::expr::axes::Axes;
use crate::meaning::carry::joined;
use crate::meaning::digits::{Digits, digits};
use crate::meaning::rebuild::rebuild;

/// The mapping written as its digits, major to minor. Two mappings with a digit normal form are equal exactly when
/// this gives the same expression for both.
///
/// A mapping without one keeps the operators that fall inside a digit, and their operands are normalised; so are the
/// stretches of a group that have digits together. Then equal mappings may still read differently.
///
/// # Errors
/// A broken size rule, or an axis or alias that is not declared.
pub fn normalize(expr: &Expr, axes: &Axes) -> Result<Expr, MapError> {
    let (expanded, views) = joined(expr, axes)?;
    if let Some(views) = views {
        // Parts that carry into each other stay parts of one mapping: here it is an axis.
        let normal = views.back(&normalize(&expanded, views.axes())?);
        return Ok(if equal(expr, &normal, axes) == Equality::Equal {
            normal
        } else {
            views.back(&expanded)
        });
    }
    expanded.size(axes)?;
    let whole = digits(&expanded, axes).ok().and_then(|digits| rebuild(&digits, axes).ok());
    Ok(whole.unwrap_or_else(|| parts(&expanded, axes)))
}

/// The normal form of a part of an expression without aliases whose sizes are checked.
fn part(expr: &Expr, axes: &Axes) -> Expr {
    of_digits(expr, axes).unwrap_or_else(|| parts(expr, axes))
}

/// An expression without digits with its parts in normal form.
fn parts(expr: &Expr, axes: &Axes) -> Expr {
    let Ok(inner) = expr.map_children(|child| Ok::<_, MapError>(part(child, axes))) else {
        return expr.clone();
    };
    match inner {
        Expr::Pair(terms) => stretches(flat(terms), axes),
        other => other,
    }
}

/// The digits of a part as an expression, if it has digits that hold in a group and can be written.
fn of_digits(expr: &Expr, axes: &Axes) -> Option<Expr> {
    let digits = digits(expr, axes).ok().filter(Digits::holds_in_groups)?;
    rebuild(&digits, axes).ok()
}

/// The terms of a group with nested groups written out.
fn flat(terms: Vec<Expr>) -> Vec<Expr> {
    let mut all = Vec::new();
    for term in terms {
        match term {
            Expr::Pair(inner) => all.extend(flat(inner)),
            other => all.push(other),
        }
    }
    all
}

/// The group with each longest stretch of terms that has digits as those digits, from the minor side on.
fn stretches(terms: Vec<Expr>, axes: &Axes) -> Expr {
    let mut done: Vec<Expr> = Vec::new();
    let mut stretch: Vec<Expr> = Vec::new();
    let mut close = |stretch: &mut Vec<Expr>| match Expr::pair(std::mem::take(stretch)) {
        Expr::Literal(1) => {}
        Expr::Pair(terms) => done.extend(terms.into_iter().rev()),
        other => done.push(other),
    };
    for term in terms.into_iter().rev() {
        let longer = Expr::pair([term.clone()].into_iter().chain(stretch.iter().cloned()));
        match of_digits(&longer, axes) {
            Some(normal) => stretch = flat(vec![normal]),
            None => {
                close(&mut stretch);
                stretch = vec![term];
            }
        }
    }
    close(&mut stretch);
    done.reverse();
    Expr::pair(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("A", 8), ("B", 512), ("F", 5)] {
            axes.declare(name, size).unwrap();
        }
        axes.define("Tiles", &Expr::parse("[B / 64, B % 64]").unwrap()).unwrap();
        axes
    }

    fn normal_text(text: &str) -> String {
        normalize(&Expr::parse(text).unwrap(), &axes())
            .map_or_else(|error| error.code.into(), |e| e.to_string())
    }

    #[test]
    fn digits_are_written_major_first() {
        for (text, normal) in [
            ("[B / 64, B % 64]", "[B]"),
            ("[{Tiles}, 1]", "[B]"),
            ("[[A, B] / 512]", "[A]"),
            ("[[A, F] / 5, 2, 3]", "[A, 6]"),
            ("[B = 64]", "[B % 64]"),
            ("[1]", "[1]"),
        ] {
            assert_eq!(normal_text(text), normal, "{text}");
        }
    }

    #[test]
    fn ragged_operators_stay_and_what_they_stand_on_is_normal() {
        for (text, normal) in [
            ("[[A, B / 64, B % 64, F] # 20481]", "[[A, B, F] # 20481]"),
            ("[A / 4, [A % 4, F] # 64, B / 64, B % 64]", "[A / 4, [A % 4, F] # 64, B]"),
            ("[[A / 4, A % 4, F] # 64, [A, [F / 1, B]] # 20481]", "[[A, F] # 64, [A, F, B] # 20481]"),
            ("[$(B / 64:2, F / 1:1)]", "[$(B / 64:2, F:1)]"),
            ("[F # 8 {left}]", "[F # 8 {left}]"),
        ] {
            assert_eq!(normal_text(text), normal, "{text}");
        }
    }

    #[test]
    fn a_part_whose_order_matters_stays() {
        // `[F @ 1, 1 # 2 {!}]` leaves the axis below F = 4 before it meets the padding; the other order would not.
        let mut axes = axes();
        axes.declare("One", 1).unwrap();
        let left = Expr::parse("[$(F:1, A:1), F, One # 2 {!}, F @ 1]").unwrap();
        let normal = normalize(&left, &axes).unwrap();
        assert_eq!(
            crate::equality::equal::equal(&left, &normal, &axes),
            crate::equality::equal::Equality::Equal,
            "{normal}"
        );
    }

    #[test]
    fn broken_mappings_have_none() {
        for (text, code) in
            [("[A / 3]", "map-stride"), ("[Q]", "map-undeclared-axis"), ("[{Q}]", "map-undefined-alias")]
        {
            assert_eq!(normal_text(text), code, "{text}");
        }
    }
}
