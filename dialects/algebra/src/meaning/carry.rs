//! Parts of one composite mapping that carry into each other (book 03, "Equivalent Mapping").
//!
//! `E / n`, `E % n` and `E / m % n` are *parts* of E: they count positions of E, several at a step. Each part read by
//! itself holds the cells of E there. For an axis the parts add up, and so they do if every cut falls on a boundary of
//! E's digits. Elsewhere they carry: with |D| = 5, `[A, D] / 4` at 1 is the last D of A = 0, and one position further
//! A is 1. So the parts of one E in one mapping *share* E: their positions in E add up, and E is read once, at the
//! sum. Padding of E is met at the last part, and a sum that reaches the size of E is don't-care padding, as after the
//! end of an axis.
//!
//! Parts are of the same E if their operands have the same text, except for parts without effect. Adjacent parts that
//! continue each other form one part: that is the book's `[E / n, E % n] = E` for every E, and most mappings have no
//! shared parts after that.

use std::convert::Infallible;
use std::sync::Arc;

use crate::error::MapError;
use crate::expr::axes::{Axes, AxisId};
use crate::expr::{Expr, PadKind, Side};
use crate::meaning::digits::{Digit, Digits, digits};
use crate::meaning::padded::Padded;
use crate::meaning::rebuild::rebuild;

/// Some positions of a mapping that is cut: `step` apart, `size` of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    /// The cut expression.
    pub(crate) base: &'a Expr,
    /// Positions of the base from one to the next.
    pub(crate) step: u64,
    /// Number of its positions.
    pub(crate) size: u64,
}

impl<'a> Part<'a> {
    /// The part that `/`, `%`, and `=` of a divisor make, aliases written out. `None` for an expression without a cut,
    /// for one position and for the whole, and for an axis or a number, whose parts add up by themselves.
    pub(crate) fn of(expr: &'a Expr, axes: &Axes) -> Option<Self> {
        let part = Self::cut(expr, axes).filter(|part| is_composite(part.base) && part.size > 1)?;
        (part.step > 1 || part.base.size(axes).ok()? > part.size).then_some(part)
    }

    fn cut(expr: &'a Expr, axes: &Axes) -> Option<Self> {
        let (Expr::Stride { inner, n } | Expr::Modulo { inner, n } | Expr::Resize { inner, size: n }) = expr
        else {
            return None;
        };
        let whole = || Some(Self { base: &**inner, step: 1, size: inner.size(axes).ok()? });
        let part = Self::cut(inner, axes).or_else(whole)?;
        let n = *n;
        match expr {
            _ if n == 0 || !part.size.is_multiple_of(n) => None,
            Expr::Stride { .. } => {
                Some(Self { step: part.step.checked_mul(n)?, size: part.size / n, ..part })
            }
            _ => Some(Self { size: n, ..part }),
        }
    }

    /// The part as it is written of another base, which has `whole` positions.
    fn of_base(&self, base: Expr, whole: u64) -> Expr {
        let steps = if self.step == 1 { base } else { base.stride(self.step) };
        if self.size == whole / self.step { steps } else { steps.modulo(self.size) }
    }
}

/// Returns true if a mapping can be shared. The selection of a table is a separate loop for each part (`gather.rs`).
fn is_composite(base: &Expr) -> bool {
    !matches!(base, Expr::Axis(_) | Expr::Literal(_)) && !gathers(base)
}

fn gathers(map: &Expr) -> bool {
    matches!(map, Expr::Gather { .. }) || map.children().into_iter().any(gathers)
}

/// A mapping whose shared parts are found.
#[derive(Debug)]
pub(crate) struct Settled {
    /// The mapping without aliases, with parts that make up one written as one.
    pub(crate) map: Expr,
    /// The bases of which it has several parts even so, because they are not side by side.
    pub(crate) apart: Vec<Expr>,
}

