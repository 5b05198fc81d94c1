//! The Reducer's trees over a whole stream, fast (book 19).
//!
//! Bit for bit [`tree_sum_f32`](crate::tree_sum_f32) and [`tree_sum_i32`](crate::tree_sum_i32) of every row's
//! products. Its optimizations reorder no sum. The eight rows are the lanes of a vector, so that a node of the tree is
//! one addition. The rows' elements at an address are laid out once, as a [`Table`], for all packets that meet it. Two
//! packets go at a time and share each load of a weight. The same source is compiled for every processor and for those
//! with AVX2. Both give the same bits: they do the same IEEE 754 operations, and none is fused.

use crate::dtype::DType;
use crate::float::{canonical, flush, widen_bf16};
use crate::memory::nibbles;
use crate::minifloat::{f8e4m3_to_f32, f8e5m2_to_f32};
use crate::reduce::ROWS;
use crate::transpose::transposed;

/// A value of every row.
type Lanes<T> = [T; ROWS];

/// A value whose vectors each are in one line of the processor's cache: measured, a load across two costs a GEMM a
/// tenth.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub struct Aligned<T>(T);

/// Most pairs of elements of a packet: 64 bytes of 4 bits (book 17).
const MOST_PAIRS: usize = 64;

/// The stream's side of a contraction: packets of equal size one after another.
#[derive(Clone, Copy, Debug)]
pub struct Packets<'a> {
    /// Format of the elements.
    pub dtype: DType,
    /// The packets, as a stream holds them ([`DType::wire_scale`]).
    pub bytes: &'a [u8],
    /// Bytes of a packet.
    pub packet: usize,
    /// Bytes of a packet that hold data; the elements after them count as zero.
    pub data: usize,
    /// True if [`flush_free`] holds for all of them.
    free: bool,
}

impl<'a> Packets<'a> {
    /// Packets of `packet` bytes, of which the first `data` hold data.
    #[must_use]
    pub fn new(dtype: DType, bytes: &'a [u8], packet: usize, data: usize) -> Self {
        Self { dtype, bytes, packet, data, free: all_flush_free(dtype, bytes) }
    }
}

/// Summation of products, and destination of the sums.
#[derive(Clone, Copy, Debug)]
pub struct Trees {
    /// Levels that add, at least 1: 2^depth products become one sum.
    pub depth: u32,
    /// Rows whose sums are wanted.
    pub rows: usize,
    /// Accesses in a row that meet the same packet.
    pub repeat: usize,
}

/// The rows' elements at one address, spread over a packet.
#[derive(Clone, Debug)]
pub struct Table<T: Summand> {
    dtype: DType,
    /// Elements of a packet that are data.
    live: usize,
    pairs: Vec<T::Pair>,
    row: Vec<T::Element>,
    free: bool,
}

impl<T: Summand> Table<T> {
    /// A table of zeros, for packets of `elements` elements of which the first `live` are data.
    ///
    /// # Panics
    /// If there are more than 128 elements.
    #[must_use]
    pub fn new(dtype: DType, elements: usize, live: usize) -> Self {
        assert!(elements <= 2 * MOST_PAIRS, "{elements} elements in a packet");
        let pairs = vec![T::Pair::default(); elements / 2];
        Self { dtype, live: live.min(elements), pairs, row: Vec::new(), free: true }
    }

    /// Sets the elements of each row, as [`Table::set`] does row by row.
    ///
    /// # Panics
    /// If there are more than eight rows.
    pub fn set_all(&mut self, rows: &[&[u8]]) {
        if let Ok(rows) = rows.try_into()
            && T::set_rows(self, rows)
        {
            return;
        }
        rows.iter().enumerate().for_each(|(row, bytes)| self.set(row, bytes));
    }

    /// Sets the elements of row `row`: they are repeated to fill the packet's data.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn set(&mut self, row: usize, bytes: &[u8]) {
        let free = flush_free(self.dtype, bytes);
        self.free = free && (row == 0 || self.free);
        self.row.clear();
        self.row.resize(elements_held(self.dtype, bytes.len()), T::Element::default());
        T::widen(self.dtype, bytes, &mut self.row);
        let read = self.row.len().max(1);
        self.row.resize(self.live.next_multiple_of(2), T::Element::default());
        for at in read..self.live {
            self.row[at] = self.row[at - read];
        }
        self.row[self.live..].fill(T::Element::default());
        for (pair, &elements) in self.pairs.iter_mut().zip(self.row.as_chunks().0) {
            T::set(pair, row, elements);
        }
    }
}

