//! Mappings, as `m![..]` writes them, once all names in them are known.

use std::fmt;
use std::rc::Rc;
use visa_algebra::{Expr, PadKind};

/// An axis that the input declares: its number among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AxisId(pub(crate) usize);

/// The contents of padding (book 03).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pad {
    /// Anything: `#`, `#{*}`.
    Top,
    /// Zero: `#{0}`.
    Zero,
    /// Nothing that may be written: `#{!}`.
    Bottom,
}

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Map {
    /// So many copies of the same.
    Copies(u64),
    /// All of an axis.
    Axis(AxisId),
    /// `E / n`
    Stride(Rc<Map>, u64),
    /// `E % n`
    Modulo(Rc<Map>, u64),
    /// `E = n`
    Resize(Rc<Map>, u64),
    /// `E # n`
    Padding(Rc<Map>, u64, Pad),
    /// Factors, the outermost first.
    List(Vec<Map>),
}

/// The facts about axes that printing a mapping needs.
pub(crate) trait Axes {
    fn name(&self, id: AxisId) -> String;
    fn size(&self, id: AxisId) -> u64;
}

impl Map {
    /// The mapping of one position.
    pub(crate) fn one() -> Self {
        Self::List(vec![Self::Copies(1)])
    }

    /// Its factors, the outermost first.
    pub(crate) fn factors(&self) -> Vec<&Self> {
        match self {
            Self::List(factors) => factors.iter().flat_map(Self::factors).collect(),
            Self::Copies(_)
            | Self::Axis(_)
            | Self::Stride(..)
            | Self::Modulo(..)
            | Self::Resize(..)
            | Self::Padding(..) => vec![self],
        }
    }

    /// Its factors without padding and copies, the outermost first.
    pub(crate) fn without_padding(&self) -> Vec<Self> {
        let stored = |factor: &Self| match factor {
            Self::Copies(_) => Vec::new(),
            Self::Padding(of, ..) => of.without_padding(),
            Self::Axis(_) | Self::Stride(..) | Self::Modulo(..) | Self::Resize(..) | Self::List(_) => {
                vec![factor.clone()]
            }
        };
        self.factors().into_iter().flat_map(stored).collect()
    }

    /// The positions of it; `None` on overflow.
    pub(crate) fn size(&self, axes: &dyn Axes) -> Option<u64> {
        match self {
            Self::Copies(count) => Some(*count),
            Self::Axis(id) => Some(axes.size(*id)),
            Self::Stride(of, by) => Some(of.size(axes)?.div_ceil((*by).max(1))),
            Self::Modulo(of, by) => Some(of.size(axes)?.min(*by)),
            Self::Resize(_, size) | Self::Padding(_, size, _) => Some(*size),
            Self::List(all) => {
                all.iter().try_fold(1_u64, |product, own| product.checked_mul(own.size(axes)?))
            }
        }
    }

    /// The positions of it that are no padding; `None` on overflow.
    pub(crate) fn live(&self, axes: &dyn Axes) -> Option<u64> {
        match self {
            Self::Copies(_) | Self::Axis(_) | Self::Resize(..) => self.size(axes),
            Self::Stride(of, by) => Some(of.live(axes)?.div_ceil((*by).max(1))),
            Self::Modulo(of, by) => Some(of.live(axes)?.min(*by)),
            Self::Padding(of, ..) => of.live(axes),
            Self::List(all) => {
                all.iter().try_fold(1_u64, |product, own| product.checked_mul(own.live(axes)?))
            }
        }
    }

    /// The same with other padding.
    pub(crate) fn with_pads(&self, change: fn(Pad) -> Pad) -> Self {
        let inner = |of: &Self| Rc::new(of.with_pads(change));
        match self {
            Self::Copies(_) | Self::Axis(_) => self.clone(),
            Self::Stride(of, by) => Self::Stride(inner(of), *by),
            Self::Modulo(of, by) => Self::Modulo(inner(of), *by),
            Self::Resize(of, size) => Self::Resize(inner(of), *size),
            Self::Padding(of, size, pad) => Self::Padding(inner(of), *size, change(*pad)),
            Self::List(all) => Self::List(all.iter().map(|own| own.with_pads(change)).collect()),
        }
    }

    /// The axes that it mentions, in order.
    pub(crate) fn axes(&self, found: &mut Vec<AxisId>) {
        match self {
            Self::Copies(_) => {}
            Self::Axis(id) => found.push(*id),
            Self::Stride(of, _) | Self::Modulo(of, _) | Self::Resize(of, _) | Self::Padding(of, ..) => {
                of.axes(found);
            }
            Self::List(all) => all.iter().for_each(|own| own.axes(found)),
        }
    }