/// A mapping with its shared parts made one where they are side by side; `None` if no parts share a base: then
/// it is read as it is written.
///
/// # Errors
/// A broken size rule, or an axis or alias that is not declared.
pub(crate) fn settle(expr: &Expr, axes: &Axes) -> Result<Option<Settled>, MapError> {
    if cuts(expr, axes) < 2 {
        return Ok(None);
    }
    expr.size(axes)?;
    let mut map = expr.expanded(axes)?;
    let mut shared = shared_bases(&map, axes)?;
    if shared.is_empty() {
        return Ok(None);
    }
    // A mapping made up of parts may itself be part of another one.
    loop {
        let joined = Sharing { axes, shared: &shared }.joined(&map)?;
        shared = shared_bases(&joined, axes)?;
        if shared.is_empty() || joined == map {
            return Ok(Some(Settled { map: joined, apart: shared }));
        }
        map = joined;
    }
}

/// The number of cuts of composites in a mapping, aliases written out: a quick check, for nearly all have at most one.
fn cuts(expr: &Expr, axes: &Axes) -> usize {
    if let Expr::Alias(name) = expr {
        return axes.alias(name).map_or(0, |mapping| cuts(mapping, axes));
    }
    let mut base = expr;
    while let Expr::Stride { inner, .. } | Expr::Modulo { inner, .. } | Expr::Resize { inner, .. } = base {
        base = inner;
    }
    let own = usize::from(is_composite(base) && !std::ptr::eq(base, expr));
    let inside = if let Expr::Alias(_) = base { cuts(base, axes) } else { 0 };
    own + inside + base.children().into_iter().map(|child| cuts(child, axes)).sum::<usize>()
}

/// The parts of one base.
struct Group {
    /// The base, tidy.
    base: Expr,
    /// Step and size of each part.
    cuts: Vec<(u64, u64)>,
}

impl Group {
    /// Returns true if its parts share the base: there are several, and some cut falls between the boundaries of its
    /// digits.
    fn is_shared(&self, axes: &Axes) -> bool {
        self.cuts.len() > 1 && !self.is_even(axes)
    }

    /// Returns true if each cut falls on a boundary of the base's digits, so that the cells of the separate parts add
    /// up.
    fn is_even(&self, axes: &Axes) -> bool {
        let Ok(digits) = digits(&self.base, axes) else { return false };
        let falls = |at: u64| digits.split(at).is_ok();
        digits.offset().is_empty() && self.cuts.iter().all(|(step, size)| falls(*step) && falls(step * size))
    }
}

/// The bases of which a mapping without aliases holds several parts that carry.
fn shared_bases(map: &Expr, axes: &Axes) -> Result<Vec<Expr>, MapError> {
    let mut groups = Vec::new();
    collect(map, axes, &mut groups)?;
    let shared = groups.into_iter().filter(|group| group.is_shared(axes));
    Ok(shared.map(|group| group.base).collect())
}

/// Adds the parts of a mapping to those of their bases. The base's own parts count once, however many parts it has.
fn collect(expr: &Expr, axes: &Axes, groups: &mut Vec<Group>) -> Result<(), MapError> {
    let Some(part) = Part::of(expr, axes) else {
        return expr.children().into_iter().try_for_each(|child| collect(child, axes, groups));
    };
    let (base, cut) = (tidy(part.base, axes)?, (part.step, part.size));
    match groups.iter_mut().find(|group| group.base == base) {
        Some(group) => group.cuts.push(cut),
        None if is_composite(&base) => {
            groups.push(Group { base, cuts: vec![cut] });
            collect(part.base, axes, groups)?;
        }
        None => {}
    }
    Ok(())
}

/// A mapping without parts that have no effect: groups in groups, terms `1`, operators that preserve all positions.
fn tidy(expr: &Expr, axes: &Axes) -> Result<Expr, MapError> {
    let inside = expr.map_children(|child| tidy(child, axes))?;
    if let Expr::Pair(_) | Expr::Outer(_) = inside {
        return Ok(Expr::pair(inside.counting().cloned()));
    }
    // The positions that a table picks and the terms of a window differ, even if their numbers are equal.
    let (Expr::Pad { inner, .. }
    | Expr::Resize { inner, .. }
    | Expr::Stride { inner, .. }
    | Expr::Modulo { inner, .. }
    | Expr::Slice { inner, .. }) = &inside
    else {
        return Ok(inside);
    };
    Ok(if inner.size(axes)? == inside.size(axes)? { (**inner).clone() } else { inside })
}

