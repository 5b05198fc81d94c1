//! Bandwidth with a queue: a scratchpad memory, or a direction of PCIe (books 10, 11).

/// A path that moves bytes in the order in which they are given to it. Times are engine cycles.
#[derive(Clone, Debug)]
pub(super) struct Link {
    bytes_per_cycle: u64,
    /// When it is free, in cycles times `bytes_per_cycle`: a byte takes 1.
    free: u64,
    bytes: u64,
}

impl Link {
    pub(super) const fn new(bytes_per_cycle: u64) -> Self {
        Self { bytes_per_cycle, free: 0, bytes: 0 }
    }

    /// Bytes moved.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Moves bytes that are there in cycle `now`; returns the cycle in which the last has arrived.
    pub(super) fn pass(&mut self, now: u64, bytes: u64) -> u64 {
        self.free = self.free.max(now * self.bytes_per_cycle) + bytes;
        self.bytes += bytes;
        self.free.div_ceil(self.bytes_per_cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 requests of 256 bytes at 30 bytes a cycle are 256 cycles: the rest of a cycle is not lost.
    #[test]
    fn bytes_follow_one_another() {
        let mut link = Link::new(30);
        assert_eq!(link.pass(0, 256), 9);
        let last = (1..30).map(|_| link.pass(0, 256)).last();
        assert_eq!((last, link.bytes()), (Some(256), 30 * 256));
        // After a gap it starts again.
        assert_eq!(link.pass(1000, 30), 1001);
        assert_eq!(link.pass(1000, 31), 1003);
    }
}
