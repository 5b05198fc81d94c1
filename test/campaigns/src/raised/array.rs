//! Arrays as functions of coordinates, which share no code with the evaluator.

use visa_numerics::DType;
use visa_support::Random;

/// An axis and its number of elements.
pub(super) type Axis = (&'static str, u64);

/// Names of axes: those of every generator.
const NAMES: [&str; 26] = [
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U",
    "V", "W", "X", "Y", "Z",
];

/// The axes of a mapping's text, in the order of their first occurrence.
pub(super) fn axes_of(mapping: &str, size: impl Fn(&str) -> u64) -> Vec<Axis> {
    let mut axes: Vec<Axis> = Vec::new();
    for letter in mapping.chars().filter(char::is_ascii_uppercase) {
        let name = NAMES[usize::from(letter as u8 - b'A')];
        if axes.iter().all(|(known, _)| *known != name) {
            axes.push((name, size(name)));
        }
    }
    axes
}

/// Coordinates along all axes: 0 along those that a point lacks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point([u64; NAMES.len()]);

/// The number of an axis, by its letter.
fn letter(axis: &str) -> usize {
    let letter = axis.as_bytes().first().map_or(usize::MAX, |letter| usize::from(letter.wrapping_sub(b'A')));
    assert!(NAMES.get(letter) == Some(&axis), "an axis is named `{axis}`");
    letter
}

impl Point {
    /// The coordinate along an axis.
    pub(super) fn at(&self, axis: &str) -> u64 {
        self.0[letter(axis)]
    }

    /// The same point with another coordinate along an axis.
    pub(super) fn with(mut self, axis: &str, at: u64) -> Self {
        self.0[letter(axis)] = at;
        self
    }
}

/// The points along axes, in C order.
fn points(axes: &[Axis]) -> impl Iterator<Item = Point> {
    let count: u64 = axes.iter().map(|(_, size)| size).product();
    (0..count).map(move |count| {
        let (mut rest, mut point) = (count, Point::default());
        for &(axis, size) in axes.iter().rev() {
            point = point.with(axis, rest % size);
            rest /= size;
        }
        point
    })
}

/// A function of coordinates; `None` where it is undefined.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) dtype: DType,
    pub(super) axes: Vec<Axis>,
    bits: Vec<Option<u32>>,
}

impl Array {
    /// The array whose element at each point is that of a function, as its bits.
    pub(super) fn of(dtype: DType, axes: Vec<Axis>, element: impl Fn(&Point) -> Option<u32>) -> Self {
        let bits = points(&axes).map(|point| element(&point)).collect();
        Self { dtype, axes, bits }
    }

    /// The array of these elements in C order.
    pub(super) fn from_bits(dtype: DType, axes: Vec<Axis>, bits: Vec<u32>) -> Self {
        Self { dtype, axes, bits: bits.into_iter().map(Some).collect() }
    }

    /// The same function along these axes, which is undefined outside of the array. `None` if the array has an axis of
    /// several elements that is not among them.
    pub(super) fn along(&self, axes: Vec<Axis>) -> Option<Self> {
        let missing = |(axis, size): &Axis| *size > 1 && axes.iter().all(|(name, _)| name != axis);
        if self.axes.iter().any(missing) {
            return None;
        }
        let inside = |point: &Point| self.axes.iter().all(|(axis, size)| point.at(axis) < *size);
        Some(Self::of(self.dtype, axes, |point| if inside(point) { self.at(point) } else { None }))
    }

    /// The first point at which an array that has more axes or longer ones differs, with both elements.
    pub(super) fn difference(&self, wider: &Self) -> Option<String> {
        let all = points(&self.axes).map(|point| (self.at(&point), wider.at(&point), point));
        let (intended, computed, point) = all.into_iter().find(|(one, two, _)| one != two)?;
        let point: Vec<Axis> = self.axes.iter().map(|&(axis, _)| (axis, point.at(axis))).collect();
        Some(format!("at {point:?} it is {computed:x?}, intended is {intended:x?}"))
    }

