//! Loops over tiles: tiles that are moved to other tiles and perhaps computed, some of them in branches, with indices
//! that are sums or choices; and sums that a loop carries.

use super::array::{Array, Axis};
use super::elementwise::Expression;
use super::intent::{Intent, SLICES};
use super::numbers::sum;
use visa_numerics::DType;
use visa_support::Random;
use visa_support::kernel::{Kernel, list};

/// An index: its line, and its value in each iteration.
struct Index {
    line: String,
    name: &'static str,
    values: Vec<u64>,
}

impl Index {
    /// Draws one of `%i` that is below `count` in each of the `count` iterations.
    fn draw(random: &mut Random, count: u64, name: &'static str) -> Self {
        let last = count - 1;
        let all = || 0..count;
        let (line, values): (String, Vec<u64>) = match random.below(4) {
            0 => (format!("%{name} = tm.affine %i by [-1], plus {last}"), all().map(|i| last - i).collect()),
            1 => (format!("%{name} = tm.affine %i by [1], plus 0"), all().collect()),
            2 => {
                // The tile before, and the last one for the first.
                let line = format!(
                    "%{name}l = tm.affine by [], plus {last}
                     %{name}b = tm.affine %i by [1], plus -1
                     %{name} = tm.select %i, %{name}b, %{name}l from 1"
                );
                (line, all().map(|i| if i == 0 { last } else { i - 1 }).collect())
            }
            _ => {
                let at = random.under(count);
                (format!("%{name} = tm.affine by [], plus {at}"), all().map(|_| at).collect())
            }
        };
        Self { line, name, values }
    }
}

/// The axis that is cut, positions of a tile and tiles.
#[derive(Clone, Copy)]
struct Cut {
    axis: &'static str,
    tile: u64,
    count: u64,
}

impl Cut {
    fn along(self) -> String {
        if self.tile == 1 { self.axis.to_owned() } else { format!("{} / {}", self.axis, self.tile) }
    }

    /// The terms of a tile for each axis, in a slice.
    fn terms(self, axes: &[Axis]) -> Vec<String> {
        let term = |&(axis, _): &Axis| match axis == self.axis {
            true => (self.tile > 1).then(|| format!("{axis} % {}", self.tile)),
            false => Some(axis.to_owned()),
        };
        axes.iter().filter_map(term).collect()
    }
}

const CUTS: [Cut; 5] = [
    Cut { axis: "M", tile: 1, count: 6 },
    Cut { axis: "M", tile: 2, count: 3 },
    Cut { axis: "M", tile: 3, count: 2 },
    Cut { axis: "N", tile: 1, count: 4 },
    Cut { axis: "N", tile: 2, count: 2 },
];

const AXES: &str = "M = 6, N = 4, K = 8";

/// The axes of a tensor in HBM, in any order with rows last.
fn layout(random: &mut Random) -> Vec<Axis> {
    let mut axes = vec![("M", 6), ("N", 4)];
    random.shuffle(&mut axes);
    axes.push(("K", 8));
    axes
}

fn names(axes: &[Axis]) -> String {
    list(&axes.iter().map(|(axis, _)| *axis).collect::<Vec<_>>())
}

/// A pipeline of `%t0` in data memory, whose tiles have these terms besides K.
fn pipeline(expression: &Expression, terms: &[String]) -> String {
    let time = list(terms);
    format!(
        "%p0 = stream.begin main %t0
         %p1 = stream.fetch %p0 time [{time}], packet [K]
         %p2 = stream.collect %p1 time [{time}], packet [K]
         %p3 = stream.vector_expr [x: {}] %p2
         %t1 = stream.commit %p3 at 8192, element [{time}, K]",
        expression.text()
    )
}

