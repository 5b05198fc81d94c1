//! Copies, order of evaluation, shadows: values that change after they are read.

pub fn closure_is_copied() -> i32 {
    let mut n = 0;
    let mut f = move || {
        n += 1;
        n
    };
    let mut g = f;
    f();
    f();
    g() * 10 + f()
}

pub fn closure_is_cloned() -> i32 {
    let mut n = 0;
    let mut f = move || {
        n += 1;
        n
    };
    f();
    let mut g = f.clone();
    g();
    g();
    f() * 10 + g()
}

pub fn closure_is_passed_by_copy() -> i32 {
    fn call(mut f: impl FnMut() -> i32) -> i32 {
        f();
        f()
    }
    let mut n = 0;
    let mut f = move || {
        n += 1;
        n
    };
    let a = call(f);
    let b = call(&mut f);
    let c = f();
    a * 100 + b * 10 + c
}

pub fn iterator_is_cloned() -> i32 {
    let mut it = [1, 2, 3].into_iter();
    let mut c = it.clone();
    it.next();
    it.next();
    c.next().unwrap() * 10 + it.next().unwrap()
}

pub fn iterator_by_ref() -> i32 {
    let mut it = 0..10;
    let a: i32 = it.by_ref().take(3).sum();
    let b = it.next().unwrap();
    let c: i32 = it.sum();
    a * 1000 + b * 100 + c
}

pub fn range_is_an_iterator() -> i32 {
    let mut r = 5..8;
    let a = r.next().unwrap();
    let b = r.start;
    let c = r.len() as i32;
    a * 100 + b * 10 + c
}

pub fn range_is_changed_by_nth() -> i32 {
    let mut r = (0..10).step_by(3);
    let a = r.nth(1).unwrap();
    let b = r.next().unwrap();
    a * 10 + b
}

pub fn an_array_of_closures() -> i32 {
    let mut n = 1;
    let fs: [&dyn Fn(i32) -> i32; 2] = [&|x| x + 1, &|x| x * 3];
    for f in fs {
        n = f(n);
    }
    n
}

pub fn closure_captures_a_part() -> i32 {
    struct S {
        a: i32,
        b: i32,
    }
    let mut s = S { a: 1, b: 2 };
    let f = move || s.a * 10;
    s.a = 5;
    s.b += f();
    s.a * 100 + s.b
}

pub fn closure_captures_through_a_reference() -> i32 {
    let mut x = 1;
    let r = &mut x;
    let mut f = move || {
        *r += 5;
        *r
    };
    let a = f();
    a * 10 + x
}

pub fn copied_before_change_in_a_call() -> i32 {
    fn f(a: i32, b: &mut i32, c: i32) -> i32 {
        *b += 1;
        a * 100 + *b * 10 + c
    }
    let mut x = 1;
    let y = x;
    f(x, &mut { x }, y) + f(y, &mut x, 3) + x
}

pub fn tuple_of_blocks() -> i32 {
    let mut x = 1;
    let t = (
        x,
        {
            x += 1;
            x
        },
        x,
        {
            x *= 10;
            x
        },
    );
    t.0 * 1000 + t.1 * 100 + t.2 * 10 + t.3
}

pub fn comparison_order() -> i32 {
    let mut x = 1;
    let b = x < {
        x = 0;
        1
    };
    let c = {
        x += 5;
        x
    } > x - 1;
    b as i32 + c as i32 * 10 + x * 100
}

pub fn method_receiver_order() -> i32 {
    let mut x = 5i32;
    x.wrapping_add({
        x = 100;
        1
    }) * 1000
        + x
}

pub fn index_order() -> i32 {
    let mut i = 0;
    let a = [[1, 2], [3, 4]];
    a[{
        i += 1;
        i
    }][{
        i -= 1;
        i
    }] * 10
        + i as i32
}

pub fn array_read_then_changed() -> i32 {
    let mut a = [1, 2, 3];
    let b =
        a[0] + {
            a[0] = 10;
            a[1]
        } + a[0];
    let c = [a, {
        a[2] = 7;
        a
    }];
    b * 1000 + c[0][2] * 10 + c[1][2]
}

