//! Programs that panic: the importer refuses each.

pub fn addition() -> i32 {
    let x = 255u8;
    (x + 1) as i32
}

pub fn subtraction() -> i32 {
    let x: usize = 3;
    (x - 4) as i32
}

pub fn multiplication() -> i32 {
    let x = 1 << 20;
    x * x
}

pub fn negation() -> i32 {
    let x = i32::MIN;
    -x
}

pub fn negation_of_a_byte() -> i32 {
    let x = -128i8;
    (-x) as i32
}

pub fn division_by_zero() -> i32 {
    let x = 0;
    7 / x
}

pub fn remainder_by_zero() -> i32 {
    let x = 0u8;
    (7 % x) as i32
}

pub fn division_of_the_minimum() -> i32 {
    let x = -1;
    i32::MIN / x
}

pub fn remainder_of_the_minimum() -> i32 {
    let x = -1i64;
    (i64::MIN % x) as i32
}

pub fn a_shift_by_the_width() -> i32 {
    let n = 8;
    (1u8 << n) as i32
}

pub fn a_shift_by_a_negative() -> i32 {
    let n = -1;
    1 << n
}

pub fn a_right_shift_by_the_width() -> i32 {
    let n = 32u64;
    5 >> n
}

pub fn a_power() -> i32 {
    let x = 10i32;
    x.pow(10)
}

pub fn an_absolute_value() -> i32 {
    let x = i32::MIN;
    x.abs()
}

pub fn a_sum() -> i32 {
    let a = [200u8, 100];
    a.iter().sum::<u8>() as i32
}

pub fn a_product() -> i32 {
    (1..=13).product::<i32>()
}

pub fn a_compound_assignment() -> i32 {
    let mut x = 250u8;
    for _ in 0..3 {
        x += 3;
    }
    x as i32
}

pub fn an_index() -> i32 {
    let a = [1, 2, 3];
    let i = 3;
    a[i]
}

pub fn an_index_of_a_slice() -> i32 {
    let a = [1, 2, 3];
    let s = &a[1..];
    s[2]
}

pub fn a_slice() -> i32 {
    let a = [1, 2, 3];
    let n = 4;
    a[..n].len() as i32
}

pub fn a_slice_backwards() -> i32 {
    let a = [1, 2, 3];
    let n = 1;
    a[2..n].len() as i32
}

pub fn none() -> i32 {
    let o: Option<i32> = None;
    o.unwrap()
}

pub fn expected() -> i32 {
    let o: Option<i32> = None;
    o.expect("a number")
}

pub fn an_error() -> i32 {
    let r: Result<i32, i32> = Err(3);
    r.unwrap()
}

pub fn no_error() -> i32 {
    let r: Result<i32, i32> = Ok(3);
    r.unwrap_err()
}

pub fn an_assertion() -> i32 {
    let x = 3;
    assert!(x == 4, "x is {x}");
    x
}

pub fn an_assertion_of_equality() -> i32 {
    let x = 3;
    assert_eq!(x, 4);
    x
}

pub fn an_assertion_of_difference() -> i32 {
    let x = 3;
    assert_ne!(x, 3);
    x
}

pub fn a_debug_assertion() -> i32 {
    let x = 3;
    debug_assert!(x > 3);
    x
}

pub fn unreachable() -> i32 {
    let x = 3;
    match x {
        1 => 1,
        2 => 2,
        _ => unreachable!(),
    }
}

pub fn a_panic_in_an_unused_value() -> i32 {
    let _ = {
        let x = 255u8;
        x + 1
    };
    3
}

pub fn a_panic_in_an_argument_that_is_not_used() -> i32 {
    fn f(_: i32) -> i32 {
        1
    }
    let x = 0;
    f(1 / x)
}

pub fn an_overflow_in_a_closure() -> i32 {
    let f = |x: i8| x * 2;
    let y = f(100);
    y as i32
}

pub fn an_overflow_by_inference() -> i32 {
    let x = 200;
    let y = x + 100;
    let _: u8 = x;
    y as i32
}

pub fn the_end_of_a_range() -> i32 {
    let mut n = 0u8;
    loop {
        n += 1;
        if n == 0 {
            break;
        }
    }
    n as i32
}

pub fn an_allocation_of_a_step() -> i32 {
    let n = 0;
    (0..3).step_by(n).count() as i32
}

pub fn a_clamp() -> i32 {
    let (a, b) = (5, 3);
    4.clamp(a, b)
}

pub fn a_clamp_of_floats() -> i32 {
    4f32.clamp(5.0, 3.0) as i32
}

pub fn a_logarithm() -> i32 {
    let x = 0u32;
    x.ilog2() as i32
}

pub fn a_root() -> i32 {
    let x = -1;
    i32::isqrt(x)
}

pub fn a_remainder_of_euclid() -> i32 {
    let x = 0;
    7i32.rem_euclid(x)
}

pub fn a_division_of_euclid() -> i32 {
    let x = -1;
    i32::MIN.div_euclid(x)
}

pub fn a_multiple() -> i32 {
    let x = 250u8;
    x.next_multiple_of(100) as i32
}

pub fn a_power_of_two() -> i32 {
    let x = 200u8;
    x.next_power_of_two() as i32
}

pub fn a_swap() -> i32 {
    let mut a = [1, 2];
    let i = 2;
    a.swap(0, i);
    a[0]
}

pub fn chunks_of_nothing() -> i32 {
    let n = 0;
    [1, 2].chunks(n).count() as i32
}

pub fn a_copy_of_another_length() -> i32 {
    let mut a = [1, 2];
    let n = 1;
    a.copy_from_slice(&[3, 4][..n]);
    a[0]
}

pub fn a_conversion() -> i32 {
    let x = 300;
    u8::try_from(x).unwrap() as i32
}

pub fn an_expected_conversion() -> i32 {
    let x = -1i32;
    let y: u32 = x.try_into().expect("a positive number");
    y as i32
}

pub fn an_overflow_in_a_condition() -> i32 {
    let x = i32::MAX;
    if x + 1 > x { 1 } else { 2 }
}

pub fn an_overflow_in_a_guard() -> i32 {
    let x = i32::MAX;
    match 3 {
        3 if x + 1 < 0 => 1,
        _ => 2,
    }
}

pub fn an_overflow_that_would_cancel() -> i32 {
    let x = i32::MAX;
    x + 1 - 1
}

pub fn a_product_by_zero_after_an_overflow() -> i32 {
    let x = i32::MAX;
    (x * 2) * 0
}

pub fn a_folded_overflow() -> i32 {
    [100i8, 100].iter().fold(0, |a, x| a + x) as i32
}
