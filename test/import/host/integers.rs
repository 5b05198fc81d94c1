//! Widths of integers: limits, casts, shifts, methods.

pub fn narrowing_keeps_low_bits() -> i32 {
    let x = -129i16;
    (x as u8 as i32) * 1000 + (x as i8 as i32)
}

pub fn sign_extends_by_the_source() -> i32 {
    let a = 0x80u8 as i8 as u32;
    let b = 0x80u8 as u32 as i8;
    (a >> 8) as i32 ^ b as i32
}

pub fn complement_has_a_width() -> i32 {
    let a: u8 = 5;
    let b: i8 = 5;
    (!a as i32) * 1000 + !b as i32
}

pub fn complement_of_a_cast() -> i32 {
    !0u8 as i32 + !(0u8 as i32) + (!0u16 as i16) as i32 * 7
}

pub fn negated_minimum_by_wrapping() -> i32 {
    (i8::MIN.wrapping_neg() as i32) * 1000 + 1u8.wrapping_neg() as i32 + i32::MIN.wrapping_abs() / 65536
}

pub fn cast_binds_tighter_than_minus() -> i32 {
    let x = 200u8;
    -(x as i32) + (-1i32 as u8 as i32) * 1000 + -1i8 as u8 as i32
}

pub fn shift_right_of_negatives_rounds_down() -> i32 {
    (-7 >> 1) * 100 + -7 / 2 * 10 + -7 % 2 + (-7i32).rem_euclid(2) + (-7i32).div_euclid(2) * 1000
}

pub fn shift_of_a_wider_count() -> i32 {
    let n: u64 = 3;
    let by: i128 = 2;
    (1u8 << n) as i32 * 100 + (0x80u8 >> by) as i32
}

pub fn shift_drops_bits() -> i32 {
    let x = 0b1100_0001u8;
    (x << 1) as i32 + ((x << 1) >> 1) as i32 * 1000
}

pub fn shift_takes_the_left_type() -> i32 {
    let x = 1 << 31u8;
    let y: i64 = 1 << 31;
    (x < 0) as i32 * 10 + (y > 0) as i32
}

pub fn shift_in_a_wide_context() -> i32 {
    let y: u64 = 1 << 40;
    let z = (1u64 << 40) >> 38;
    (y >> 35) as i32 + z as i32
}

pub fn rotates() -> i32 {
    0x81u8.rotate_left(1) as i32 + 0x8001u16.rotate_right(4) as i32 + (-2i8).rotate_left(9) as i32
}

pub fn reversals() -> i32 {
    0b0000_0110u8.reverse_bits() as i32
        + 0x1234u16.swap_bytes() as i32
        + (0x0102_0304u32.to_be() >> 24) as i32
}

pub fn zeros_by_type() -> i32 {
    (1u8.leading_zeros() + 1i64.leading_zeros() * 100 + 0u16.trailing_zeros() * 10000) as i32
        + (-1i8).count_ones() as i32
        + (-1i128).leading_ones() as i32
        + 7u8.trailing_ones() as i32
}

pub fn checked_at_limits() -> i32 {
    let a = 255u8.checked_add(1).is_none() as i32;
    let b = i8::MIN.checked_neg().is_none() as i32;
    let c = i32::MIN.checked_div(-1).is_none() as i32;
    let d = 1u8.checked_shl(8).is_none() as i32;
    let e = 5u8.checked_sub(6).map_or(1, |_| 0);
    let f = 2i64.checked_pow(62).is_some() as i32;
    a + b * 2 + c * 4 + d * 8 + e * 16 + f * 32
}

pub fn overflowing_pairs() -> i32 {
    let (x, o) = 200u8.overflowing_add(100);
    let (y, p) = i8::MIN.overflowing_sub(1);
    let (z, q) = 5u16.overflowing_mul(5);
    x as i32 * 1000 + o as i32 + y as i32 + p as i32 * 2 + z as i32 + q as i32 * 4
}

pub fn saturating_both_ways() -> i32 {
    (100i8.saturating_add(100) as i32)
        + (-100i8).saturating_sub(100) as i32 * 1000
        + 3u8.saturating_sub(9) as i32
        + 200u8.saturating_mul(2) as i32
        + 7i8.saturating_pow(3) as i32
}

pub fn wrapping_shift_masks_its_count() -> i32 {
    1u8.wrapping_shl(9) as i32 * 100 + 0x80u8.wrapping_shr(15) as i32 + 1i32.wrapping_shl(33)
}

pub fn powers() -> i32 {
    (-3i32).pow(3) + 2u8.pow(7) as i32 + 10i64.pow(9) as i32 + 3u8.wrapping_pow(6) as i32 + 0i8.pow(0) as i32
}

pub fn roots_and_logarithms() -> i32 {
    99u8.isqrt() as i32 + 1000u32.ilog2() as i32 * 100 + 999u16.ilog10() as i32 * 10000 + 80i32.ilog(3) as i32
}

pub fn differences() -> i32 {
    (-100i8).abs_diff(100) as i32 + 3u8.abs_diff(9) as i32 * 1000 + (i32::MIN.abs_diff(0) >> 20) as i32
}