pub fn match_on_a_place_then_changed() -> i32 {
    let mut x = Some(1);
    match x {
        Some(n) if { n > 0 } => {
            x = None;
            n * 10 + x.is_none() as i32
        }
        _ => 0,
    }
}

pub fn match_copies_its_bindings() -> i32 {
    let mut t = (1, 2);
    match t {
        (a, b) => {
            t.0 = 100;
            t.1 = 200;
            a * 10 + b + t.0
        }
    }
}

pub fn for_over_a_copy() -> i32 {
    let mut a = [1, 2, 3];
    let mut s = 0;
    for x in a {
        a[2] = 10;
        s += x;
    }
    s * 100 + a[2]
}

pub fn while_let_on_a_copy() -> i32 {
    let mut a = [1, 2, 3];
    let it = a.iter().copied().map(|x| x * 2);
    let v: i32 = it.sum();
    a[0] = 50;
    v + a[0]
}

pub fn struct_base_is_moved_first() -> i32 {
    #[derive(Clone, Copy)]
    struct S {
        a: i32,
        b: i32,
        c: i32,
    }
    let mut s = S { a: 1, b: 2, c: 3 };
    let t = S {
        a: {
            s.b = 20;
            s.a + 5
        },
        ..s
    };
    t.a * 100 + t.b + t.c
}

pub fn shadow_in_its_own_value() -> i32 {
    let x = 3;
    let x = {
        let x = x + 1;
        x * 2
    } + x;
    let f = |x: i32| {
        let x = x * x;
        x + 1
    };
    f(x)
}

pub fn shadow_by_a_pattern() -> i32 {
    let x = 1;
    let y = if let Some(x) = Some(x + 10)
        && let Some(x) = Some(x * 2)
    {
        x
    } else {
        x
    };
    let z = match (x, y) {
        (y, x) => x * 100 + y,
    };
    z + x + y
}

pub fn const_shadowed_pattern_in_block() -> i32 {
    let f = |v: i32| {
        const A: i32 = 4;
        match v {
            A => 1,
            _ => {
                const A: i32 = 5;
                match v {
                    A => 2,
                    _ => 3,
                }
            }
        }
    };
    f(4) * 100 + f(5) * 10 + f(6)
}

pub fn while_condition_changes() -> i32 {
    let mut a = [3, 2, 1, 0];
    let mut i = 0;
    while a[i] != 0 {
        a[i] -= 1;
        if a[i] == 0 {
            i += 1;
        }
    }
    i as i32
}

pub fn bool_ops_on_ints() -> i32 {
    let t = true & !false ^ true;
    (t as i32) + (true as u8 + true as u8) as i32 * 10
}

pub fn loop_in_const() -> i32 {
    const X: i32 = {
        let mut s = 0;
        let mut i = 0;
        loop {
            if i == 5 {
                break;
            }
            s += i;
            i += 1;
        }
        s
    };
    static Y: [i32; 3] = [X, X + 1, {
        let x = 3;
        x * X
    }];
    Y[2] + Y[0]
}

pub fn const_block() -> i32 {
    let a = const { 1 + 2 };
    fn f<const N: usize>() -> i32 {
        const { N as i32 * 2 }
    }
    a + f::<4>() * 10
}

pub fn nested_generic_const() -> i32 {
    fn f<const N: usize, const M: usize>(a: [[i32; N]; M]) -> i32 {
        N as i32 * 10 + M as i32 + a[M - 1][N - 1] * 100
    }
    f([[1, 2, 3], [4, 5, 6]])
}

pub fn fn_in_impl_uses_outer_const() -> i32 {
    const K: i32 = 3;
    struct S;
    impl S {
        const K: i32 = 4;
        fn f() -> i32 {
            K * 10 + Self::K
        }
    }
    S::f()
}

pub fn assoc_const_array() -> i32 {
    struct S;
    impl S {
        const T: [i32; 3] = [1, 2, 3];
        const N: usize = Self::T.len();
    }
    let a = [7; S::N];
    a.len() as i32 * 10 + S::T[2]
}

