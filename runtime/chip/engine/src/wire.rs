//! Flow between two stages, to the extent that it is known before execution.

use visa_numerics::DType;

/// Flow between two stages, to the extent that it is known before execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Format of the elements.
    pub dtype: DType,
    /// Packets a slice.
    pub packets: u64,
    /// Bytes a packet.
    pub packet: u64,
    /// Rows of the register-file operand, between the aligner and the accumulator.
    pub rows: Option<u64>,
    /// Content of the stash of the vector engine: format, packets and bytes a packet.
    pub stash: Option<(DType, Flow)>,
}

impl Wire {
    /// Nothing, as before the fetch.
    pub const NOTHING: Self = Self { dtype: DType::I8, packets: 0, packet: 0, rows: None, stash: None };
    /// Bytes a slice; `None` past `u64`.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.packets.checked_mul(self.packet)
    }

    /// Returns true if memories can hold the elements: those of i5 and i9 exist in streams and in the tensor register
    /// file only.
    ///
    /// # Errors
    /// `constraint`, of the memory's operation, at fault in `clause`.
    pub fn stored(&self, constraint: &'static str, clause: &'static str) -> Result<(), Mismatch> {
        if self.dtype.is_stored() {
            return Ok(());
        }
        let message = format!("the stream's elements are {}, whose sideband bit no memory holds", self.dtype);
        Err(Mismatch::new(constraint, clause, message))
    }

    /// The same as a flow.
    #[must_use]
    pub fn flow(&self) -> Flow {
        Flow { packets: self.packets, packet: self.packet }
    }
}

/// Reason that a stage cannot take its input: a numbered constraint of its operation that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The constraint's number, e.g. `C3`.
    pub constraint: &'static str,
    /// The clause at fault.
    pub clause: &'static str,
    /// The value that was found and the one that was expected.
    pub message: String,
}

impl Mismatch {
    /// A mismatch.
    #[must_use]
    pub fn new(constraint: &'static str, clause: &'static str, message: String) -> Self {
        Self { constraint, clause, message }
    }
}

/// Amount of data that flows between two stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Packets a slice.
    pub packets: u64,
    /// Bytes a packet.
    pub packet: u64,
}
