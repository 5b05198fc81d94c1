//! Elements in little-endian memory.
//!
//! Loading and storing moves bits and changes none of them; the bulk decoders prepare operands of arithmetic and
//! therefore flush subnormals.

use std::fmt;

use crate::bits::Bits;
use crate::dtype::DType;
use crate::float::{flush, widen_bf16};
use crate::minifloat::{f4e2m1_to_f32, f8e4m3_to_f32, f8e5m2_to_f32};

/// A bulk decoder was asked for a format of the other kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KindError {
    /// The format it was asked for.
    pub dtype: DType,
}

impl fmt::Display for KindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, expected) = if self.dtype.is_float() {
            ("a floating-point", "an integer")
        } else {
            ("an integer", "a floating-point")
        };
        write!(f, "{} is {found} format, expected {expected} one", self.dtype)
    }
}

impl std::error::Error for KindError {}

/// The element at `index` (counted in elements) of packed `bytes`; i5 and i9 as a stream holds them
/// ([`DType::wire_scale`]).
///
/// # Panics
/// If the element is outside `bytes`: callers check ranges once for a whole access.
#[inline]
pub fn load(dtype: DType, bytes: &[u8], index: usize) -> Bits {
    match dtype {
        DType::I4 => nibbles(bytes[index / 2])[index % 2].cast_unsigned(),
        DType::I5 | DType::I8 => i32::from(bytes[index].cast_signed()).cast_unsigned(),
        DType::I9 | DType::I16 => i32::from(half(bytes, index).cast_signed()).cast_unsigned(),
        DType::F4e2m1 => codes(bytes[index / 2])[index % 2],
        DType::U8 | DType::F8e4m3 | DType::F8e5m2 => u32::from(bytes[index]),
        DType::F16 | DType::Bf16 => u32::from(half(bytes, index)),
        DType::I32 | DType::F32 => {
            let word = &bytes[4 * index..][..4];
            u32::from_le_bytes([word[0], word[1], word[2], word[3]])
        }
    }
}

fn half(bytes: &[u8], index: usize) -> u16 {
    u16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]])
}

/// The two halves of a byte, the low one first.
fn codes(byte: u8) -> [Bits; 2] {
    [u32::from(byte & 0xf), u32::from(byte >> 4)]
}

/// The two i4 of a byte, the low half first.
pub(crate) fn nibbles(byte: u8) -> [i32; 2] {
    let byte = i32::from(byte);
    [DType::I4.wrap(byte), DType::I4.wrap(byte >> 4)]
}

/// Puts an element at `index` (counted in elements) of packed `bytes`; bits above the format's width are dropped.
/// i5 and i9 as a stream holds them ([`DType::wire_scale`]).
///
/// # Panics
/// If the element is outside `bytes`: callers check ranges once for a whole access.
#[inline]
pub fn store(dtype: DType, bytes: &mut [u8], index: usize, bits: Bits) {
    match dtype {
        DType::I4 | DType::F4e2m1 => {
            let (byte, shift) = (&mut bytes[index / 2], index % 2 * 4);
            *byte = *byte & !(0xf << shift) | (bits as u8 & 0xf) << shift;
        }
        DType::I5 => bytes[index] = DType::I5.wrap(bits.cast_signed()) as u8,
        DType::I8 | DType::U8 | DType::F8e4m3 | DType::F8e5m2 => bytes[index] = bits as u8,
        DType::I9 => put_half(bytes, index, DType::I9.wrap(bits.cast_signed()) as u16),
        DType::I16 | DType::F16 | DType::Bf16 => put_half(bytes, index, bits as u16),
        DType::I32 | DType::F32 => bytes[4 * index..][..4].copy_from_slice(&bits.to_le_bytes()),
    }
}

fn put_half(bytes: &mut [u8], index: usize, half: u16) {
    bytes[2 * index..][..2].copy_from_slice(&half.to_le_bytes());
}