pub fn enum_with_const_discriminant() -> i32 {
    const B: isize = 7;
    #[derive(Clone, Copy)]
    enum E {
        A = B,
        C = E::A as isize * 2,
        D,
    }
    E::C as i32 * 10 + E::D as i32
}

pub fn negative_zero_literal() -> i32 {
    let x = -0.0f32;
    let y = 0.0f32;
    (x.to_bits() == y.to_bits()) as i32
        + (x == y) as i32 * 2
        + ((-x).to_bits() == 0) as i32 * 4
        + ((0.0f32 - 0.0).to_bits() == 0) as i32 * 8
}

pub fn float_min_max_signs() -> i32 {
    (0.5f32.min(-0.5) < 0.0) as i32
        + ((f32::MAX as f64) as f32 == f32::MAX) as i32 * 2
        + (0.1f32 + 0.2f32 == 0.3f32) as i32 * 4
        + (0.1 + 0.2 == 0.3) as i32 * 8
}

pub fn float_from_int_ops() -> i32 {
    let x = 7 / 2;
    let y = 7.0 / 2.0;
    let z = (7 / 2) as f32 * 2.0;
    x * 100 + y as i32 * 10 + z as i32
}

pub fn float_compound() -> i32 {
    let mut x = 0.1f32;
    for _ in 0..10 {
        x += 0.1;
        x *= 1.5;
        x -= 0.3;
        x /= 1.1;
    }
    x.to_bits() as i32
}

pub fn float_exp() -> i32 {
    (2.0f32.powf(0.5).to_bits()
        ^ 1.0f32.exp().to_bits()
        ^ 2.0f32.ln().to_bits()
        ^ 0.5f32.sin().to_bits()
        ^ 10f32.log10().to_bits()) as i32
}

pub fn float_atan() -> i32 {
    0.3f32.tanh().to_bits() as i32
        ^ 0.7f32.atan2(0.2).to_bits() as i32
        ^ 3f32.hypot(4.0).to_bits() as i32
        ^ 8f32.cbrt().to_bits() as i32
}

pub fn float_degrees() -> i32 {
    1.3f32.to_degrees().to_bits() as i32
        ^ 77f32.to_radians().to_bits() as i32
        ^ 77f64.to_radians().to_bits() as i32
}

pub fn float_euclid() -> i32 {
    ((-7.5f32).rem_euclid(2.0).to_bits() ^ (-7.5f32).div_euclid(2.0).to_bits()) as i32
}

pub fn float_ranges() -> i32 {
    (1.0..2.0).contains(&1.5) as i32
        + (1.0..=2.0).contains(&2.0) as i32 * 2
        + (1.0..2.0).contains(&2.0) as i32 * 4
}

pub fn double_to_single_rounding() -> i32 {
    let x = 1.00000017881393432617187499f64;
    (x as f32).to_bits() as i32 - 1.0f32.to_bits() as i32
}

pub fn u64_to_f32_double_rounding() -> i32 {
    let x = 0x0080_0000_8000_0001u64;
    (x as f32).to_bits() as i32 ^ ((x as f64) as f32).to_bits() as i32
}

pub fn hex_of_f() -> i32 {
    0x1f32 + 1f32 as i32
}

pub fn a_clone_with_an_iterator() -> i32 {
    let mut t = ([1, 2, 3].into_iter(), 1);
    let mut u = t.clone();
    u.0.next();
    t.0.next().unwrap() * 10 + u.0.next().unwrap()
}

pub fn a_clone_of_a_closure_with_an_iterator() -> i32 {
    let mut it = [1, 2, 3].into_iter();
    let mut f = move || it.next().unwrap();
    let mut g = f.clone();
    f() * 100 + f() * 10 + g()
}

pub fn a_clone_with_a_closure() -> i32 {
    let mut n = 0;
    let f = move || {
        n += 1;
        n
    };
    let mut t = (f, 1);
    let mut u = t.clone();
    (t.0)();
    (t.0)() * 10 + (u.0)()
}
