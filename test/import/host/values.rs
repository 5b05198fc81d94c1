//! Values that are copied, moved and referred to; types of literals through operators and calls.

pub fn enum_match_on_reference_mut() -> i32 {
    enum E {
        A(i32),
        B { x: i32 },
    }
    let mut e = [E::A(1), E::B { x: 2 }];
    for v in &mut e {
        match v {
            E::A(n) => *n += 10,
            E::B { x } => *x *= 5,
        }
    }
    let mut s = 0;
    for v in &e {
        s = s * 100
            + match v {
                E::A(n) => *n,
                E::B { x } => *x,
            };
    }
    s
}

pub fn state_machine() -> i32 {
    #[derive(Clone, Copy, PartialEq)]
    enum S {
        Idle,
        Run(u8),
        Done,
    }
    let mut s = S::Idle;
    let mut n = 0;
    while s != S::Done {
        s = match s {
            S::Idle => S::Run(3),
            S::Run(0) => S::Done,
            S::Run(k) => {
                n += k as i32;
                S::Run(k - 1)
            }
            S::Done => unreachable!(),
        };
    }
    n
}

pub fn swap_in_struct() -> i32 {
    #[derive(Clone, Copy)]
    struct S {
        a: [i32; 2],
        b: (i32, i32),
    }
    let mut s = S { a: [1, 2], b: (3, 4) };
    std::mem::swap(&mut s.a[0], &mut s.b.1);
    let S { a: [p, q], b: (r, t) } = s;
    p * 1000 + q * 100 + r * 10 + t
}

pub fn replace_whole() -> i32 {
    let mut a = [1, 2];
    let old = std::mem::replace(&mut a, [5, 6]);
    old[0] * 100 + old[1] * 10 + a[1]
}

pub fn references_in_arrays() -> i32 {
    let x = 1;
    let y = 2;
    let a = [&x, &y, &x];
    *a[0] * 100 + *a[1] * 10 + a[2] + a.iter().map(|r| **r).sum::<i32>() * 1000
}

pub fn nested_mut_refs() -> i32 {
    fn outer(x: &mut i32) {
        inner(x);
        inner(&mut *x);
        *x += 1;
    }
    fn inner(x: &mut i32) {
        *x *= 3;
    }
    let mut n = 2;
    outer(&mut n);
    let r = &mut n;
    outer(r);
    n
}

pub fn refs_of_refs_chosen() -> i32 {
    let mut a = 1;
    let mut b = 10;
    for i in 0..4 {
        let r = if i % 2 == 0 { &mut a } else { &mut b };
        *r += i;
    }
    a * 100 + b
}

pub fn linked_by_index() -> i32 {
    let next = [3usize, 0, 1, 2];
    let mut i = 0;
    let mut s = 0;
    for _ in 0..5 {
        i = next[i];
        s = s * 10 + i as i32;
    }
    s
}

pub fn copy_out_of_mut_ref() -> i32 {
    #[derive(Clone, Copy)]
    struct P {
        x: i32,
    }
    let mut p = P { x: 1 };
    let r = &mut p;
    let mut q = *r;
    q.x = 50;
    r.x += 1;
    let s = P { ..*r };
    r.x += 1;
    p.x * 1000 + q.x * 10 + s.x
}

pub fn array_of_structs() -> i32 {
    #[derive(Clone, Copy, Default)]
    struct P {
        x: i32,
        y: [u8; 2],
    }
    let mut a = [P::default(); 3];
    a[1].y[0] = 200;
    a[1].x = a[1].y[0] as i32 + 1;
    a[2] = a[1];
    a[2].y[1] = a[2].y[0].wrapping_add(100);
    let b = a;
    a[0].x = 5;
    a[0].x * 100000 + b[0].x + a[2].y[1] as i32 * 1000 + b[2].x
}

pub fn by_value_self_does_not_change() -> i32 {
    #[derive(Clone, Copy)]
    struct C(i32);
    impl C {
        fn inc(mut self) -> i32 {
            self.0 += 1;
            self.0
        }
        fn inc_mut(&mut self) -> i32 {
            self.0 += 1;
            self.0
        }
    }
    let mut c = C(1);
    c.inc() * 100 + c.inc_mut() * 10 + c.0
}

