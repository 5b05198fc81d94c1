//! Loops, labels, blocks, early returns, order of evaluation.

pub fn continue_of_an_outer_loop() -> i32 {
    let mut s = 0;
    'a: for i in 0..4 {
        for j in 0..4 {
            if j == 2 {
                continue 'a;
            }
            if i == 3 {
                break 'a;
            }
            s += i * 10 + j;
        }
        s += 1000;
    }
    s
}

pub fn one_label_twice() -> i32 {
    let mut s = 0;
    'a: for i in 0..3 {
        'a: for j in 0..3 {
            if j == 1 {
                continue 'a;
            }
            if i == 1 {
                break 'a;
            }
            s += i * 10 + j + 1;
        }
        s += 100;
    }
    s
}

pub fn values_of_loops() -> i32 {
    let mut i = 0;
    let a = 'out: loop {
        let b = loop {
            i += 1;
            if i == 5 {
                break 'out i * 100;
            }
            if i % 2 == 0 {
                break i;
            }
        };
        i += b - i;
    };
    a + i
}

pub fn labelled_blocks() -> i32 {
    let f = |n: i32| {
        let r = 'a: {
            if n == 0 {
                break 'a 1;
            }
            let q = 'b: {
                if n == 1 {
                    break 'b 20;
                }
                if n == 2 {
                    break 'a 300;
                }
                4000
            };
            q + 5
        };
        r * 2
    };
    f(0) + f(1) + f(2) + f(3)
}

pub fn break_of_a_loop_in_a_block() -> i32 {
    let mut n = 0;
    'l: loop {
        'b: {
            n += 1;
            if n < 3 {
                break 'b;
            }
            if n > 5 {
                break 'l;
            }
            n += 10;
        }
        n += 1;
    }
    n
}

pub fn while_with_a_block() -> i32 {
    let mut n = 0;
    let mut s = 0;
    while {
        n += 1;
        let k = n * n;
        k < 50
    } {
        if n % 2 == 0 {
            continue;
        }
        s += n;
    }
    s * 100 + n
}

pub fn break_in_a_condition() -> i32 {
    let mut n = 0;
    'a: while n < 10 {
        n += 1;
        while if n == 4 { break 'a } else { false } {}
    }
    n
}

pub fn ranges() -> i32 {
    let mut s = 0;
    for i in (0..10).rev().step_by(3) {
        s = s * 10 + i;
    }
    for i in (1..8).step_by(3).rev() {
        s = s * 10 % 1_000_000 + i;
    }
    for i in 5..2 {
        s += i * 1_000_000;
    }
    for _ in 3..=2 {
        s = 0;
    }
    s
}

pub fn the_last_of_a_type() -> i32 {
    let mut n = 0;
    for i in 250u8..=255 {
        n += i as i32;
    }
    for i in -128..=-127i8 {
        n += i as i32;
    }
    n
}

pub fn a_variable_that_shadows_its_range() -> i32 {
    let i = 3;
    let mut s = 0;
    for i in i..i + 3 {
        let i = i * 2;
        s += i;
    }
    s * 10 + i
}

pub fn a_bound_is_evaluated_once() -> i32 {
    let mut n = 3;
    let mut s = 0;
    for i in 0..n {
        n += 1;
        s += i;
    }
    s * 10 + n
}

pub fn changes_of_the_variable_do_not_stay() -> i32 {
    let mut s = 0;
    for mut i in 0..3 {
        i += 10;
        s += i;
    }
    s
}

pub fn order_of_operands() -> i32 {
    let mut x = 1;
    let a =
        x + {
            x = 10;
            x
        } + x;
    let mut next = || {
        x += 1;
        x
    };
    let b = next() * 100 + next();
    let c = (next(), next());
    a * 10000 + b + c.0 - c.1 * 2
}

pub fn order_of_compound_assignment() -> i32 {
    let mut x = 1;
    x += {
        x = 10;
        5
    };
    let mut a = [1, 2, 3];
    let mut i = 0;
    a[i] += {
        i = 2;
        10
    };
    x * 10000 + a[0] * 1000 + a[1] * 100 + a[2]
}

pub fn order_of_assignment() -> i32 {
    let mut a = [0, 0, 0];
    let mut i = 0;
    a[i] = {
        i += 1;
        7
    };
    a[{
        i += 1;
        i
    }] = i as i32;
    a[0] * 100 + a[1] * 10 + a[2]
}

pub fn order_of_arguments_and_fields() -> i32 {
    fn f(a: i32, b: i32, c: i32) -> i32 {
        a * 100 + b * 10 + c
    }
    struct S {
        a: i32,
        b: i32,
    }
    let mut n = 0;
    let mut next = || {
        n += 1;
        n
    };
    let s = S { b: next(), a: next() };
    let t = [next(), next()];
    f(next(), next(), next()) * 10000 + s.a * 1000 + s.b * 100 + t[0] * 10 + t[1]
}