impl Table<f32> {
    /// [`Table::set`] for all rows at once, whose reads fill the packet's data, of bf16: eight elements of eight
    /// rows at a time.
    fn set_whole(&mut self, rows: &[&[u8]; ROWS]) {
        self.free = rows.iter().all(|row| flush_free(DType::Bf16, row));
        for (at, pairs) in self.pairs.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let chunk = |row: &[u8]| row.as_chunks::<16>().0.get(at).copied().unwrap_or_default();
            let places = widened(rows.map(chunk));
            pairs.iter_mut().zip(places.as_chunks().0).for_each(|(pair, &places)| *pair = Aligned(places));
        }
    }
}

/// Eight bf16 of each of eight rows, as f32: those of one place in every row, place by place.
fn widened(rows: [[u8; 16]; ROWS]) -> [Lanes<f32>; 8] {
    transposed(rows).map(|place| {
        let mut lanes = [0.0; ROWS];
        let halves = place.as_chunks().0.iter().map(|&half| u32::from(u16::from_le_bytes(half)));
        lanes.iter_mut().zip(halves).for_each(|(lane, half)| *lane = widen_bf16(half));
        lanes
    })
}

/// Elements in bytes of a stream.
fn elements_held(dtype: DType, bytes: usize) -> usize {
    dtype.elements((bytes / dtype.wire_scale()) as u64) as usize
}

/// Tables that are worked on together, each of a kilobyte: they stay in the processor's cache, and neighbouring
/// packets, which meet neighbouring addresses, are read one after the other.
pub const TABLES: usize = 8;

/// The accesses of one address, and its table.
pub type Meeting<'a, T> = (&'a [u32], &'a Table<T>);

/// Adds, for each access of `meetings`, the products of the packet that it meets with the table, in trees.
///
/// `out` has the sums of all accesses as little-endian bytes, `[access][row][group]`; those of `meetings` are
/// written.
///
/// # Panics
/// If an access has no packet or no place in `out`.
pub fn tree_sums<T: Summand>(
    packets: Packets<'_>,
    meetings: &[Meeting<'_, T>],
    trees: Trees,
    out: &mut [[u8; 4]],
) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        #[expect(
            unsafe_code,
            reason = "the processor was just asked; measured, AVX2 halves the time of a GEMM"
        )]
        // SAFETY: the function's only precondition is that the processor has AVX2.
        unsafe {
            return avx2::<T>(packets, meetings, trees, out);
        }
    }
    any(packets, meetings, trees, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<T: Summand>(packets: Packets<'_>, meetings: &[Meeting<'_, T>], trees: Trees, out: &mut [[u8; 4]]) {
    any(packets, meetings, trees, out);
}

/// [`tree_sums`] for any processor that it is inlined for. The trees begin with blocks of four pairs, smaller ones
/// with fewer: the operands of a block stay in registers.
#[inline(always)]
fn any<T: Summand>(packets: Packets<'_>, meetings: &[Meeting<'_, T>], trees: Trees, out: &mut [[u8; 4]]) {
    match trees.depth {
        0 | 1 => each::<T, 1>(packets, meetings, trees, out),
        2 => each::<T, 2>(packets, meetings, trees, out),
        3 => each::<T, 4>(packets, meetings, trees, out),
        4 => each::<T, 8>(packets, meetings, trees, out),
        _ => each::<T, 16>(packets, meetings, trees, out),
    }
}

