//! Requests in parts that a memory takes at once.

use crate::requests::Request;

/// The part of a request up to the first boundary of `unit` bytes, and the rest, perhaps of 0 bytes.
pub(super) fn split(request: Request, unit: u64) -> (Request, Request) {
    let Request { address, bytes } = request;
    let first = bytes.min(unit - address % unit);
    (Request { address, bytes: first }, Request { address: address + first, bytes: bytes - first })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_cut_at_boundaries() {
        let cut = |address, bytes| {
            let (first, rest) = split(Request { address, bytes }, 256);
            ((first.address, first.bytes), (rest.address, rest.bytes))
        };
        assert_eq!(cut(512, 256), ((512, 256), (768, 0)));
        assert_eq!(cut(511, 256), ((511, 1), (512, 255)));
        assert_eq!(cut(513, 255), ((513, 255), (768, 0)));
        assert_eq!(cut(1, 600), ((1, 255), (256, 345)));
    }
}