/// Replaces `out` by all whole elements of packed `bytes` as f32 operands: exact, subnormals flushed (but for
/// those of f8 and f16, which are normal numbers in f32).
pub fn decode_f32(dtype: DType, bytes: &[u8], out: &mut Vec<f32>) -> Result<(), KindError> {
    out.clear();
    match dtype {
        DType::F4e2m1 => out.extend(bytes.iter().flat_map(|&b| codes(b).map(f4e2m1_to_f32))),
        DType::F8e4m3 => out.extend(bytes.iter().map(|&b| f8e4m3_to_f32(u32::from(b)))),
        DType::F8e5m2 => out.extend(bytes.iter().map(|&b| f8e5m2_to_f32(u32::from(b)))),
        DType::F16 => {
            let (elements, _) = bytes.as_chunks();
            let widen = |&b: &[u8; 2]| crate::minifloat::f16_to_f32(u32::from(u16::from_le_bytes(b)));
            out.extend(elements.iter().map(widen));
        }
        DType::Bf16 => {
            let (elements, _) = bytes.as_chunks();
            let widen = |&b: &[u8; 2]| flush(widen_bf16(u32::from(u16::from_le_bytes(b))));
            out.extend(elements.iter().map(widen));
        }
        DType::F32 => {
            let (elements, _) = bytes.as_chunks();
            out.extend(elements.iter().map(|&b| flush(f32::from_le_bytes(b))));
        }
        DType::I4 | DType::I5 | DType::I8 | DType::I9 | DType::I16 | DType::I32 | DType::U8 => {
            return Err(KindError { dtype });
        }
    }
    Ok(())
}

