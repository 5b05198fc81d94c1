//! Kernels that move data: chains of transfers, pipelines that convert, and rows that an index tensor chooses. The
//! element at each index is that of an argument at an index that the generator knows.

use super::array::{Array, axes_of};
use super::intent::{Intent, SLICES};
use super::numbers::converted;
use crate::{pipelines, rows, transfers};
use visa_numerics::DType;
use visa_support::Random;

/// The format of a name.
fn dtype(name: &str) -> DType {
    DType::all().find(|dtype| dtype.to_string() == name).expect("a format")
}

/// Sizes of the axes of `transfers`.
fn of_transfers(axis: &str) -> u64 {
    match axis {
        "A" => 4,
        "B" | "C" => 3,
        _ => 16,
    }
}

/// A chain of transfers: the result is the argument.
pub(super) fn transfer(random: &mut Random) -> Intent {
    let transfers::Chain { text, dtype: format, argument, result } = transfers::draw(random, SLICES);
    Intent::new(text, move |random| {
        let x = Array::random(random, dtype(format), axes_of(&argument, of_transfers));
        let moved = Array::of(x.dtype, axes_of(&result, of_transfers), |point| x.at(point));
        (vec![("h", x)], moved)
    })
}

/// Sizes of the axes of `pipelines`.
fn of_pipelines(axis: &str) -> u64 {
    match axis {
        "S" => SLICES,
        "A" => 8,
        "B" => 4,
        "C" => 6,
        "I" => 2,
        _ => 3,
    }
}

/// A pipeline: each element is converted, and is in the result at its own index.
pub(super) fn pipeline(random: &mut Random) -> Intent {
    let moved = pipelines::draw(random, SLICES);
    let text = moved.text.clone();
    Intent::new(text, move |random| {
        let pipelines::Formats { stored, fetched, .. } = moved.formats;
        let committed = moved.formats.committed();
        let [of_x, of_z] = moved.layouts.map(|layout| layout.map(|layout| axes_of(&layout, of_pipelines)));
        let x = Array::random(random, stored, of_x.expect("an argument"));
        let z = of_z.map(|axes| {
            let format = if moved.into_part { committed } else { stored };
            Array::random(random, format, axes)
        });
        let convert = |bits: u32, zero: i64| {
            converted(stored, fetched, bits, zero).and_then(|bits| converted(fetched, committed, bits, 0))
        };
        let result = Array::of(committed, axes_of(&moved.result, of_pipelines), |point| match &z {
            Some(z) if moved.into_part && point.at("R") != 1 => z.at(point),
            Some(z) if moved.interleaved && point.at("I") == 1 => convert(z.at(point)?, moved.zeros[1]),
            Some(_) | None => convert(x.at(point)?, moved.zeros[0]),
        });
        let arguments = [("x", x)].into_iter().chain(z.map(|z| ("z", z)));
        (arguments.collect(), result)
    })
}

/// Sizes of the axes of `rows`.
fn of_rows(axis: &str) -> u64 {
    match axis {
        "V" => 24,
        "B" => 2,
        "T" => 3,
        "U" => 4,
        _ => 16,
    }
}

/// A gather or a scatter: a row of the result is that of the index, or the one whose index it is.
pub(super) fn row(random: &mut Random) -> Intent {
    let case = rows::generate(random, SLICES, false);
    Intent::new(case.text.clone(), move |random| {
        let format = dtype(case.dtype);
        let table = Array::random(random, format, axes_of(&case.table, of_rows));
        let chosen: Vec<u64> = case.indices.iter().map(|index| index / case.unit).collect();
        let bits = |numbers: &[u64]| numbers.iter().map(|&number| number as u32).collect();
        let index = Array::from_bits(DType::I32, case.index.clone(), bits(&case.indices));
        let row = Array::from_bits(DType::I32, case.index, bits(&chosen));
        let axes = axes_of(&case.result, of_rows);
        let Some(layout) = &case.scattered else {
            let result =
                Array::of(format, axes, |point| table.at(&point.with("V", u64::from(row.at(point)?))));
            return (vec![("t", table), ("i", index)], result);
        };
        let rows = Array::random(random, format, axes_of(layout, of_rows));
        let result = Array::of(format, axes, |point| {
            let here = |at: &super::array::Point| row.at(at).map(u64::from) == Some(point.at("V"));
            let chosen: Vec<_> = points(&row, point).into_iter().filter(here).collect();
            match &*chosen {
                [] => table.at(point),
                [at] => rows.at(at),
                _ => None,
            }
        });
        (vec![("t", table), ("i", index), ("x", rows)], result)
    })
}

/// The points along the axes of an index, at the coordinates of a point along the others.
fn points(index: &Array, point: &super::array::Point) -> Vec<super::array::Point> {
    let free = index.axes.iter().filter(|(name, _)| *name != "B");
    free.fold(vec![*point], |points, &(name, size)| {
        points.iter().flat_map(|point| (0..size).map(move |at| point.with(name, at))).collect()
    })
}