/// A loop that fills tiles of the result from tiles of `x`.
pub(super) fn tiles(random: &mut Random) -> Intent {
    let dtype = random.of(&[DType::F32, DType::I32]);
    let (cut, from, to) = (random.of(&CUTS), layout(random), layout(random));
    let (source, target) = (Index::draw(random, cut.count, "s"), Index::draw(random, cut.count, "d"));
    let expression = (random.below(2) == 0).then(|| Expression::draw(random, dtype, dtype, None, 2));
    let runs = match random.below(3) {
        0 => 1 + random.under(cut.count - 1)..cut.count,
        1 => 0..1 + random.under(cut.count - 1),
        _ => 0..cut.count,
    };
    let terms = cut.terms(&[("M", 6), ("N", 4)]);
    let along = cut.along();
    let mut kernel = Kernel::new(AXES)
        .argument("x", &dtype.to_string(), &names(&from), 0)
        .argument("z", &dtype.to_string(), &names(&to), 1 << 20)
        .line(&format!("%r = tm.for [{}](%i, %acc) %z {{", cut.count))
        .lines(&source.line)
        .lines(&target.line);
    let bounds = match (runs.start, runs.end < cut.count) {
        (0, false) => None,
        (0, true) => Some(format!("below {}", runs.end)),
        (from, _) => Some(format!("from {from}")),
    };
    let branch = bounds.map_or_else(String::new, |bounds| format!("%n = tm.if %i, %acc {bounds} {{"));
    kernel = kernel
        .line(&branch)
        .line(&format!("%tile = tm.tile %x, %{} along [{along}]", source.name))
        .line(&format!(
            "%t0 = tm.to_dm %tile at 0, cluster [1 # 2], slice [1 # {}], element [{}, K]",
            SLICES,
            list(&terms)
        ));
    let mut end = "t0";
    if let Some(expression) = &expression {
        (kernel, end) = (kernel.lines(&pipeline(expression, &terms)), "t1");
    }
    let filled = if branch.is_empty() { "n" } else { "m" };
    kernel = kernel.line(&format!("%{filled} = tm.to_tile %{end}, %acc, %{} along [{along}]", target.name));
    if !branch.is_empty() {
        kernel = kernel.line("tm.yield %m").line("}");
    }
    let result = layout(random);
    let text = kernel.line("tm.yield %n").line("}").returns("r", 1 << 29, &names(&result));
    Intent::new(text, move |random| {
        let (x, z) = (Array::random(random, dtype, from), Array::random(random, dtype, to));
        let filled = Array::of(dtype, result, |point| {
            let at = point.at(cut.axis);
            // The last iteration that fills the tile.
            let iteration = runs.clone().rev().find(|&i| target.values[i as usize] == at / cut.tile);
            let Some(iteration) = iteration else { return z.at(point) };
            let first = source.values[iteration as usize] * cut.tile;
            let element = x.at(&point.with(cut.axis, first + at % cut.tile))?;
            Some(expression.as_ref().map_or(element, |expression| expression.bits(element, 0)))
        });
        (vec![("x", x), ("z", z)], filled)
    })
}

/// A sum that a loop carries: in each iteration it is the sum before and a tile.
pub(super) fn carried(random: &mut Random) -> Intent {
    let dtype = random.of(&[DType::F32, DType::I32]);
    let (cut, from) = (random.of(&CUTS), layout(random));
    let source = Index::draw(random, cut.count, "s");
    let terms = cut.terms(&[("M", 6), ("N", 4)]);
    let (inside, along) = (list(&terms), cut.along());
    let axes: Vec<Axis> = axes_of_tile(cut);
    let in_memory = format!("cluster [1 # 2], slice [1 # {}], element [{inside}, K]", SLICES);
    let text = Kernel::new(AXES)
        .argument("x", &dtype.to_string(), &names(&from), 0)
        .argument("z", &dtype.to_string(), &of_tile(cut), 1 << 20)
        .line(&format!("%a0 = tm.to_dm %z at 16384, {in_memory}"))
        .line(&format!("%r = tm.for [{}](%i, %acc) %a0 {{", cut.count))
        .lines(&source.line)
        .line(&format!("%tile = tm.tile %x, %s along [{along}]"))
        .line(&format!("%t0 = tm.to_dm %tile at 0, {in_memory}"))
        .lines(&format!(
            "%v0 = stream.begin sub %t0
             %v1 = stream.fetch %v0 time [{inside}], packet [K]
             %v2 = stream.collect %v1 time [{inside}], packet [K]
             %v3 = stream.to_vrf %v2 at 0, element [{inside}, K]
             %p0 = stream.begin main %acc
             %p1 = stream.fetch %p0 time [{inside}], packet [K]
             %p2 = stream.collect %p1 time [{inside}], packet [K]
             %p3 = stream.vector_expr [x, b: x + b] %p2, %v3
             %n = stream.commit %p3 at 20480, then [16384], element [{inside}, K]
             tm.yield %n
             }}"
        ))
        .returns("r", 1 << 29, &of_tile(cut));
    Intent::new(text, move |random| {
        let (x, z) = (Array::random(random, dtype, from), Array::random(random, dtype, axes.clone()));
        let total = Array::of(dtype, axes, |point| {
            source.values.iter().try_fold(z.at(point)?, |total, tile| {
                let at = tile * cut.tile + point.at(cut.axis);
                Some(sum(dtype.is_float(), total, x.at(&point.with(cut.axis, at))?))
            })
        });
        (vec![("x", x), ("z", z)], total)
    })
}

/// The axes of a tile as an array.
fn axes_of_tile(cut: Cut) -> Vec<Axis> {
    let part = |(axis, size)| match axis == cut.axis {
        true => (cut.tile > 1).then_some((axis, cut.tile)),
        false => Some((axis, size)),
    };
    [("M", 6), ("N", 4), ("K", 8)].into_iter().filter_map(part).collect()
}

/// The layout of a tile as an array.
fn of_tile(cut: Cut) -> String {
    let term = |&(axis, size): &Axis| match axis == cut.axis {
        true => format!("{axis} = {size}"),
        false => axis.to_owned(),
    };
    list(&axes_of_tile(cut).iter().map(term).collect::<Vec<_>>())
}