/// Two accesses of a table at a time, and the tables alternately; an odd access is its own partner.
#[inline(always)]
fn each<T: Summand, const BLOCK: usize>(
    packets: Packets<'_>,
    meetings: &[Meeting<'_, T>],
    trees: Trees,
    out: &mut [[u8; 4]],
) {
    let (mut first, mut second) = (WidenedPacket::<T>::new(), WidenedPacket::<T>::new());
    let most = meetings.iter().map(|(accesses, _)| accesses.len()).max().unwrap_or(0);
    for at in (0..most).step_by(2) {
        for (accesses, table) in meetings {
            let Some(&one) = accesses.get(at) else { continue };
            let both = [one as usize, accesses.get(at + 1).map_or(one, |&other| other) as usize];
            first.take(packets, both[0], trees.repeat);
            second.take(packets, both[1], trees.repeat);
            match table.free & first.free & second.free {
                true => sums::<T, false, BLOCK>([&first.pairs.0, &second.pairs.0], table, trees, both, out),
                false => sums::<T, true, BLOCK>([&first.pairs.0, &second.pairs.0], table, trees, both, out),
            }
        }
    }
}

/// The packet met last, widened: neighbouring addresses often meet the same packets (time broadcast).
struct WidenedPacket<T: Summand> {
    pairs: Aligned<[[T::Element; 2]; MOST_PAIRS]>,
    packet: Option<usize>,
    free: bool,
}

impl<T: Summand> WidenedPacket<T> {
    fn new() -> Self {
        Self { pairs: Aligned([[T::Element::default(); 2]; MOST_PAIRS]), packet: None, free: true }
    }

    /// Holds the packet of an access, where each packet has `repeat` of them.
    #[inline(always)]
    fn take(&mut self, packets: Packets<'_>, access: usize, repeat: usize) {
        let packet = if repeat == 1 { access } else { access / repeat };
        if self.packet == Some(packet) {
            return;
        }
        let bytes = &packets.bytes[packet * packets.packet..][..packets.data];
        T::widen(packets.dtype, bytes, self.pairs.0.as_flattened_mut());
        (self.packet, self.free) = (Some(packet), packets.free || flush_free(packets.dtype, bytes));
    }
}

/// The trees of two packets over one table.
#[inline(always)]
fn sums<T: Summand, const FLUSH: bool, const BLOCK: usize>(
    packets: [&[[T::Element; 2]]; 2],
    table: &Table<T>,
    trees: Trees,
    accesses: [usize; 2],
    out: &mut [[u8; 4]],
) {
    let level = trees.depth - 1;
    let groups = table.pairs.len() >> level;
    let size = trees.rows * groups;
    // Counted and not `chunks_exact`, whose division takes as long as a quarter of a tree.
    for group in 0..groups {
        let span = group << level..(group + 1) << level;
        let (first, second) = (&packets[0][span.clone()], &packets[1][span.clone()]);
        let roots = tree::<T, FLUSH, BLOCK>(first, second, &table.pairs[span]);
        for (access, root) in accesses.into_iter().zip(roots) {
            let out = &mut out[access * size..][..size];
            let sums = T::bytes(root);
            if let (Ok(out), 1) = (<&mut Lanes<[u8; 4]>>::try_from(&mut *out), groups) {
                *out = sums;
                continue;
            }
            out[group..].iter_mut().step_by(groups).zip(sums).for_each(|(out, sum)| *out = sum);
        }
    }
}

/// The sums of one node of the tree, for each of two packets.
type Node<T> = [Lanes<T>; 2];

/// The tree of each of two packets.
///
/// The nodes over blocks come from left to right. As in counting, where bit `n` of the block's number is set, the
/// node of level `n` before it waits for this one.
#[inline(always)]
fn tree<T: Summand, const FLUSH: bool, const BLOCK: usize>(
    first: &[[T::Element; 2]],
    second: &[[T::Element; 2]],
    weights: &[T::Pair],
) -> Node<T> {
    let mut waiting = [[T::ZEROS; 2]; MAX_LEVELS];
    let mut level = 0;
    let packets = first.as_chunks::<BLOCK>().0.iter().zip(second.as_chunks::<BLOCK>().0);
    for (number, ((first, second), weights)) in packets.zip(weights.as_chunks::<BLOCK>().0).enumerate() {
        let mut node = block::<T, FLUSH, BLOCK>(first, second, weights);
        level = 0;
        while number >> level & 1 == 1 {
            node = add::<T, FLUSH>(waiting[level], node);
            level += 1;
        }
        waiting[level] = node;
    }
    waiting[level]
}

/// Levels over blocks: a tree has 7 levels at most (book 19), and 3 of them are in a block. A few more than the
/// tree needs: a power of two lets the loop above keep its sums in registers, which makes it four times as fast.
const MAX_LEVELS: usize = 8;

/// The tree over 1, 2 or 4 pairs of products.
#[inline(always)]
fn block<T: Summand, const FLUSH: bool, const BLOCK: usize>(
    first: &[[T::Element; 2]; BLOCK],
    second: &[[T::Element; 2]; BLOCK],
    weights: &[T::Pair; BLOCK],
) -> Node<T> {
    let pairs = Pairs { first, second, weights };
    match BLOCK {
        1 => pairs.leaf::<FLUSH>(0),
        2 => pairs.two::<FLUSH>(0),
        4 => pairs.four::<FLUSH>(0),
        8 => pairs.eight::<FLUSH>(0),
        _ => add::<T, FLUSH>(pairs.eight::<FLUSH>(0), pairs.eight::<FLUSH>(8)),
    }
}

/// A block of pairs of two packets, and their weights.
struct Pairs<'a, T: Summand, const BLOCK: usize> {
    first: &'a [[T::Element; 2]; BLOCK],
    second: &'a [[T::Element; 2]; BLOCK],
    weights: &'a [T::Pair; BLOCK],
}