    /// The element at a point that has a coordinate along each axis of the array, and may have more.
    pub(super) fn at(&self, point: &Point) -> Option<u32> {
        let number = self.axes.iter().fold(0, |number, (name, size)| number * size + point.at(name));
        self.bits[number as usize]
    }

    /// Random elements: mostly numbers of similar size, in one array of eight any bits.
    pub(super) fn random(random: &mut Random, dtype: DType, axes: Vec<Axis>) -> Self {
        let count: u64 = axes.iter().map(|(_, size)| size).product();
        let any = random.below(8) == 0;
        let bits = (0..count).map(|_| if any { pattern(random, dtype) } else { number(random, dtype) });
        Self::from_bits(dtype, axes, bits.collect())
    }

    /// Random elements that are neither zero, infinite nor NaN.
    pub(super) fn nonzero(random: &mut Random, dtype: DType, axes: Vec<Axis>) -> Self {
        let count: u64 = axes.iter().map(|(_, size)| size).product();
        let bits = (0..count).map(|_| number(random, dtype));
        Self::from_bits(dtype, axes, bits.collect())
    }

    /// Its bytes in C order, little-endian, with these bits where it is undefined.
    pub(super) fn bytes(&self, undefined: u32) -> Vec<u8> {
        let bits = || self.bits.iter().map(|bits| bits.unwrap_or(undefined));
        match self.dtype.bits() {
            4 => {
                let all: Vec<u32> = bits().collect();
                let byte =
                    |pair: &[u32]| pair.iter().rev().fold(0, |byte, bits| byte << 4 | *bits as u8 & 15);
                all.chunks(2).map(byte).collect()
            }
            width => {
                bits().flat_map(|bits| bits.to_le_bytes().into_iter().take(width as usize / 8)).collect()
            }
        }
    }

    /// The array of these bytes, of which an element that is not defined is none.
    pub(super) fn read(dtype: DType, axes: Vec<Axis>, bytes: &[u8], defined: Option<&[bool]>) -> Self {
        let width = dtype.bits() as usize;
        let bits: Vec<u32> = match width {
            4 => bytes.iter().flat_map(|byte| [u32::from(byte & 15), u32::from(byte >> 4)]).collect(),
            _ => {
                let element =
                    |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
                bytes.chunks(width / 8).map(element).collect()
            }
        };
        let is_defined = |at: usize| defined.is_none_or(|defined| defined[at]);
        let bits = bits.into_iter().enumerate().map(|(at, bits)| is_defined(at).then_some(bits)).collect();
        Self { dtype, axes, bits }
    }
}

/// The axis of a name.
pub(super) fn named(name: &str) -> Option<&'static str> {
    NAMES.iter().copied().find(|known| *known == name)
}

/// Any bits of a format.
fn pattern(random: &mut Random, dtype: DType) -> u32 {
    let width = dtype.bits();
    if width == 32 { random.word() } else { random.word() & ((1 << width) - 1) }
}

/// The bits of a number whose magnitude is at most a few powers of two from 1; any but zero of an integer format.
fn number(random: &mut Random, dtype: DType) -> u32 {
    // Bits of the fraction, and the exponent of 1.
    let (fraction, one) = match dtype {
        DType::F8e4m3 => (3, 7),
        DType::F8e5m2 => (2, 15),
        DType::F16 => (10, 15),
        DType::Bf16 => (7, 127),
        DType::F32 => (23, 127),
        DType::I4
        | DType::I5
        | DType::I8
        | DType::I9
        | DType::I16
        | DType::I32
        | DType::U8
        | DType::F4e2m1 => {
            return pattern(random, dtype).max(1);
        }
    };
    let sign = (random.word() & 1) << (dtype.bits() - 1);
    let exponent = one - 4 + random.word() % 8;
    sign | exponent << fraction | random.word() & ((1 << fraction) - 1)
}
