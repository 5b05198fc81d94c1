//! Closures and functions as values.

pub fn a_copy_is_captured_by_move() -> i32 {
    let mut n = 1;
    let mut f = move || {
        n += 10;
        n
    };
    n += 100;
    f();
    f() * 1000 + n
}

pub fn a_variable_is_captured_by_reference() -> i32 {
    let mut n = 1;
    let mut f = || {
        n += 10;
        n
    };
    f();
    let a = f();
    n += 100;
    a * 1000 + n
}

pub fn defined_before_a_shadow() -> i32 {
    let x = 1;
    let f = || x;
    let x = 2;
    let g = || x * 10;
    let x = 3;
    f() + g() + x * 100
}

pub fn in_a_loop() -> i32 {
    let mut s = 0;
    for i in 0..3 {
        let f = |x| x * i;
        let i = 100;
        s += f(2) + i;
    }
    s
}

pub fn a_parameter_shadows() -> i32 {
    let x = 5;
    let f = |x: i32, y: i32| {
        let y = y + x;
        x * y
    };
    f(2, 3) * 10 + x
}

pub fn a_closure_in_a_closure() -> i32 {
    let a = 2;
    let f = |x: i32| {
        let g = |y: i32| y * a + x;
        g(x + 1)
    };
    f(3) * 10 + f(4)
}

fn twice(f: impl Fn(i32) -> i32, x: i32) -> i32 {
    f(f(x))
}

fn counted(mut f: impl FnMut() -> i32) -> i32 {
    f() + f() * 10
}

fn applied(f: &dyn Fn(i32) -> i32) -> i32 {
    f(1) + f(2)
}

fn once<F: FnOnce(i32) -> i32>(f: F) -> i32 {
    f(9)
}

fn made(by: i32) -> impl Fn(i32) -> i32 {
    move |x| x * by
}

pub fn passed_to_functions() -> i32 {
    let k = 3;
    let mut n = 0;
    let a = twice(|x| x * k, 1);
    let b = counted(|| {
        n += 1;
        n
    });
    let c = applied(&|x| x + k);
    let d = once(|x| x - k);
    a * 10000 + b * 100 + c * 10 + d + n
}

pub fn returned() -> i32 {
    let f = made(3);
    let g = made(5);
    f(g(2)) * 10 + g(1)
}

pub fn functions_as_values() -> i32 {
    fn inc(x: i32) -> i32 {
        x + 1
    }
    fn dec(x: i32) -> i32 {
        x - 1
    }
    let mut f: fn(i32) -> i32 = inc;
    let a = f(10);
    f = dec;
    let all = [inc, dec, |x| x * 2];
    let t = (inc as fn(i32) -> i32, dec as fn(i32) -> i32);
    a * 1000 + f(10) * 10 + all[2](7) + (t.1)(5) * 10000 + twice(i32::wrapping_neg, 4)
}

pub fn constructors_as_functions() -> i32 {
    struct W(i32);
    enum E {
        V(i32),
    }
    let a = [1, 2].map(W);
    let b = Some(3).map(E::V);
    let E::V(x) = b.unwrap();
    a[1].0 * 10 + x + Some(5).map(Some).unwrap().unwrap() * 100
}

pub fn methods_as_functions() -> i32 {
    let a = [-1i32, 5].map(i32::abs);
    let s: i32 = a.iter().copied().map(i32::from).sum();
    s + Some(3).map_or(0, i32::count_ones as fn(i32) -> u32) as i32
}

pub fn results_by_dead_calls() -> i32 {
    let f = |x, y| x << y;
    if false {
        let _: u16 = f(1u16, 1u64);
    }
    (f(0xFFFF, 4)) as i32
}

pub fn a_closure_that_returns_nothing() -> i32 {
    let mut a = [0; 3];
    let mut set = |i: usize, v: i32| a[i] = v;
    set(0, 5);
    set(2, 7);
    a[0] * 100 + a[2]
}

pub fn a_part_is_captured() -> i32 {
    let mut t = (1, 2);
    let mut f = || t.0 += 10;
    f();
    let r = t.1;
    f();
    t.0 * 10 + r
}

pub fn immediate_calls() -> i32 {
    (|x: i32| x + 1)(2) * 10 + (|| 7)() + { |x: i32| x * 100 }(3)
}

pub fn of_constants() -> i32 {
    const F: fn(i32) -> i32 = |x| x + K;
    const K: i32 = 4;
    F(3)
}

pub fn recursion_by_a_function_in_a_closure() -> i32 {
    let base = 5;
    let f = |n: i32| {
        fn fact(n: i32) -> i32 {
            if n <= 1 { 1 } else { n * fact(n - 1) }
        }
        fact(n) + base
    };
    f(5)
}