impl<T: Summand, const BLOCK: usize> Pairs<'_, T, BLOCK> {
    #[inline(always)]
    fn leaf<const FLUSH: bool>(&self, at: usize) -> Node<T> {
        let weights = &self.weights[at];
        [T::leaf::<FLUSH>(&self.first[at], weights), T::leaf::<FLUSH>(&self.second[at], weights)]
    }

    #[inline(always)]
    fn two<const FLUSH: bool>(&self, at: usize) -> Node<T> {
        add::<T, FLUSH>(self.leaf::<FLUSH>(at), self.leaf::<FLUSH>(at + 1))
    }

    #[inline(always)]
    fn four<const FLUSH: bool>(&self, at: usize) -> Node<T> {
        add::<T, FLUSH>(self.two::<FLUSH>(at), self.two::<FLUSH>(at + 2))
    }

    #[inline(always)]
    fn eight<const FLUSH: bool>(&self, at: usize) -> Node<T> {
        add::<T, FLUSH>(self.four::<FLUSH>(at), self.four::<FLUSH>(at + 4))
    }
}

#[inline(always)]
fn add<T: Summand, const FLUSH: bool>(left: Node<T>, right: Node<T>) -> Node<T> {
    [T::add::<FLUSH>(left[0], right[0]), T::add::<FLUSH>(left[1], right[1])]
}

/// [`flush_free`] of many elements.
fn all_flush_free(dtype: DType, bytes: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn avx2(dtype: DType, bytes: &[u8]) -> bool {
            flush_free(dtype, bytes)
        }
        #[expect(
            unsafe_code,
            reason = "the processor was just asked; measured, a GEMM takes a fiftieth less so"
        )]
        // SAFETY: the function's only precondition is that the processor has AVX2.
        unsafe {
            return avx2(dtype, bytes);
        }
    }
    flush_free(dtype, bytes)
}

/// Returns true if no product or sum of these elements with others for which this holds can be subnormal.
///
/// It holds where every element is zero or at least `2^-51` in magnitude, so always for integers and f8. A product
/// of two such is zero or has an exponent of at least -102, so it is a multiple of `2^-125`; so is every sum of
/// such products, rounded or not; and a multiple of `2^-125` is zero or normal.
#[inline(always)]
fn flush_free(dtype: DType, bytes: &[u8]) -> bool {
    const LEAST: u16 = (127 - 51) << 7;
    match dtype {
        // The smallest f8 is 2^-16.
        DType::F4e2m1 | DType::F8e4m3 | DType::F8e5m2 => true,
        DType::I4 | DType::I5 | DType::I8 | DType::I9 | DType::I16 | DType::I32 | DType::U8 => true,
        DType::F16 | DType::F32 => false,
        DType::Bf16 => {
            // Magnitudes compare as integers below 2^15: both differences are negative for 0 < magnitude < LEAST
            // only, so the sign bits collect every such number and the loop vectorises.
            let signs = bytes.as_chunks().0.iter().fold(0, |signs, &half| {
                let magnitude = u16::from_le_bytes(half) & 0x7fff;
                signs | (magnitude.wrapping_sub(LEAST) & magnitude.wrapping_neg())
            });
            signs >> 15 == 0
        }
    }
}

/// A number that trees add: f32 or i32.
pub trait Summand: Copy {
    /// An element of a packet, as an operand.
    type Element: Copy + Default;
    /// The rows' values for two neighbouring elements.
    type Pair: Copy + Default;

    /// Zero in every row.
    const ZEROS: [Self; ROWS];