/// Replaces `out` by all whole elements of packed `bytes` as i32 operands: exact. i5 and i9 as a stream holds them
/// ([`DType::wire_scale`]).
pub fn decode_i32(dtype: DType, bytes: &[u8], out: &mut Vec<i32>) -> Result<(), KindError> {
    out.clear();
    match dtype {
        DType::I4 => out.extend(bytes.iter().flat_map(|&b| nibbles(b))),
        DType::U8 => out.extend(bytes.iter().map(|&b| i32::from(b))),
        DType::I5 | DType::I8 => out.extend(bytes.iter().map(|&b| i32::from(b.cast_signed()))),
        DType::I9 | DType::I16 => {
            let (elements, _) = bytes.as_chunks();
            out.extend(elements.iter().map(|&b| i32::from(i16::from_le_bytes(b))));
        }
        DType::I32 => {
            let (elements, _) = bytes.as_chunks();
            out.extend(elements.iter().map(|&b| i32::from_le_bytes(b)));
        }
        DType::F4e2m1 | DType::F8e4m3 | DType::F8e5m2 | DType::F16 | DType::Bf16 | DType::F32 => {
            return Err(KindError { dtype });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 8] = [0x01, 0x80, 0xff, 0x7f, 0x01, 0x00, 0xc0, 0xff];

    #[test]
    fn loads_by_hand() {
        assert_eq!(load(DType::I8, &BYTES, 0), 1);
        assert_eq!(load(DType::I8, &BYTES, 1), 0xffff_ff80);
        assert_eq!(load(DType::I8, &BYTES, 3), 127);
        assert_eq!(load(DType::Bf16, &BYTES, 1), 0x7fff);
        assert_eq!(load(DType::Bf16, &BYTES, 2), 0x0001);
        assert_eq!(load(DType::I32, &BYTES, 0), 0x7fff_8001);
        assert_eq!(load(DType::F32, &BYTES, 1), 0xffc0_0001);
        // The low half of a byte first: 0x01 is 1, 0; 0x80 is 0, -8.
        assert_eq!([0, 1, 2, 3].map(|at| load(DType::I4, &BYTES, at).cast_signed()), [1, 0, 0, -8]);
        assert_eq!(load(DType::I16, &BYTES, 0), 0xffff_8001);
        assert_eq!(load(DType::F16, &BYTES, 0), 0x8001);
        assert_eq!(load(DType::F8e5m2, &BYTES, 2), 0xff);
        assert_eq!((load(DType::U8, &BYTES, 1), load(DType::U8, &BYTES, 2)), (0x80, 0xff));
        // 0x80 is 0, -0; 0xff is -6, -6.
        assert_eq!([2, 3, 4, 5].map(|at| load(DType::F4e2m1, &BYTES, at)), [0, 8, 0xf, 0xf]);
    }

    /// A byte an i5, two bytes an i9, sign-extended.
    #[test]
    fn extended_integers_on_the_wire() {
        let mut bytes = [0x55; 4];
        for (index, value) in [-16, 15, -1, 16].into_iter().enumerate() {
            store(DType::I5, &mut bytes, index, value as u32);
        }
        assert_eq!(bytes, [0xf0, 0x0f, 0xff, 0xf0]);
        assert_eq!(load(DType::I5, &bytes, 0).cast_signed(), -16);
        store(DType::I9, &mut bytes, 0, -256_i32 as u32);
        store(DType::I9, &mut bytes, 1, 256);
        assert_eq!(bytes, [0x00, 0xff, 0x00, 0xff]);
        assert_eq!(load(DType::I9, &bytes, 1).cast_signed(), -256);
    }

    /// Moving data changes no bit: subnormals and NaN payloads survive.
    #[test]
    fn stores_what_it_loads() {
        for dtype in DType::all().filter(|dtype| dtype.is_stored()) {
            let mut copy = [0; 8];
            for index in 0..64 / dtype.bits() as usize {
                store(dtype, &mut copy, index, load(dtype, &BYTES, index));
            }
            assert_eq!(copy, BYTES, "{dtype}");
        }
    }

    #[test]
    fn stores_touch_only_their_element() {
        let mut bytes = [0xaa; 8];
        store(DType::I8, &mut bytes, 1, 0xffff_ff01);
        store(DType::Bf16, &mut bytes, 2, 0xffff_1234);
        assert_eq!(bytes, [0xaa, 0x01, 0xaa, 0xaa, 0x34, 0x12, 0xaa, 0xaa]);
        store(DType::I4, &mut bytes, 0, 0xffff_fff5);
        store(DType::I4, &mut bytes, 15, 3);
        assert_eq!(bytes, [0xa5, 0x01, 0xaa, 0xaa, 0x34, 0x12, 0xaa, 0x3a]);
    }

    #[test]
    fn decodes_floats() {
        let mut out = vec![9.0];
        // -0 from the subnormal 0x8001, a NaN, +0 from the subnormal 0x0001, a negative NaN.
        assert_eq!(decode_f32(DType::Bf16, &BYTES, &mut out), Ok(()));
        assert_eq!(out.len(), 4);
        assert_eq!(out[0].to_bits(), 0x8000_0000);
        assert!(out[1].is_nan());
        assert_eq!(out[2].to_bits(), 0);
        assert_eq!(decode_f32(DType::F32, &[1, 0, 0x80, 0x80, 0, 0, 0x40], &mut out), Ok(()));
        assert_eq!(out.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [0x8080_0001]);
        assert_eq!(decode_f32(DType::F32, &[1, 0, 0x7f, 0x80], &mut out), Ok(()));
        assert_eq!(out[0].to_bits(), 0x8000_0000);
    }

    #[test]
    fn decodes_integers() {
        let mut out = vec![9];
        assert_eq!(decode_i32(DType::I8, &BYTES[..4], &mut out), Ok(()));
        assert_eq!(out, [1, -128, -1, 127]);
        assert_eq!(decode_i32(DType::I32, &BYTES[..7], &mut out), Ok(()));
        assert_eq!(out, [0x7fff_8001]);
        assert_eq!(decode_i32(DType::I4, &BYTES[..3], &mut out), Ok(()));
        assert_eq!(out, [1, 0, 0, -8, -1, -1]);
    }

    /// Decoding a whole wire is loading each element.
    #[test]
    fn decodes_what_it_loads() {
        let bytes: Vec<u8> = (0..=255).collect();
        for dtype in DType::all() {
            let count = dtype.elements(256 / dtype.wire_scale() as u64) as usize;
            let loaded = (0..count).map(|index| load(dtype, &bytes, index));
            let (mut integers, mut floats) = (Vec::new(), Vec::new());
            if dtype.is_float() {
                decode_f32(dtype, &bytes, &mut floats).expect("a float");
                let value = |bits| (crate::cast::to_f64(dtype, bits) as f32).to_bits();
                let expected = loaded.map(value).map(|bits| flush(f32::from_bits(bits)).to_bits());
                assert!(floats.iter().map(|x| x.to_bits()).eq(expected), "{dtype}");
            } else {
                decode_i32(dtype, &bytes, &mut integers).expect("an integer");
                assert!(integers.iter().copied().eq(loaded.map(u32::cast_signed)), "{dtype}");
            }
        }
    }

    #[test]
    fn refuses_the_other_kind() {
        let mut floats = vec![1.0];
        let error = decode_f32(DType::I8, &BYTES, &mut floats).unwrap_err();
        assert_eq!(error.to_string(), "i8 is an integer format, expected a floating-point one");
        assert!(floats.is_empty());
        assert!(decode_f32(DType::I32, &BYTES, &mut floats).is_err());
        let mut integers = vec![1];
        let error = decode_i32(DType::Bf16, &BYTES, &mut integers).unwrap_err();
        assert_eq!(error.to_string(), "bf16 is a floating-point format, expected an integer one");
        assert!(decode_i32(DType::F32, &BYTES, &mut integers).is_err());
    }
}