pub fn mutable_parameter_is_a_copy() -> i32 {
    fn f(mut a: [i32; 2], mut n: i32, (mut x, y): (i32, i32)) -> i32 {
        a[0] += 1;
        n += a[0];
        x += n;
        x * y
    }
    let a = [1, 2];
    let n = 3;
    let t = (4, 5);
    f(a, n, t) * 100 + a[0] + n + t.0
}

pub fn trait_object_like_enum() -> i32 {
    enum Op {
        Add(i32),
        Mul(i32),
        Neg,
    }
    impl Op {
        fn apply(&self, x: i32) -> i32 {
            match self {
                Op::Add(n) => x + n,
                Op::Mul(n) => x * n,
                Op::Neg => -x,
            }
        }
    }
    [Op::Add(3), Op::Mul(4), Op::Neg].iter().fold(1, |x, op| op.apply(x))
}

pub fn shadowed_generic() -> i32 {
    fn f<T>(t: T, g: impl Fn(T) -> i32) -> i32 {
        g(t)
    }
    f(200u8, |x| x.wrapping_mul(2) as i32) + f((1, 2), |(a, b)| a * 10 + b) * 1000
}

pub fn const_generic_in_expr() -> i32 {
    struct Buf<const N: usize> {
        d: [u8; N],
    }
    impl<const N: usize> Buf<N> {
        const MASK: usize = N - 1;
        fn new() -> Self {
            Self { d: [0; N] }
        }
        fn put(&mut self, i: usize, v: u8) {
            self.d[i & Self::MASK] = v;
        }
        fn sum(&self) -> i32 {
            self.d.iter().map(|&x| x as i32).sum()
        }
    }
    let mut b = Buf::<4>::new();
    for i in 0..6 {
        b.put(i, (i * 50) as u8);
    }
    b.sum() + b.d[1] as i32 * 10000
}

pub fn early_break_value_types() -> i32 {
    let x = loop {
        if true {
            break 200;
        }
    };
    let y: u8 = x;
    let z = 'a: {
        if y > 3 {
            break 'a y << 1;
        }
        0
    };
    z as i32
}

pub fn closures_in_struct() -> i32 {
    struct S<F: Fn(i32) -> i32> {
        f: F,
        k: i32,
    }
    impl<F: Fn(i32) -> i32> S<F> {
        fn run(&self) -> i32 {
            (self.f)(self.k)
        }
    }
    let m = 7;
    S { f: |x| x * m, k: 6 }.run()
}

pub fn fn_pointer_table() -> i32 {
    fn a(x: i32) -> i32 {
        x + 1
    }
    fn b(x: i32) -> i32 {
        x * 10
    }
    const T: [fn(i32) -> i32; 2] = [a, b];
    let mut x = 1;
    for i in [0, 1, 1, 0] {
        x = T[i](x);
    }
    x
}

pub fn option_of_tuple_chain() -> i32 {
    let f = |x: i32| -> Option<(i32, i32)> { if x > 0 { Some((x, x * 2)) } else { None } };
    let a = f(3).map(|(x, y)| x + y).unwrap_or(-1);
    let b = f(-3).map(|(x, y)| x + y).unwrap_or(-1);
    let Some((_, c)) = f(5) else { return 0 };
    a * 100 + b * 10 + c
}

pub fn result_question_in_loop() -> i32 {
    fn f(a: &[i32]) -> Result<i32, usize> {
        let mut s = 0;
        for (i, &x) in a.iter().enumerate() {
            s += if x < 0 { Err(i)? } else { x };
        }
        Ok(s)
    }
    f(&[1, 2, 3]).unwrap() * 100 + f(&[1, -2, -3]).unwrap_err() as i32
}

pub fn block_like_arms() -> i32 {
    let x = 3;
    let r = match x {
        1 => {}
        2 => {}
        _ => {}
    };
    let y = match x {
        3 => -1,
        _ => 0,
    } - 1;
    (r == ()) as i32 * 100 + y
}

pub fn unary_chain() -> i32 {
    let x = 5;
    ---x + !-!x + -(-x)
}