pub fn destructuring_assignment() -> i32 {
    let (mut a, mut b) = (1, 2);
    (a, b) = (b, a + b);
    [a, _, b] = [b, 9, a];
    let mut t = (0, [0, 0]);
    (t.1[1], t.0) = (a, b);
    (_, a) = (a, b);
    struct S {
        x: i32,
        y: i32,
    }
    S { x: b, .. } = S { x: 70, y: 1 };
    let _ = S { x: 1, y: 1 }.y;
    a * 10000 + b * 100 + t.0 * 10 + t.1[1]
}

pub fn early_returns() -> i32 {
    fn f(n: i32) -> i32 {
        for i in 0.. {
            if i * i > n {
                return i;
            }
            let _x: i32 = match i {
                7 => return -7,
                _ => i,
            };
        }
        unreachable!()
    }
    f(10) * 100 + f(1000)
}

pub fn return_in_an_operand() -> i32 {
    fn f(b: bool) -> i32 {
        1 + if b { return 50 } else { 2 }
    }
    f(true) * 10 + f(false)
}

pub fn return_in_a_closure() -> i32 {
    let f = |x: i32| {
        if x > 2 {
            return x * 10;
        }
        x
    };
    f(1) + f(3)
}

pub fn let_else() -> i32 {
    fn f(o: Option<i32>) -> i32 {
        let Some(x) = o else {
            return -1;
        };
        let (1 | 2, y) = (x, x + 1) else { return x * 100 };
        y
    }
    f(None) + f(Some(1)) * 10 + f(Some(7))
}

pub fn let_chains() -> i32 {
    let f = |o: Option<i32>, n: i32| {
        if let Some(x) = o
            && x > n
            && let y = x * 2
            && y != 12
        {
            y
        } else if n == 0 || o == None {
            -1
        } else {
            -2
        }
    };
    f(Some(5), 3) + f(Some(6), 3) * 100 + f(None, 4) * 1000
}

pub fn while_let() -> i32 {
    let mut o = Some(0);
    let mut s = 0;
    while let Some(n) = o {
        s += n;
        o = if n < 5 { Some(n + 2) } else { None };
    }
    let mut a = [1, 2, 3].into_iter();
    while let Some(x) = a.next()
        && x < 3
    {
        s = s * 10 + x;
    }
    s
}

pub fn statements_are_not_operands() -> i32 {
    let mut x = 5;
    if x > 3 {
        x -= 1;
    }
    -1;
    {
        x *= 2
    }
    match x {
        8 => x += 1,
        _ => x = 0,
    }
    &x;
    x
}

pub fn blocks_as_operands() -> i32 {
    let x = { 3 } - 1;
    let y = if true { 10 } else { 20 } + 5;
    x * 100 + y
}

pub fn short_circuits() -> i32 {
    let mut n = 0;
    let r = false && {
        n += 1;
        true
    };
    let s = true || {
        n += 10;
        false
    };
    let t = if let Some(_) = None::<i32>
        && {
            n += 100;
            true
        } {
        1
    } else {
        2
    };
    n * 1000 + r as i32 + s as i32 * 10 + t * 100
}

pub fn never_in_branches() -> i32 {
    let x: u8 = if 2 > 1 { 200 } else { panic!() };
    let y = match x {
        0 => unreachable!("{}", x),
        _ => x << 1,
    };
    let z = loop {
        let v: i32 = if y > 3 { break 7 } else { continue };
        #[allow(unreachable_code)]
        {
            let _ = v;
        }
    };
    y as i32 + z
}

pub fn recursion() -> i32 {
    fn fib(n: u32) -> u32 {
        if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
    }
    fn even(n: i32) -> bool {
        n == 0 || odd(n - 1)
    }
    fn odd(n: i32) -> bool {
        n != 0 && even(n - 1)
    }
    fn ackermann(m: u64, n: u64) -> u64 {
        match (m, n) {
            (0, n) => n + 1,
            (m, 0) => ackermann(m - 1, 1),
            (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
        }
    }
    fib(15) as i32 + even(7) as i32 + odd(7) as i32 * 1000 + ackermann(2, 3) as i32 * 10000
}

pub fn unused_values_are_evaluated() -> i32 {
    let mut n = 0;
    let mut f = || {
        n += 1;
        n
    };
    let _ = f();
    f();
    let _x = f();
    (f(), f()).0;
    n
}

pub fn deferred_in_a_loop() -> i32 {
    let x;
    let mut i = 0;
    loop {
        i += 3;
        if i > 10 {
            x = i;
            break;
        }
    }
    x
}

pub fn shadowed_in_every_turn() -> i32 {
    let mut s = 0;
    let x = 1;
    for _ in 0..3 {
        s += x;
        let x = s * 10;
        s += x;
    }
    s + x
}

pub fn collatz() -> i32 {
    let mut n = 27u64;
    let mut steps = 0;
    while n != 1 {
        n = if n & 1 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

pub fn loops_as_operands() -> i32 {
    let a = [
        loop {
            break 3;
        },
        {
            let x = 4;
            x
        },
        match 5 {
            n => n,
        },
    ];
    let b = (for _ in 0..2 {}) == ();
    a[0] * 100 + a[1] * 10 + a[2] + b as i32 * 1000
}

pub fn a_loop_past_64_bits() -> i32 {
    let mut n = 0;
    for i in 9223372036854775806u64..9223372036854775810 {
        n = n * 10 + (i % 10) as i32;
    }
    n
}