    /// Replaces the first of `out` by the elements of `bytes`, as a stream holds them. Formats whose sums are of
    /// the other kind change nothing.
    fn widen(dtype: DType, bytes: &[u8], out: &mut [Self::Element]);
    /// Sets the elements of all eight rows, if there is a faster method for this format than row by row.
    fn set_rows(table: &mut Table<Self>, rows: &[&[u8]; ROWS]) -> bool;
    /// Puts two elements of row `row` into a pair.
    fn set(pair: &mut Self::Pair, row: usize, elements: [Self::Element; 2]);
    /// The sum of two neighbouring products, in every row; with `FLUSH` every number on the way is flushed.
    fn leaf<const FLUSH: bool>(elements: &[Self::Element; 2], pair: &Self::Pair) -> [Self; ROWS];
    /// One sum in every row.
    fn add<const FLUSH: bool>(left: [Self; ROWS], right: [Self; ROWS]) -> [Self; ROWS];
    /// The tree's sums as bytes.
    fn bytes(sums: [Self; ROWS]) -> [[u8; 4]; ROWS];
}

impl Summand for f32 {
    type Element = f32;
    type Pair = Aligned<[[f32; ROWS]; 2]>;
    const ZEROS: Lanes<f32> = [0.0; ROWS];

    /// Subnormals stay: a stream that has some is not flush-free, and the leaf flushes them.
    #[inline(always)]
    fn widen(dtype: DType, bytes: &[u8], out: &mut [f32]) {
        match dtype {
            DType::Bf16 => {
                let halves = bytes.as_chunks().0.iter().map(|&half| u32::from(u16::from_le_bytes(half)));
                out.iter_mut().zip(halves).for_each(|(out, half)| *out = widen_bf16(half));
            }
            DType::F8e4m3 => {
                out.iter_mut().zip(bytes).for_each(|(out, &byte)| *out = f8e4m3_to_f32(u32::from(byte)));
            }
            DType::F8e5m2 => {
                out.iter_mut().zip(bytes).for_each(|(out, &byte)| *out = f8e5m2_to_f32(u32::from(byte)));
            }
            DType::F4e2m1 | DType::F16 | DType::F32 => {}
            DType::I4 | DType::I5 | DType::I8 | DType::I9 | DType::I16 | DType::I32 | DType::U8 => {}
        }
    }

    fn set_rows(table: &mut Table<f32>, rows: &[&[u8]; ROWS]) -> bool {
        let whole = table.dtype == DType::Bf16
            && table.live.is_multiple_of(8)
            && rows.iter().all(|row| row.len() == 2 * table.live)
            && table.live == 2 * table.pairs.len();
        if whole {
            table.set_whole(rows);
        }
        whole
    }

    #[inline(always)]
    fn set(pair: &mut Self::Pair, row: usize, elements: [f32; 2]) {
        pair.0[0][row] = elements[0];
        pair.0[1][row] = elements[1];
    }

    #[inline(always)]
    fn leaf<const FLUSH: bool>(elements: &[f32; 2], pair: &Self::Pair) -> Lanes<f32> {
        Self::add::<FLUSH>(
            products::<FLUSH>(elements[0], &pair.0[0]),
            products::<FLUSH>(elements[1], &pair.0[1]),
        )
    }

    #[inline(always)]
    fn add<const FLUSH: bool>(mut left: Lanes<f32>, right: Lanes<f32>) -> Lanes<f32> {
        for (left, right) in left.iter_mut().zip(right) {
            let sum = *left + right;
            *left = if FLUSH { flush(sum) } else { sum };
        }
        left
    }

    /// NaN is made canonical at the end only: it spreads to the root with any bits.
    #[inline(always)]
    fn bytes(sums: Lanes<f32>) -> [[u8; 4]; ROWS] {
        let mut out = [[0; 4]; ROWS];
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = canonical(sum).to_le_bytes());
        out
    }
}

impl Summand for i32 {
    /// Wide enough for i9.
    type Element = i16;
    /// Two elements in one word, the first in its low half, as the processors' multiply-and-add-pairs takes them.
    type Pair = Aligned<[i32; ROWS]>;
    const ZEROS: Lanes<i32> = [0; ROWS];

