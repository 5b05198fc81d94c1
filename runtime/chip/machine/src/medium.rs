//! The memories that DMA engines reach.

use visa_words::words;

words! {
    /// A kind of memory that a DMA reads or writes.
    pub enum Medium {
        /// Memory of the host. It is reached by PCIe.
        Host = "host",
        /// High-bandwidth memory of a chip.
        Hbm = "hbm",
        /// Data memory of a chip: `slice * (bytes of a slice's memory) + byte`, slices counted through its clusters.
        Dm = "dm",
        /// Scratchpad memory of a chip: `PE * (bytes of a PE's memory) + byte`, PEs counted through its clusters.
        Spm = "spm",
    }
}