/// Rewrites the parts of some bases.
struct Sharing<'a> {
    axes: &'a Axes,
    /// The bases, tidy.
    shared: &'a [Expr],
}

impl Sharing<'_> {
    /// The mapping with parts of shared bases written of those, and the ones that count on side by side as one.
    fn joined(&self, expr: &Expr) -> Result<Expr, MapError> {
        if let Some(part) = Part::of(expr, self.axes) {
            let base = tidy(part.base, self.axes)?;
            if self.shared.contains(&base) {
                return Ok(part.of_base(base, part.base.size(self.axes)?));
            }
        }
        let inside = expr.map_children(|child| self.joined(child))?;
        let (Expr::Pair(_) | Expr::Outer(_)) = inside else { return Ok(inside) };
        // Minor first.
        let mut done: Vec<Expr> = Vec::new();
        for term in inside.terms().into_iter().rev() {
            match done.last().and_then(|minor| self.counts_on(term, minor)) {
                Some(one) => {
                    done.pop();
                    done.push(one);
                }
                None => done.push(term.clone()),
            }
        }
        done.reverse();
        Ok(Expr::pair(done))
    }

    /// The one term that two neighbours make up: parts of a shared base of which the major one, perhaps padded,
    /// truncated or sliced, counts on where the minor one ends.
    fn counts_on(&self, major: &Expr, minor: &Expr) -> Option<Expr> {
        let low = Part::of(minor, self.axes).filter(|part| self.shared.contains(part.base))?;
        if let Some(high) = Part::of(major, self.axes).filter(|part| part.base == low.base) {
            let joined = Part { size: high.size.checked_mul(low.size)?, ..low };
            let whole = low.base.size(self.axes).ok()?;
            let counts_on = low.step.checked_mul(low.size) == Some(high.step);
            return counts_on.then(|| joined.of_base(low.base.clone(), whole));
        }
        let scaled = |n: &u64| n.checked_mul(low.size);
        Some(match major {
            Expr::Pad { inner, size, kind, side } => {
                let inner = Box::new(self.counts_on(inner, minor)?);
                Expr::Pad { inner, size: scaled(size)?, kind: *kind, side: *side }
            }
            Expr::Resize { inner, size } => self.counts_on(inner, minor)?.resize(scaled(size)?),
            Expr::Slice { inner, offset } => self.counts_on(inner, minor)?.slice(scaled(offset)?),
            // None of these goes on after a part.
            Expr::Axis(_)
            | Expr::Alias(_)
            | Expr::Literal(_)
            | Expr::Pair(_)
            | Expr::Outer(_)
            | Expr::Stride { .. }
            | Expr::Modulo { .. }
            | Expr::Gather { .. }
            | Expr::Slide(_) => return None,
        })
    }
}

/// Mappings with an axis in place of each of some composites that they cut.
#[derive(Clone, Debug)]
pub struct Views {
    axes: Axes,
    bases: Vec<(Expr, Arc<str>)>,
}

impl Views {
    /// Gives each base an axis, named as the base is written.
    pub(crate) fn new(bases: Vec<Expr>, axes: &Axes) -> Result<Self, MapError> {
        let mut axes = axes.clone();
        let mut named = Vec::new();
        for base in bases {
            let axis = axes.stand_in(base.quoted().trim_matches('`'), base.size(&axes)?);
            named.push((base, axes.name(axis).into()));
        }
        Ok(Self { axes, bases: named })
    }

    /// A settled mapping with axes in place of the bases that it cuts.
    pub(crate) fn view(&self, map: &Expr) -> Expr {
        if let Some(part) = Part::of(map, &self.axes)
            && let Some((base, name)) = self.bases.iter().find(|(base, _)| base == part.base)
            && let Ok(whole) = base.size(&self.axes)
        {
            return part.of_base(Expr::Axis(name.clone()), whole);
        }
        let Ok(view) = map.map_children(|child| Ok::<_, Infallible>(self.view(child)));
        view
    }