pub fn negative_modulo_mix() -> i32 {
    -7 / 2 * 100 + -7 % 3 * 10 + 7 % -3 + (-7 & 3) + (-8 >> 1) + (-1i32 as u32 >> 28) as i32
}

pub fn cast_chain() -> i32 {
    300i32 as u8 as char as u32 as i8 as i32 + (-1i8) as u8 as i16 as i32 * 1000 + 3.99f64 as u8 as f32 as i32
}

pub fn cast_less_than() -> i32 {
    let x = 5u8;
    ((x as usize) < 6) as i32 + (x as i32 > 4) as i32 * 10
}

pub fn usize_math() -> i32 {
    let n = 10usize;
    let k = n - 3 * 2 + n / 3;
    (k as isize - 20) as i32 + n.pow(2) as i32
}

pub fn i128_math() -> i32 {
    let x: i128 = -170141183460469231731687303715884105728;
    let y = x / 3;
    (y >> 64) as i32 ^ y as i32 ^ (x.wrapping_sub(1) >> 96) as i32
}

pub fn u128_shift() -> i32 {
    let x = 1u128 << 127;
    (x >> 100) as i32 + (x.leading_zeros() + x.trailing_zeros()) as i32 + (x.rotate_left(1)) as i32
}

pub fn literal_suffix_on_float() -> i32 {
    let a = 3_f32;
    let b = 2e0_f64;
    let c = 1_000.5f32;
    a as i32 + b as i32 * 10 + c as i32 * 100
}

pub fn if_without_else_value() -> i32 {
    let mut n = 1;
    let u = if n > 0 {
        n += 1;
    };
    (u == ()) as i32 * 10 + n
}

pub fn assignment_is_unit() -> i32 {
    let mut a = 1;
    let u = { a = 2 };
    (u == ()) as i32 * 10 + a
}

pub fn let_type_from_ascription_in_pattern() -> i32 {
    let (a, b): (u8, i64) = (255, 1 << 40);
    a.wrapping_add(1) as i32 + (b >> 38) as i32
}

pub fn inference_across_tuple() -> i32 {
    let mut t = (0, 0);
    t.0 = 255u8;
    t.1 = 1;
    let k: i16 = t.1;
    (!t.0 as i32) + (k << 15) as i32 / 1000
}

pub fn inference_from_array_eq() -> i32 {
    let a = [1, 200];
    let r = a == [1u8, 200];
    (a[1] << 1) as i32 + r as i32
}

pub fn inference_from_range_eq() -> i32 {
    let n = 200;
    for i in 0u8..n {
        if i == 199 {
            return (n << 1) as i32;
        }
    }
    0
}

pub fn inference_by_index_type() -> i32 {
    let i = 1;
    let a = [5, 6];
    let x = a[i];
    (i.wrapping_sub(2) == usize::MAX) as i32 + x
}

pub fn inference_from_min() -> i32 {
    let a = 3;
    let b = 250u8.min(a);
    (!a) as i32 + b as i32
}

pub fn inference_by_mem_swap() -> i32 {
    let mut a = 1;
    let mut b = 255u8;
    std::mem::swap(&mut a, &mut b);
    (a << 1) as i32 + b as i32
}

pub fn inference_by_shadowed_macro() -> i32 {
    macro_rules! lit {
        () => {
            255
        };
    }
    let x: u8 = lit!();
    let y = lit!() + 1;
    (x << 1) as i32 + y
}

pub fn inference_by_ref_op() -> i32 {
    let a = 250;
    let b = &a;
    let c: u8 = *b + 5;
    c as i32 + (a << 1) as i32
}

pub fn float_inference_mix() -> i32 {
    let a = 0.1;
    let b = a * 3.0;
    let c: f32 = b;
    let d = 0.1 * 3.0;
    (c.to_bits() as i32) ^ ((d as f32).to_bits() as i32)
}

pub fn float_literal_via_fn() -> i32 {
    fn f(x: f32) -> f32 {
        x * 3.0
    }
    let x = 0.1;
    let y = f(x);
    let z = x + 0.2;
    z.to_bits() as i32 ^ y.to_bits() as i32
}
