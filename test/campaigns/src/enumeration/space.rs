//! The space of plans of a product: fields, each with a number of values, which an odometer or chance draws.

use crate::enumeration::problem::Problem;
use visa_support::Random;

/// Fields of a plan.
pub(super) const FIELDS: usize = 25;

/// The values of all fields.
pub(super) type Values = [usize; FIELDS];

/// A field of a plan, by its number.
#[derive(Clone, Copy)]
pub(super) enum Field {
    /// The operand in the register file: the left or the right one.
    Stationary,
    /// Packets of positions of the sum, or of columns of the stream.
    Mode,
    /// The axis that clusters divide: none, that of the rows, that of the stream.
    Cluster,
    /// Slices that divide the rows.
    Rows,
    /// Slices that divide the axis of the stream.
    Columns,
    /// Slices that divide the sum.
    Sums,
    /// The order of these three in the slices.
    Order,
    /// The one of them that is padded to all slices.
    Padded,
    /// Slices take blocks of rows, or rows in turn.
    RowsDigit,
    /// The same of the axis of the stream.
    ColumnsDigit,
    /// The same of the sum.
    SumsDigit,
    /// The order of the rows in data memory.
    RowsLayout,
    /// The order of the stream in data memory.
    ColumnsLayout,
    /// The context that fills the register file: main or sub.
    Filler,
    /// The context of the stream: main or dual.
    Streamer,
    /// The DMA engines of the load of the rows: all, or those of a cluster.
    RowsQueue,
    /// Slices load copies, or parts that the switch exchanges, outermost or innermost in time.
    Shared,
    /// The order of sums in the accumulator.
    Accumulator,
    /// Bytes to which rows of the result are padded in HBM.
    Stored,
    /// Columns of a packet that the transpose engine makes.
    Transposed,
    /// M and N as they are, or padded to multiples of eight.
    Whole,
    /// The same of the load of the stream.
    ColumnsQueue,
    /// The same of the store.
    StoreQueue,
    /// Rows that a packet meets at once.
    Lanes,
    /// Elements of a packet of the stream.
    Packet,
}

impl Field {
    /// Its value.
    pub(super) const fn of(self, values: &Values) -> usize {
        values[self as usize]
    }
}

/// The order of three parts.
pub(super) const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Bytes to which rows of the result are padded.
pub(super) const ROW_BYTES: [u64; 4] = [1, 8, 64, 256];

/// Columns of a transposed packet.
pub(super) const TRANSPOSED: [u64; 3] = [4, 8, 16];

/// The divisors of a size.
pub(super) fn divisors(size: u64) -> Vec<u64> {
    (1..=size).filter(|one| size.is_multiple_of(*one)).collect()
}

/// Values of each field.
pub(super) fn sizes(problem: &Problem) -> Values {
    let [m, n, k] = problem.sizes.map(|size| divisors(size).len());
    let free = m.max(n).max(4);
    [
        2,
        2,
        3,
        free,
        free,
        k,
        ORDERS.len(),
        3,
        2,
        2,
        2,
        2,
        2,
        2,
        2,
        3,
        3,
        2,
        ROW_BYTES.len(),
        TRANSPOSED.len(),
        2,
        3,
        3,
        4,
        3,
    ]
}

/// Draws a plan.
pub(super) fn draw(problem: &Problem, random: &mut Random) -> Values {
    sizes(problem).map(|size| random.below(size))
}

/// A plan with other values of some fields.
pub(super) fn change(problem: &Problem, values: &Values, fields: usize, random: &mut Random) -> Values {
    let (sizes, mut changed) = (sizes(problem), *values);
    for _ in 0..fields {
        let field = random.below(FIELDS);
        changed[field] = random.below(sizes[field]);
    }
    changed
}

/// The plans that differ in one field.
pub(super) fn neighbours(problem: &Problem, values: &Values) -> Vec<Values> {
    let all = sizes(problem).into_iter().enumerate().flat_map(|(field, size)| {
        (0..size).filter(move |value| *value != values[field]).map(move |value| {
            let mut changed = *values;
            changed[field] = value;
            changed
        })
    });
    all.collect()
}
