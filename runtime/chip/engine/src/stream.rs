//! The stream of packets between two engines of one slice, and the data that accompany it.

use crate::memory::Bank;
use crate::running::RunCx;
use crate::shadow::Shadow;
use std::sync::Arc;
use visa_numerics::DType;

/// The stream between two engines of one slice: packets of equal size, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Format of its elements.
    pub dtype: DType,
    /// Bytes held of a packet: its nominal bytes times [`DType::wire_scale`].
    pub packet: usize,
    /// The packets.
    pub bytes: Vec<u8>,
    /// One mark a byte, in shadow mode: where an undefined byte came from.
    pub shadow: Option<Vec<Shadow>>,
    /// The register-file operand that the aligner pairs with each packet.
    pub operand: Option<Operand>,
    /// Data that accompany the elements inside the vector engine, if any.
    pub lanes: Option<Box<Lanes>>,
}

/// Data that accompany a stream's elements inside the vector engine (book 21, 24).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// The execution id of each element, 4 bits; empty where all are 0.
    pub ids: Vec<u8>,
    /// The mark of each id, in shadow mode; empty where all are defined.
    pub id_marks: Vec<Shadow>,
    /// The valid count of each packet; empty where all elements are valid.
    pub valid: Vec<u8>,
    /// Content of the stash.
    pub stash: Option<Stash>,
    /// The vector register file as an operation has left it that wrote to it, until the interpreter has put it in
    /// its place.
    pub written: Option<Bank>,
}

/// A copy of the stream, kept for an operand further on (book 21).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stash {
    /// Its elements.
    pub bytes: Vec<u8>,
    /// Bytes a packet.
    pub packet: usize,
    /// Their marks, in shadow mode.
    pub shadow: Option<Vec<Shadow>>,
}

/// Operands that the TRF sequencer delivers in addition to the stream: for every access, every row reads at the same
/// address.
///
/// Addresses and sizes are nominal bytes, as everywhere but in a stream's own bytes ([`DType::wire_scale`]).
///
/// Packets that the aligner repeats in time are not repeated in the stream: packet `p` meets the accesses
/// `p * repeat .. (p + 1) * repeat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Byte address of each access, from the start of a row.
    pub addresses: Arc<[u32]>,
    /// Accesses that meet the same packet.
    pub repeat: usize,
    /// Contiguous bytes read a cycle (`reg_read_size`), repeated to fill the packet.
    pub read: usize,
    /// Rows that compute: 1, 2, 4 or 8.
    pub rows: usize,
    /// Bytes of the packet that hold data; the rest contributes zero products.
    pub data: usize,
    /// After the contraction: consecutive values of a packet that the accumulator adds to one. 1 where the tree has
    /// added them; the whole tree's width where the machine adds in sequential order.
    pub terms: usize,
}

impl Lanes {
    /// The execution id of element `at`; 0 where none was given.
    #[must_use]
    pub fn id(&self, at: usize) -> u8 {
        self.ids.get(at).copied().unwrap_or(0)
    }

    /// The mark of the id of element `at`; defined where none was given.
    #[must_use]
    pub fn id_mark(&self, at: usize) -> Shadow {
        self.id_marks.get(at).copied().unwrap_or(Shadow::DEFINED)
    }
}

impl Stream {
    /// A stream of no bytes: the input of the fetch, and the output of an inactive slice to the switch.
    #[must_use]
    pub fn empty(dtype: DType) -> Self {
        Self { dtype, packet: 0, bytes: Vec::new(), shadow: None, operand: None, lanes: None }
    }

    /// Takes every mark through the running operation.
    pub fn pass_marks(&mut self, cx: RunCx<'_>) {
        if let (Some(mut marker), Some(marks)) = (cx.marker(), &mut self.shadow) {
            marker.through_all(marks);
        }
    }
}
