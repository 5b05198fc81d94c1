//! The requests that a DMA engine makes of a memory (book 10, "Packet size and internal DMA requests").

use crate::hbm::HBM_UNIT;
use visa_loops::{Program, SeqError};
use visa_machine::Machine;

/// A request to read or write bytes that are side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Address of the first byte.
    pub address: u64,
    /// Number of bytes; at least 1.
    pub bytes: u64,
}

impl Request {
    /// Returns true if it goes over a boundary of [`HBM_UNIT`]: such a read of HBM takes two transfers (book 11).
    #[must_use]
    pub fn crosses(&self) -> bool {
        self.address % HBM_UNIT + self.bytes > HBM_UNIT
    }

    /// Returns true if it leaves out a part of a unit: HBM writes such a unit by reading it first (book 11).
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.bytes < HBM_UNIT || !self.address.is_multiple_of(HBM_UNIT)
    }
}

/// The requests of a side of a transfer, in order. They are made as they are asked for: a transfer of any size takes
/// no memory.
#[derive(Clone, Debug)]
pub struct Requests<'a> {
    packets: visa_loops::Addresses<'a>,
    packet: u64,
    /// Most bytes of a request.
    most: u64,
    /// Rest of a packet: its first byte and its number of bytes.
    left: (u64, u64),
}

/// The requests of a program in bytes: each of its packets in parts of
/// `limits.dma_request_bytes` from its first byte on.
///
/// # Errors
/// If an address does not fit in 64 bits, or is before 0.
pub fn requests<'a>(program: &'a Program, machine: &Machine) -> Result<Requests<'a>, SeqError> {
    let (first, end) = program.extent()?;
    // Those of an empty program are its base.
    if first < 0 || end < first {
        return Err(before_zero(program, first));
    }
    let most = machine.limits.dma_request_bytes;
    Ok(Requests { packets: program.addresses(), packet: program.packet, most, left: (0, 0) })
}

fn before_zero(program: &Program, first: i64) -> SeqError {
    SeqError {
        code: visa_loops::code::ADDRESS,
        message: format!("`{program}` begins at address {first}, expected 0 or more"),
        fix: None,
        range: None,
    }
}

impl Iterator for Requests<'_> {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        if self.left.1 == 0 {
            // No address is before 0: `requests` looked at all of them.
            self.left = (self.packets.next()?.cast_unsigned(), self.packet);
        }
        let (address, left) = self.left;
        let bytes = left.min(self.most);
        self.left = (address + bytes, left - bytes);
        Some(Request { address, bytes })
    }
}

/// Number of requests of a program: a packet of n bytes becomes ceil(n / 256). `None` past 64 bits, or where the
/// packet does not divide the steps.
#[must_use]
pub fn request_count(program: &Program, machine: &Machine) -> Option<u64> {
    program.accesses()?.checked_mul(program.packet.div_ceil(machine.limits.dma_request_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_loops::dma_packet;

    fn list(text: &str) -> Vec<(u64, u64)> {
        let program: Program = text.parse().expect(text);
        let found: Vec<_> = requests(&program, &Machine::rngd())
            .expect(text)
            .map(|request| (request.address, request.bytes))
            .collect();
        assert_eq!(request_count(&program, &Machine::rngd()), Some(found.len() as u64), "{text}");
        found
    }

    #[test]
    fn a_packet_is_asked_for_in_parts_of_256_bytes() {
        assert_eq!(list("[256 : 1] : 256"), [(0, 256)]);
        assert_eq!(list("[257 : 1] : 257"), [(0, 256), (256, 1)]);
        assert_eq!(list("[2 : 1000, 300 : 1] : 300 @ 8"), [(8, 256), (264, 44), (1008, 256), (1264, 44)]);
        assert_eq!(list("[2 : 0, 8 : 1] : 4"), [(0, 4), (4, 4), (0, 4), (4, 4)]);
        assert_eq!(list("[0 : 1, 8 : 1] : 8"), []);
    }

    /// D9: 4095 bytes are 16 requests; of 4099, a prime, each byte is one, or they are split.
    #[test]
    fn book_10_odd_packets() {
        let of = |run: u64| {
            let text = format!("[{run} : 1] : {}", dma_packet(run, 4096, 1));
            list(&text).len()
        };
        assert_eq!((dma_packet(4095, 4096, 1), of(4095)), (4095, 16));
        assert_eq!((dma_packet(4099, 4096, 1), of(4099)), (1, 4099));
        assert_eq!(of(4096) + of(3), 17);
        assert_eq!([4096, 4097, 8192].map(|run| dma_packet(run, 4096, 1)), [4096, 241, 4096]);
    }

    #[test]
    fn boundaries_and_partial_units() {
        let request = |address, bytes| Request { address, bytes };
        assert!(!request(0, 256).crosses() && !request(0, 256).is_partial());
        assert!(request(1, 256).crosses() && request(1, 256).is_partial());
        assert!(!request(1, 255).crosses() && request(1, 255).is_partial());
        assert!(!request(768, 256).is_partial() && request(768, 255).is_partial());
    }

    /// Book 11: 2,800 bytes are ten whole requests and one of 240.
    #[test]
    fn book_11_leftover() {
        let program: Program = "[2800 : 1] : 2800".parse().expect("a program");
        let partial: Vec<_> =
            requests(&program, &Machine::rngd()).expect("addresses").filter(Request::is_partial).collect();
        assert_eq!(partial, [Request { address: 2560, bytes: 240 }]);
        assert_eq!(request_count(&program, &Machine::rngd()), Some(11));
    }

    #[test]
    fn addresses_before_0_and_past_64_bits_are_refused() {
        let wrong =
            |text: &str| requests(&text.parse().expect(text), &Machine::rngd()).expect_err(text).message;
        assert!(wrong("[2 : -8, 8 : 1] : 8").contains("begins at address -8"));
        assert!(list("[2 : -8, 8 : 1] : 8 @ 8").len() == 2);
        assert!(wrong(&format!("[3 : {}, 8 : 1] : 8", i64::MAX / 2 + 1)).contains("64-bit"));
    }

    /// A transfer of 1 TB is asked for one request at a time.
    #[test]
    fn requests_are_made_as_they_are_asked_for() {
        let program: Program = "[268435456 : 4096, 4096 : 1] : 4096".parse().expect("a program");
        assert_eq!(request_count(&program, &Machine::rngd()), Some(1 << 32));
        assert_eq!(
            requests(&program, &Machine::rngd()).expect("addresses").nth(17).map(|request| request.address),
            Some(17 * 256)
        );
    }
}