    #[inline(always)]
    fn widen(dtype: DType, bytes: &[u8], out: &mut [i16]) {
        match dtype {
            DType::I4 => {
                for (out, &byte) in out.as_chunks_mut().0.iter_mut().zip(bytes) {
                    *out = nibbles(byte).map(|nibble| nibble as i16);
                }
            }
            DType::I5 | DType::I8 => {
                out.iter_mut().zip(bytes).for_each(|(out, &byte)| *out = i16::from(byte.cast_signed()));
            }
            DType::I9 => {
                let halves = bytes.as_chunks().0.iter();
                out.iter_mut().zip(halves).for_each(|(out, &half)| *out = i16::from_le_bytes(half));
            }
            DType::I16 | DType::I32 | DType::U8 => {}
            DType::F4e2m1 | DType::F8e4m3 | DType::F8e5m2 | DType::F16 | DType::Bf16 | DType::F32 => {}
        }
    }

    fn set_rows(_table: &mut Table<i32>, _rows: &[&[u8]; ROWS]) -> bool {
        false
    }

    #[inline(always)]
    fn set(pair: &mut Self::Pair, row: usize, elements: [i16; 2]) {
        pair.0[row] = word(elements);
    }

    #[inline(always)]
    fn leaf<const FLUSH: bool>(elements: &[i16; 2], pair: &Self::Pair) -> Lanes<i32> {
        pair_sums(word(*elements), &pair.0)
    }

    #[inline(always)]
    fn add<const FLUSH: bool>(mut left: Lanes<i32>, right: Lanes<i32>) -> Lanes<i32> {
        left.iter_mut().zip(right).for_each(|(left, right)| *left = left.wrapping_add(right));
        left
    }

    #[inline(always)]
    fn bytes(sums: Lanes<i32>) -> [[u8; 4]; ROWS] {
        let mut out = [[0; 4]; ROWS];
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum.to_le_bytes());
        out
    }
}

/// An element times the weights of every row.
#[inline(always)]
fn products<const FLUSH: bool>(element: f32, weights: &Lanes<f32>) -> Lanes<f32> {
    let element = if FLUSH { flush(element) } else { element };
    let mut products = *weights;
    for product in &mut products {
        *product = if FLUSH { flush(element * flush(*product)) } else { element * *product };
    }
    products
}

/// Two elements as one word.
#[inline(always)]
fn word([low, high]: [i16; 2]) -> i32 {
    i32::from(high) << 16 | i32::from(low.cast_unsigned())
}

/// For each row the sum of two products of elements, which have at most 9 bits: exact.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn pair_sums(elements: i32, weights: &Lanes<i32>) -> Lanes<i32> {
    use std::arch::x86_64::{__m128i, _mm_madd_epi16, _mm_set1_epi32};
    #[expect(
        unsafe_code,
        reason = "the compiler does not find this instruction; measured, it is four times as fast"
    )]
    // SAFETY: every x86-64 processor has SSE2, and both types are 32 bytes for which every bit pattern is valid.
    unsafe {
        let elements = _mm_set1_epi32(elements);
        let [low, high] = std::mem::transmute::<Lanes<i32>, [__m128i; 2]>(*weights);
        let sums = [_mm_madd_epi16(elements, low), _mm_madd_epi16(elements, high)];
        std::mem::transmute::<[__m128i; 2], Lanes<i32>>(sums)
    }
}