    /// The mapping as one of ours.
    pub(crate) fn expr(&self, axes: &dyn Axes) -> Expr {
        let inner = |of: &Self| of.expr(axes);
        match self {
            Self::Copies(count) => Expr::Literal(*count),
            Self::Axis(id) => Expr::axis(&axes.name(*id)),
            Self::Stride(of, by) => inner(of).stride(*by),
            Self::Modulo(of, by) => inner(of).modulo(*by),
            Self::Resize(of, size) => inner(of).resize(*size),
            Self::Padding(of, size, pad) => inner(of).pad(*size, pad.kind()),
            Self::List(_) => Expr::pair(self.factors().into_iter().map(inner)),
        }
    }

    /// The mapping as text, with its brackets.
    pub(crate) fn text(&self, axes: &dyn Axes) -> String {
        let factors: Vec<String> = self.factors().into_iter().map(|own| own.term(axes)).collect();
        format!("[{}]", factors.join(", "))
    }

    fn term(&self, axes: &dyn Axes) -> String {
        let inner = |of: &Self| match of {
            Self::List(_) => of.text(axes),
            Self::Copies(_)
            | Self::Axis(_)
            | Self::Stride(..)
            | Self::Modulo(..)
            | Self::Resize(..)
            | Self::Padding(..) => of.term(axes),
        };
        match self {
            Self::Copies(count) => count.to_string(),
            Self::Axis(id) => axes.name(*id),
            Self::Stride(of, by) => format!("{} / {by}", inner(of)),
            Self::Modulo(of, by) => format!("{} % {by}", inner(of)),
            Self::Resize(of, size) => format!("{} = {size}", inner(of)),
            Self::Padding(of, size, Pad::Top) => format!("{} # {size}", inner(of)),
            Self::Padding(of, size, Pad::Zero) => format!("{} # {size} {{0}}", inner(of)),
            Self::Padding(of, size, Pad::Bottom) => format!("{} # {size} {{!}}", inner(of)),
            Self::List(_) => self.text(axes),
        }
    }
}

impl Pad {
    fn kind(self) -> PadKind {
        match self {
            Self::Top => PadKind::Top,
            Self::Zero => PadKind::Zero,
            Self::Bottom => PadKind::Bottom,
        }
    }
}

impl fmt::Display for Pad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Top => "*",
            Self::Zero => "0",
            Self::Bottom => "!",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two;

    impl Axes for Two {
        fn name(&self, id: AxisId) -> String {
            ["A", "B"][id.0].to_owned()
        }

        fn size(&self, id: AxisId) -> u64 {
            [12, 7][id.0]
        }
    }

    fn a() -> Rc<Map> {
        Map::Axis(AxisId(0)).into()
    }

    #[test]
    fn mappings_are_written_as_ours() {
        let stride = Map::Stride(a(), 8);
        let pads = [Pad::Top, Pad::Zero, Pad::Bottom].map(|pad| Map::Padding(a(), 16, pad));
        let list = Map::List([vec![stride.clone(), Map::Copies(1)], pads.to_vec()].concat());
        assert_eq!(list.text(&Two), "[A / 8, 1, A # 16, A # 16 {0}, A # 16 {!}]");
        assert_eq!(list.expr(&Two).to_string(), list.text(&Two));
        let nested =
            Map::Padding(Map::List(vec![Map::Axis(AxisId(1)), Map::Modulo(a(), 4)]).into(), 32, Pad::Top);
        assert_eq!(Map::List(vec![nested, Map::Resize(a(), 3)]).text(&Two), "[[B, A % 4] # 32, A = 3]");
    }

    #[test]
    fn positions_are_counted() {
        let size = |map: Map| map.size(&Two);
        // 12 over steps of 8 are two.
        assert_eq!(size(Map::Stride(a(), 8)), Some(2));
        assert_eq!(size(Map::Modulo(a(), 8)), Some(8));
        assert_eq!(size(Map::Modulo(a(), 16)), Some(12));
        assert_eq!(
            size(Map::List(vec![Map::Axis(AxisId(0)), Map::Axis(AxisId(1)), Map::Copies(2)])),
            Some(168)
        );
        assert_eq!(size(Map::List(vec![Map::Copies(1 << 40); 2])), None);
        // 12 padded to 16 are live, 2 steps of 8 of them.
        let padded: Rc<Map> = Map::Padding(a(), 16, Pad::Top).into();
        assert_eq!(padded.live(&Two), Some(12));
        assert_eq!(Map::Stride(padded, 8).live(&Two), Some(2));
    }
}
