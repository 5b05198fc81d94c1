//! Types of literals that come from elsewhere: later uses, dead code, parameters, fields.

pub fn from_a_later_use() -> i32 {
    let x = 200;
    let y = x << 1;
    let _: u8 = x;
    y as i32
}

pub fn from_an_untaken_branch() -> i32 {
    let x = 255;
    if x == 3 {
        let _z: u8 = x;
    }
    (x << 4) as i32
}

pub fn from_an_uncalled_closure() -> i32 {
    let x = 1;
    let _f = |y: u16| y == x;
    ((x << 15) as i16) as i32
}

pub fn from_an_uncalled_closures_call() -> i32 {
    let f = |x| x << 7;
    if false {
        f(1i8);
    }
    f(1) as i32
}

fn takes(x: u8) -> u8 {
    x
}

pub fn from_a_parameter() -> i32 {
    let x = 0xFF;
    let y = !x;
    takes(x) as i32 + y as i32
}

struct Pair {
    a: i8,
    b: u64,
}

pub fn from_a_field() -> i32 {
    let a = 100;
    let b = 1;
    let p = Pair { a, b };
    let c = b << 40;
    (a.wrapping_add(p.a)) as i32 + (c >> 38) as i32 + p.b as i32
}

pub fn from_an_element() -> i32 {
    let mut a = [0u8; 3];
    let x = 250;
    a[1] = x;
    (x.wrapping_add(10)) as i32 * 100 + a[1] as i32
}

pub fn from_a_comparison() -> i32 {
    let x = 128;
    let y = 5u8;
    let less = y < x;
    (x << 1) as i32 + less as i32
}

pub fn not_from_a_shift_count() -> i32 {
    let n = 3;
    let x = 1u8 << n;
    let _: i64 = n;
    let big = n << 40;
    (big >> 38) as i32 + x as i32
}

pub fn not_from_a_cast() -> i32 {
    let x = 3_000_000_000u32 as u64 as i32;
    let y = 255 as u8 as i8;
    x / 1000 + y as i32
}

pub fn cast_of_an_unsuffixed_minus() -> i32 {
    (-1i8 as u8) as i32 + (-1i64 as u16) as i32 + (!0 as u8) as i32 * 3
}

pub fn from_a_range() -> i32 {
    let mut s = 0u8;
    for i in 0..4 {
        s = s.wrapping_add(i * 60);
    }
    s as i32
}

pub fn from_an_array_of_one_typed() -> i32 {
    let a = [200, 100, 7u8];
    let b = a[0].wrapping_add(a[1]);
    b as i32
}

pub fn from_a_return_type() -> i32 {
    fn f() -> i8 {
        let x = 127;
        x
    }
    fn g(b: bool) -> u8 {
        if b {
            return 250;
        }
        6
    }
    (f().wrapping_add(1)) as i32 + g(true).wrapping_add(g(false)) as i32
}

pub fn from_a_match_arm() -> i32 {
    let x = match 3 {
        0 => 1u8,
        1 => 2,
        _ => 200,
    };
    (x << 1) as i32
}

pub fn from_a_pattern() -> i32 {
    let x = 200;
    match x {
        0u8 => 1,
        _ => (x << 1) as i32,
    }
}

pub fn from_a_tuple() -> i32 {
    let t: (u8, _) = (255, 255);
    let (a, b) = t;
    (a.wrapping_add(1)) as i32 + b + 1
}

pub fn deferred() -> i32 {
    let x;
    let y = 3;
    if y > 2 {
        x = 5u8;
    } else {
        x = 9;
    }
    (x << 6) as i32
}

pub fn from_an_assignment() -> i32 {
    let mut x = 0;
    let y = x;
    x = 255u8;
    (!y) as i32 * 1000 + x as i32
}

pub fn from_an_operand() -> i32 {
    let a = 1;
    let b = a + 254u8;
    let c = a - 1;
    (!c) as i32 + b as i32
}

pub fn from_a_generic() -> i32 {
    fn same<T>(_: &T, y: T) -> T {
        y
    }
    let x = 7u8;
    let y = same(&x, 255);
    (y << 1) as i32
}

pub fn from_an_option() -> i32 {
    let mut o = Some(200);
    let r = o.map(|x| x << 1);
    o = None::<u8>;
    r.unwrap() as i32 + o.is_none() as i32
}

pub fn defaults_to_i32() -> i32 {
    let x = 1 << 31;
    let y = 2_000_000_000;
    (x >> 31) + (y as i64 >> 30) as i32
}

pub fn through_a_reference() -> i32 {
    let x = 200;
    let r = &x;
    fn f(x: &u8) -> u8 {
        x.wrapping_mul(2)
    }
    let s = f(r);
    s as i32 + (x << 1) as i32
}

pub fn through_a_fold() -> i32 {
    let s = [100u8, 100, 100].iter().fold(0, |a, &x| x.wrapping_add(a));
    s as i32
}

pub fn from_a_closures_result() -> i32 {
    let f = || 200;
    let x: u8 = f();
    (x << 1) as i32
}

pub fn from_a_const() -> i32 {
    const A: u8 = 0xF0 << 1;
    const B: i64 = 1 << 33;
    const C: [u16; 2] = [0xFFFF, !0 << 4];
    A as i32 + (B >> 30) as i32 + C[1] as i32
}

pub fn from_a_loops_break() -> i32 {
    let x = loop {
        break 255;
    };
    let y: u8 = x;
    (x << 1) as i32 + y as i32
}

pub fn spelled() -> i32 {
    0x_Fu8 as i32 + 0b1111_0000_u8 as i32 + 0o17_7i32 + 1__000 + 0xFFu8 as i8 as i32 + 0xE + 1_u8 as i32
}

fn e_is() -> i32 {
    0xE1
}

pub fn suffix_like_digits() -> i32 {
    0x1f32 + 0xe8 + e_is()
}

pub fn floats_default_to_f64() -> i32 {
    let x = 16777217.0;
    let y = x + 1.0;
    y as i32
}

pub fn floats_from_a_later_use() -> i32 {
    let x = 16777217.0;
    let y = x as i32;
    let _: f32 = x;
    y
}

pub fn in_a_nested_block() -> i32 {
    let x = {
        let y = 129;
        let z = y;
        { z << 1 }
    };
    let _ = [x, 0u8];
    x as i32
}

pub fn integers_by_methods_after_their_type() -> i32 {
    let mut x = 5;
    let y: u16 = 1;
    x += y;
    x.leading_zeros() as i32
}

pub fn negated_literals() -> i32 {
    let x: i8 = -128;
    let y = -128i8;
    let z: i64 = -9_223_372_036_854_775_808;
    x as i32 + y as i32 * 2 + (z >> 60) as i32
}

pub fn indices_are_usize() -> i32 {
    let a = [1, 2, 3];
    let i = 2;
    let x = a[i];
    (!i).count_ones() as i32 + x
}