    /// The axes, those that stand in for composites included.
    #[must_use]
    pub fn axes(&self) -> &Axes {
        &self.axes
    }

    /// The mapping that has this view.
    #[must_use]
    pub fn back(&self, view: &Expr) -> Expr {
        if let Expr::Axis(name) = view
            && let Some((base, _)) = self.bases.iter().find(|(_, own)| own == name)
        {
            return base.clone();
        }
        let Ok(map) = view.map_children(|child| Ok::<_, Infallible>(self.back(child)));
        map
    }
}

/// A mapping without aliases in which parts that form one are joined. If parts that carry into each other stay
/// separate, it comes with the view in which their base is an axis.
///
/// # Errors
/// A broken size rule, or an axis or alias that is not declared.
pub fn joined(expr: &Expr, axes: &Axes) -> Result<(Expr, Option<Views>), MapError> {
    let Some(Settled { map, apart }) = settle(expr, axes)? else { return Ok((expr.expanded(axes)?, None)) };
    if apart.is_empty() {
        return Ok((map, None));
    }
    let views = Views::new(apart, axes)?;
    Ok((views.view(&map), Some(views)))
}

/// Returns true if a mapping cuts a composite between the boundaries of its digits. The cells of the parts may depend
/// on other parts of the same composite, which may be in another mapping of the tensor: so the text of such a mapping
/// matters.
///
/// # Errors
/// A broken size rule, or an axis or alias that is not declared.
pub fn cuts_unevenly(expr: &Expr, axes: &Axes) -> Result<bool, MapError> {
    if cuts(expr, axes) == 0 {
        return Ok(false);
    }
    let mut groups = Vec::new();
    expr.size(axes)?;
    collect(&expr.expanded(axes)?, axes, &mut groups)?;
    Ok(groups.iter().any(|group| !group.is_even(axes)))
}

/// Two mappings with axes in place of the bases that either has in parts that are not side by side; `None` if
/// there are none.
///
/// # Errors
/// A broken size rule, or an axis or alias that is not declared.
pub(crate) fn views(a: &Expr, b: &Expr, axes: &Axes) -> Result<Option<(Expr, Expr, Axes)>, MapError> {
    let mut bases: Vec<Expr> = Vec::new();
    let mut settled = |map: &Expr| {
        Ok::<_, MapError>(match settle(map, axes)? {
            None => map.expanded(axes)?,
            Some(settled) => {
                bases.extend(settled.apart);
                settled.map
            }
        })
    };
    let (a, b) = (settled(a)?, settled(b)?);
    bases.sort();
    bases.dedup();
    if bases.is_empty() {
        return Ok(None);
    }
    let views = Views::new(bases, axes)?;
    Ok(Some((views.view(&a), views.view(&b), views.axes)))
}

/// Mappings of a stream and of a buffer in terms of the composites that they cut so that parts carry: each is an
/// axis there, whose positions its parts count. A mapping that holds such a composite whole, position after
/// position, holds the axis in its place.
#[derive(Clone, Debug)]
pub struct Carries {
    views: Views,
    wholes: Vec<(Expr, Digits, AxisId)>,
}