/// For each row the sum of two products of elements, which have at most 9 bits: exact.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn pair_sums(elements: i32, weights: &Lanes<i32>) -> Lanes<i32> {
    portable_pair_sums(elements, weights)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn portable_pair_sums(elements: i32, weights: &Lanes<i32>) -> Lanes<i32> {
    let product = |left: i32, right: i32| i32::from(left as i16) * i32::from(right as i16);
    weights.map(|weights| product(elements, weights) + product(elements >> 16, weights >> 16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::mul;
    use crate::memory::{decode_f32, decode_i32};
    use crate::reduce::{tree_sum_f32, tree_sum_i32};
    use crate::testing::Random;

    const FORMATS: [DType; 7] =
        [DType::I4, DType::I5, DType::I8, DType::I9, DType::F8e4m3, DType::F8e5m2, DType::Bf16];

    /// Bytes of elements as a stream holds them.
    fn bytes(dtype: DType, elements: usize, mut draw: impl FnMut() -> u32) -> Vec<u8> {
        let mut bytes = vec![0; dtype.align() as usize * dtype.wire_scale() * elements];
        bytes.truncate((elements * dtype.bits() as usize / 8).max(1) * dtype.wire_scale());
        (0..elements).for_each(|at| crate::memory::store(dtype, &mut bytes, at, draw()));
        bytes
    }

    /// The expected result of [`tree_sums`], one number after the other from the definitions.
    fn expected(packet: &[u8], row: &[u8], dtype: DType, data: usize, span: usize) -> Vec<u32> {
        let (count, read) = (elements_held(dtype, packet.len()), elements_held(dtype, row.len()));
        let live = elements_held(dtype, data);
        if dtype.is_float() {
            let (mut a, mut w) = (Vec::new(), Vec::new());
            decode_f32(dtype, packet, &mut a).unwrap();
            decode_f32(dtype, row, &mut w).unwrap();
            let products: Vec<_> =
                (0..count).map(|at| if at < live { mul(a[at], w[at % read]) } else { 0.0 }).collect();
            products.chunks(span).map(|group| tree_sum_f32(group).to_bits()).collect()
        } else {
            let (mut a, mut w) = (Vec::new(), Vec::new());
            decode_i32(dtype, packet, &mut a).unwrap();
            decode_i32(dtype, row, &mut w).unwrap();
            let products: Vec<_> =
                (0..count).map(|at| if at < live { a[at] * w[at % read] } else { 0 }).collect();
            products.chunks(span).map(|group| tree_sum_i32(group).cast_unsigned()).collect()
        }
    }

    /// Three accesses of two packets, each twice, against one table, in every way the processor has.
    fn compare<T: Summand>(dtype: DType, rows: usize, depth: u32, random: &mut Random, kind: u32) {
        let elements = dtype.elements(64) as usize;
        let mut draw = || match (kind, dtype) {
            (0, _) => random.next(),
            // bf16 just above the bound of the argument, or below it, with all fraction bits, cancelling often.
            (1, DType::Bf16) => (76 << 7) | (random.next() & 0x8003),
            (2, DType::Bf16) => (65 << 7) | (random.next() & 0x80ff),
            (_, DType::Bf16) => u32::from(half::bf16::from_f32(random.moderate_f32()).to_bits()),
            (1, _) => random.next() | 0x7f,
            (_, _) => random.next() & 0x8f,
        };
        let stream = bytes(dtype, 2 * elements, &mut draw);
        let packet = stream.len() / 2;
        for read in [elements, elements / 2, elements / 8] {
            let row: Vec<_> = (0..rows).map(|_| bytes(dtype, read, &mut draw)).collect();
            for data in [packet, packet / 2, packet / 4 * 3] {
                let mut table = Table::<T>::new(dtype, elements, elements_held(dtype, data));
                let reads: Vec<&[u8]> = row.iter().map(|bytes| &bytes[..]).collect();
                table.set_all(&reads);
                let packets = Packets::new(dtype, &stream, packet, data);
                let trees = Trees { depth, rows, repeat: 2 };
                let groups = elements >> depth;
                let mut fast = vec![[0; 4]; 4 * rows * groups];
                tree_sums(packets, &[(&[0, 3], &table), (&[1], &table)], trees, &mut fast);
                let mut portable = vec![[0; 4]; 4 * rows * groups];
                any(packets, &[(&[0, 1, 3], &table)], trees, &mut portable);
                assert_eq!(fast, portable);
                for (access, found) in
                    fast.chunks(rows * groups).enumerate().filter(|&(access, _)| access != 2)
                {
                    let packet = &stream[access / 2 * packet..][..packet];
                    for (row, found) in row.iter().zip(found.chunks(groups)) {
                        let found: Vec<_> = found.iter().map(|&sum| u32::from_le_bytes(sum)).collect();
                        let expected = expected(packet, row, dtype, data, 1 << depth);
                        assert_eq!(found, expected, "{dtype}, depth {depth}, {rows} rows, kind {kind}");
                    }
                }
            }
        }
    }

    #[test]
    fn trees_give_the_bits_of_their_definition() {
        let mut random = Random::new(1);
        for dtype in FORMATS {
            for depth in 1..=dtype.tree_depth().unwrap() {
                for (rows, kind) in [(8, 0), (8, 1), (8, 2), (8, 3), (4, 3), (2, 0), (1, 3)] {
                    match dtype.is_float() {
                        true => compare::<f32>(dtype, rows, depth, &mut random, kind),
                        false => compare::<i32>(dtype, rows, depth, &mut random, kind),
                    }
                }
            }
        }
    }

    /// Weights that need no flush prove nothing about the stream: 2^-100 times 2^-30 is subnormal, and 32 of them
    /// would add up to 2^-125. 2^-66 times 2^-30 is not.
    #[test]
    fn a_stream_of_tiny_numbers_is_flushed_beside_ordinary_weights() {
        let elements = |exponent: u16| ((127 - exponent) << 7).to_le_bytes().repeat(32);
        let mut table = Table::<f32>::new(DType::Bf16, 32, 32);
        table.set_all(&[&elements(30)]);
        assert!(table.free);
        let stream = [elements(100), elements(66)].concat();
        let packets = Packets::new(DType::Bf16, &stream, 64, 64);
        let mut sums = [[0; 4]; 2];
        tree_sums(packets, &[(&[0, 1], &table)], Trees { depth: 5, rows: 1, repeat: 1 }, &mut sums);
        assert_eq!(sums.map(f32::from_le_bytes), [0.0, 2.0_f32.powi(-91)]);
    }

    /// Of two packets with one table, 2^-100 times 2^-30 is too small and 2^-30 times 2^-30 is not, in either order,
    /// and with the smaller numbers in the stream or in the table.
    #[test]
    fn sums_are_flushed_where_one_of_three_is_tiny() {
        let elements = |exponent: u16| ((127 - exponent) << 7).to_le_bytes().repeat(32);
        for (weights, packets) in [(30, [100, 30]), (30, [30, 100]), (100, [30, 30])] {
            let mut table = Table::<f32>::new(DType::Bf16, 32, 32);
            table.set_all(&[&elements(weights)]);
            let stream = packets.map(elements).concat();
            let mut sums = [[0; 4]; 2];
            let trees = Trees { depth: 5, rows: 1, repeat: 1 };
            tree_sums(Packets::new(DType::Bf16, &stream, 64, 64), &[(&[0, 1], &table)], trees, &mut sums);
            // 32 products of 2^-60 are 2^-55.
            let expected =
                packets.map(|exponent| if weights + exponent == 60 { 2.0_f32.powi(-55) } else { 0.0 });
            assert_eq!(sums.map(f32::from_le_bytes), expected, "{weights} {packets:?}");
        }
    }

    #[test]
    fn a_table_forgets_what_stood_in_it() {
        let mut table = Table::<f32>::new(DType::Bf16, 32, 32);
        table.set(0, &[0x01, 0x00].repeat(32));
        assert!(!table.free);
        table.set(0, &[0x80, 0x3f]);
        assert!(table.free);
        assert!(
            table.pairs.iter().all(|pair| pair.0[0][0] == 1.0 && pair.0[1][0] == 1.0 && pair.0[0][1] == 0.0)
        );
        table.set(1, &[0x01, 0x00]);
        assert!(!table.free);
    }

    #[test]
    fn rows_are_widened_place_by_place() {
        // Element `at` of row `row` is 8 row + at: integers below 64, which bf16 has.
        let element = |row: usize, at: usize| (8 * row + at) as f32;
        let half = |x: f32| ((x.to_bits() >> 16) as u16).to_le_bytes();
        let rows: [[u8; 16]; ROWS] =
            std::array::from_fn(|row| std::array::from_fn(|byte| half(element(row, byte / 2))[byte % 2]));
        for (at, lanes) in widened(rows).iter().enumerate() {
            assert_eq!(*lanes, std::array::from_fn(|row| element(row, at)));
        }
    }

    #[test]
    fn flush_free_at_its_bound() {
        let free = |half: u16| flush_free(DType::Bf16, &[[0x80, 0x3f], half.to_le_bytes()].concat());
        assert!(flush_free(DType::Bf16, &[]));
        // 2^-51, zeros, infinity, NaN.
        assert!([76 << 7, 0x8000 | (76 << 7), 0, 0x8000, 0x7f80, 0x7fc0].into_iter().all(free));
        assert!(![(76 << 7) - 1, 0x8000 | ((76 << 7) - 1), 1, 0x8001].into_iter().any(free));
    }

    #[test]
    fn pairs_are_exact_at_the_ends_of_their_range() {
        for low in [-256, -1, 0, 255] {
            for high in [-256, 1, 255] {
                let weights =
                    [word([-256, -256]), word([255, -256]), word([0, 1]), 0, 1, -1, 2, word([255, 255])];
                let found = pair_sums(word([low, high]), &weights);
                assert_eq!(found, portable_pair_sums(word([low, high]), &weights));
                assert_eq!(found[0], -256 * (i32::from(low) + i32::from(high)));
                assert_eq!(found[1], 255 * i32::from(low) - 256 * i32::from(high));
            }
        }
    }
}
