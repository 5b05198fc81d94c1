//! Chains of views and transfers: tiles, transposed and relabelled tensors, and parts that are moved.

use super::array::{Array, Axis, Point};
use super::intent::Intent;
use std::rc::Rc;
use visa_numerics::DType;
use visa_support::Random;
use visa_support::kernel::{Kernel, list};

/// A tensor of a chain: its layout, and the element of the argument that each of its elements is.
struct View {
    name: String,
    /// The axes in the order of the layout, with their elements.
    axes: Vec<Axis>,
    /// The same as text: an axis of which the tensor has a part states it.
    terms: Vec<String>,
    source: Rc<dyn Fn(&Point) -> Point>,
}

/// Sizes of the declared axes: E has that of A, and P and Q together that of D.
const SIZES: [Axis; 7] = [("A", 6), ("B", 4), ("C", 3), ("D", 16), ("E", 6), ("P", 2), ("Q", 8)];

impl View {
    fn has_whole(&self, axis: &str) -> bool {
        self.terms.iter().any(|term| term == axis)
    }

    /// The terms in another order, mostly with the last one last.
    fn moved(&self, random: &mut Random) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.terms.len()).collect();
        let end = if random.below(8) == 0 { order.len() } else { order.len() - 1 };
        random.shuffle(&mut order[..end]);
        order
    }

    /// A tile of `size` positions along an axis.
    fn tile(&self, random: &mut Random, name: &str) -> Option<(String, Self)> {
        let whole: Vec<usize> = (0..self.axes.len()).filter(|&at| self.has_whole(self.axes[at].0)).collect();
        let at = *random.pick(&whole)?;
        let (axis, all) = self.axes[at];
        let count = 1 + random.under(all - 1);
        let first = random.under(all - count + 1);
        let line = format!("%{name} = tm.tile %{} along [{axis}], size {count}, index {first}", self.name);
        let (mut axes, mut terms) = (self.axes.clone(), self.terms.clone());
        axes[at] = (axis, count);
        terms[at] = format!("{axis} = {count}");
        let source = Rc::clone(&self.source);
        let source = Rc::new(move |point: &Point| source(&point.with(axis, point.at(axis) + first)));
        Some((line, Self { name: name.to_owned(), axes, terms, source }))
    }

    /// A and E with their names exchanged, or one of them with the name of the other.
    fn transposed(&self, name: &str) -> Option<(String, Self)> {
        let has = |axis: &str| self.axes.iter().any(|(known, _)| *known == axis);
        let (line, from, to) = match (self.has_whole("A"), self.has_whole("E")) {
            (true, true) => ("axes [A, E], to [E, A]", ["A", "E"], ["E", "A"]),
            (true, false) if !has("E") => ("axes [A], to [E]", ["A", "A"], ["E", "E"]),
            (false, true) if !has("A") => ("axes [E], to [A]", ["E", "E"], ["A", "A"]),
            (_, _) => return None,
        };
        let renamed = |axis: &'static str| match axis {
            axis if axis == from[0] => to[0],
            axis if axis == from[1] => to[1],
            axis => axis,
        };
        let axes: Vec<Axis> = self.axes.iter().map(|&(axis, size)| (renamed(axis), size)).collect();
        let terms = self.axes.iter().zip(&self.terms).map(|(&(axis, _), term)| match term == axis {
            true => renamed(axis).to_owned(),
            false => term.clone(),
        });
        let source = Rc::clone(&self.source);
        let source = Rc::new(move |point: &Point| {
            let [first, second] = to.map(|axis| point.at(axis));
            source(&point.with(from[0], first).with(from[1], second))
        });
        let view = Self { name: name.to_owned(), axes, terms: terms.collect(), source };
        Some((format!("%{name} = tm.transpose %{} {line}", self.name), view))
    }

    /// D as P and Q.
    fn reshaped(&self, name: &str) -> Option<(String, Self)> {
        let at = self.terms.iter().position(|term| term == "D")?;
        let (mut axes, mut terms) = (self.axes.clone(), self.terms.clone());
        axes.splice(at..=at, [("P", 2), ("Q", 8)]);
        terms.splice(at..=at, ["P".to_owned(), "Q".to_owned()]);
        let line = format!("%{name} = tm.reshape %{} element [{}]", self.name, list(&terms));
        let source = Rc::clone(&self.source);
        let source =
            Rc::new(move |point: &Point| source(&point.with("D", point.at("P") * 8 + point.at("Q"))));
        Some((line, Self { name: name.to_owned(), axes, terms, source }))
    }

    /// The tensor in HBM in another order; with a part of an axis in front, it counts from 0 in the result.
    fn transferred(&self, random: &mut Random, name: &str, step: u64) -> (String, Self) {
        let order = self.moved(random);
        let axes: Vec<Axis> = order.iter().map(|&at| self.axes[at]).collect();
        let terms: Vec<String> = order.iter().map(|&at| self.terms[at].clone()).collect();
        let address = (step + 1) << 24;
        let line = format!("%{name} = tm.to_hbm %{} at {address}, element [{}]", self.name, list(&terms));
        (line, Self { name: name.to_owned(), axes, terms, source: Rc::clone(&self.source) })
    }
}

/// A chain of up to six views and transfers of `x`.
pub(super) fn views(random: &mut Random) -> Intent {
    let dtype = random.of(&[DType::I8, DType::Bf16, DType::F32]);
    let mut axes: Vec<Axis> = vec![("A", 6), ("B", 4), ("C", 3)];
    if random.below(2) == 0 {
        axes.push(("E", 6));
        axes.retain(|(axis, _)| *axis != "C");
    }
    random.shuffle(&mut axes);
    axes.push(("D", 16));
    let terms: Vec<String> = axes.iter().map(|(axis, _)| (*axis).to_owned()).collect();
    let sizes: Vec<String> = SIZES.iter().map(|(axis, size)| format!("{axis} = {size}")).collect();
    let mut kernel = Kernel::new(&sizes.join(", ")).argument("x", &dtype.to_string(), &list(&terms), 0);
    let of_x = axes.clone();
    let mut view = View { name: "x".to_owned(), axes, terms, source: Rc::new(|point: &Point| *point) };
    for step in 0..1 + random.under(6) {
        let name = format!("t{step}");
        let next = match random.below(4) {
            0 => view.tile(random, &name),
            1 => view.transposed(&name),
            2 => view.reshaped(&name),
            _ => None,
        };
        let (line, next) = next.unwrap_or_else(|| view.transferred(random, &name, step));
        (kernel, view) = (kernel.line(&line), next);
    }
    let (line, last) = view.transferred(random, "y", 8);
    let text = kernel.line(&line).returns("y", 1 << 29, &list(&last.terms));
    Intent::new(text, move |random| {
        let x = Array::random(random, dtype, of_x);
        let result = Array::of(dtype, last.axes.clone(), |point| x.at(&(last.source)(point)));
        (vec![("x", x)], result)
    })
}