pub fn signs() -> i32 {
    (-5i8).signum() as i32
        + 0i64.signum() as i32 * 10
        + (-5i8).is_negative() as i32 * 100
        + (-128i8).unsigned_abs() as i32 * 1000
}

pub fn next_powers() -> i32 {
    5u8.next_power_of_two() as i32
        + 64u16.is_power_of_two() as i32 * 100
        + 17u32.next_multiple_of(5) as i32 * 1000
        + 7u32.div_ceil(2) as i32
}

pub fn limits() -> i32 {
    let a = (i128::MAX >> 100) as i32;
    let b = (u128::MAX >> 120) as i32;
    let c = (i64::MIN >> 40) as i32;
    let d = usize::MAX.count_ones() as i32;
    let e = isize::MIN.trailing_zeros() as i32;
    let f = u8::BITS as i32 * 100;
    a ^ b ^ c ^ d ^ e ^ f
}

pub fn wide_products() -> i32 {
    let x = 0xFFFF_FFFF_FFFFu64 as u128 * 0x1_0000_0001;
    (x >> 50) as i32 ^ x as i32
}

pub fn negative_to_wide_unsigned() -> i32 {
    let x = -1i8 as u128;
    let y = -1i8 as u8 as u128;
    (x >> 100) as i32 + y as i32
}

pub fn truth_and_letters() -> i32 {
    true as i32 * 100
        + false as u8 as i32
        + 'A' as i32
        + 'é' as u8 as i32
        + (b'a' + 1) as char as i32
        + b'\n' as i32
        + '\u{1F600}' as i32
}

pub fn comparison_by_sign() -> i32 {
    let a = 0xFFu8;
    let b = a as i8;
    (a > 1) as i32
        + (b > 1) as i32 * 10
        + ((b as u8) == a) as i32 * 100
        + ((b as i32) == a as i32) as i32 * 1000
}

pub fn sums_in_the_type_of_elements() -> i32 {
    let a = [100u8, 100, 50];
    let s: u8 = a.iter().sum();
    let t: i32 = a.iter().map(|&x| x as i32 * 2).sum();
    s as i32 * 1000 + t
}

pub fn conversions() -> i32 {
    let a = u8::try_from(300i32).is_err() as i32;
    let b: i64 = (-3i8).into();
    let c = i32::from(7u8) + i32::from(true) + u32::from('b') as i32;
    let d: Result<i8, _> = 200u8.try_into();
    a + b as i32 * 100 + c + d.unwrap_or(-9) as i32 * 1000
}

pub fn bytes() -> i32 {
    let b = 0x0102_0380u32.to_le_bytes();
    i32::from_be_bytes(b) ^ u16::from_ne_bytes([b[0], b[1]]) as i32 ^ i16::from_le_bytes([0, 0x80]) as i32
}

pub fn compound_assignments() -> i32 {
    let mut x = 0xF0u8;
    x >>= 2;
    x |= 1;
    x ^= 0xFF;
    x <<= 1;
    x %= 100;
    x *= 2;
    x -= 3;
    x /= 2;
    x += 7;
    x &= 0x7F;
    x as i32
}

pub fn precedence() -> i32 {
    1 + 2 << 3 & 0xFF ^ 5 | 6 - -2 * 3 % 4
}

pub fn comparisons_and_logic() -> i32 {
    let mut n = 0;
    let mut hit = |b: bool| {
        n += 1;
        b
    };
    let r = hit(false) && hit(true) || hit(true) | hit(true);
    let s = hit(false) & hit(true);
    n * 10 + r as i32 + s as i32
}

pub fn exclusive_or_of_truths() -> i32 {
    let mut a = true;
    a ^= true;
    let b = !a & true | false;
    (a as i32) * 10 + b as i32 + (true > false) as i32 * 100 + (b != a) as i32 * 1000
}

pub fn orders() -> i32 {
    let a = 3.cmp(&5) as i32;
    let b = (2, 9) < (3, 0);
    let c = [1, 2, 3] < [1, 3, 0];
    let d = (1, 2).max((1, 1)).1;
    let e = std::cmp::min(4u8, 250) as i32 + 5.clamp(7, 9);
    a * 1000 + b as i32 + c as i32 * 10 + d * 100 + e
}

pub fn mixed_signs() -> i32 {
    let a = 250u8.wrapping_add_signed(10) as i32;
    let b = 5u8.checked_add_signed(-6).is_none() as i32;
    let c = (-5i8).wrapping_add_unsigned(200) as i32;
    let d = 5u8.saturating_add_signed(-100) as i32;
    a + b * 100 + c * 1000 + d
}

pub fn midpoint_and_carry() -> i32 {
    u8::midpoint(250, 254) as i32 + (-3i32).midpoint(4) + 200u8.carrying() as i32
}

trait Carrying {
    fn carrying(self) -> u8;
}

impl Carrying for u8 {
    fn carrying(self) -> u8 {
        self.wrapping_mul(3)
    }
}