impl Carries {
    /// The composites that these mappings of one tensor cut so that the parts carry: in several parts that share them,
    /// or in one that has no digits itself. Don't-care padding after a composite stays around its axis. Composites
    /// with other padding, with windows or without digits are excluded: [`padded_terms`](crate::padded_terms) finds
    /// these in streams. `None` if there are none.
    ///
    /// # Errors
    /// A broken size rule, or an axis or alias that is not declared.
    pub fn new(maps: &[&Expr], axes: &Axes) -> Result<Option<Self>, MapError> {
        if maps.iter().all(|map| cuts(map, axes) == 0) {
            return Ok(None);
        }
        let (mut groups, mut wholes) = (Vec::new(), Vec::new());
        for map in maps {
            map.size(axes)?;
            collect(&map.expanded(axes)?, axes, &mut groups)?;
        }
        for Group { base, cuts } in groups.iter().filter(|group| !group.is_even(axes)) {
            let has_digits = |&(step, size): &(u64, u64)| {
                let part = Part { base, step, size };
                base.size(axes).is_ok_and(|whole| digits(&part.of_base(base.clone(), whole), axes).is_ok())
            };
            let core = unpadded(base);
            let known = wholes.iter().any(|(known, _)| known == core);
            if known || cuts.len() == 1 && cuts.iter().all(has_digits) || Padded::of(base, axes)?.is_some() {
                continue;
            }
            let loose = |digit: &Digit| digit.is_full() || digit.kind == PadKind::Top;
            if let Ok(digits) = digits(core, axes)
                && digits.offset().is_empty()
                && digits.iter().all(loose)
            {
                wholes.push((core.clone(), digits));
            }
        }
        if wholes.is_empty() {
            return Ok(None);
        }
        let views = Views::new(wholes.iter().map(|(base, _)| base.clone()).collect(), axes)?;
        let with_axis = |((base, digits), name): ((Expr, Digits), &str)| {
            views.axes.resolve(name).map(|axis| (base, digits, axis))
        };
        let names = views.bases.iter().map(|(_, name)| &**name);
        let wholes = wholes.into_iter().zip(names).map(with_axis).collect::<Result<_, _>>()?;
        Ok(Some(Self { views, wholes }))
    }

    /// The axes, those that stand in for composites included.
    #[must_use]
    pub fn axes(&self) -> &Axes {
        &self.views.axes
    }

    /// Returns true if an axis stands for a composite.
    #[must_use]
    pub fn stands_in(&self, axis: AxisId) -> bool {
        self.wholes.iter().any(|(.., own)| *own == axis)
    }

    /// The composites with their axes.
    pub fn wholes(&self) -> impl Iterator<Item = (&Expr, AxisId)> {
        self.wholes.iter().map(|(whole, _, axis)| (whole, *axis))
    }

    /// A mapping with the axes in place of the composites that it cuts, or that it holds position after position.
    ///
    /// # Errors
    /// A broken size rule, or an axis or alias that is not declared.
    pub fn view(&self, map: &Expr) -> Result<Expr, MapError> {
        let view = self.cut(&map.expanded(&self.views.axes)?)?;
        let Ok(mut digits) = digits(&view, &self.views.axes) else { return Ok(view) };
        let before = digits.clone();
        for (_, whole, axis) in &self.wholes {
            let size = self.views.axes.size(*axis);
            let stand_in = Digit {
                axis: Some(*axis),
                stride: 1,
                extent: size,
                live: size,
                kind: PadKind::Top,
                axis_size: size,
            };
            digits = digits.replaced(whole, stand_in).unwrap_or(digits);
        }
        if digits == before { Ok(view) } else { rebuild(&digits, &self.views.axes) }
    }

    /// A mapping with the axes instead of the bases of its parts.
    fn cut(&self, map: &Expr) -> Result<Expr, MapError> {
        let axes = &self.views.axes;
        let Some(part) = Part::of(map, axes) else { return map.map_children(|child| self.cut(child)) };
        let base = tidy(part.base, axes)?;
        match self.views.bases.iter().find(|(whole, _)| whole == unpadded(&base)) {
            Some((whole, name)) => {
                let around = in_place(&base, whole, &Expr::Axis(name.clone()));
                Ok(part.of_base(around, part.base.size(axes)?))
            }
            None => map.map_children(|child| self.cut(child)),
        }
    }
}

/// A mapping without don't-care padding after it.
fn unpadded(map: &Expr) -> &Expr {
    match map {
        Expr::Pad { inner, kind: PadKind::Top, side: Side::High, .. } => unpadded(inner),
        _ => map,
    }
}

/// The padded mapping with another inside.
fn in_place(map: &Expr, whole: &Expr, other: &Expr) -> Expr {
    match map {
        Expr::Pad { inner, size, kind, .. } if map != whole => {
            in_place(inner, whole, other).pad(*size, *kind)
        }
        _ => other.clone(),
    }
}
