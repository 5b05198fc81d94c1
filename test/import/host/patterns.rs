//! Patterns, enumerations, options and results.

const LOW: i32 = -5;
const HIGH: i32 = 5;

fn kind(x: i32) -> i32 {
    match x {
        i32::MIN..=-100 => 1,
        LOW..0 => 2,
        0 => 3,
        HIGH => 4,
        n @ (1 | 3) => n * 10,
        n @ 2..=4 if n % 2 == 0 => n * 100,
        6.. => 5,
        _ => 6,
    }
}

pub fn ranges() -> i32 {
    let mut s = 0i64;
    for x in [-200, -100, -99, -5, -1, 0, 1, 2, 3, 4, 5, 6, i32::MAX, i32::MIN] {
        s = (s * 7 + kind(x) as i64) % 1_000_003;
    }
    s as i32
}

pub fn bytes_and_letters() -> i32 {
    let f = |c: char| match c {
        'a'..='f' | 'A'..='F' => c as i32,
        '0'..='9' => c as i32 - '0' as i32,
        '\n' | '\t' => -1,
        _ if c.is_alphabetic() => -2,
        _ => -3,
    };
    let g = |b: u8| match b {
        b'0'..=b'9' => b - b'0',
        0x80..=0xFF => 100,
        _ => 200,
    };
    f('b')
        + f('7') * 1000
        + f('\n') * 10000
        + f('z')
        + f('-')
        + g(b'5') as i32
        + g(0x90) as i32
        + g(b'x') as i32
}

pub fn tuples() -> i32 {
    let f = |t: (i32, bool, Option<u8>)| match t {
        (0, ..) => 1,
        (.., Some(0)) => 2,
        (x, true, Some(y)) if x > y as i32 => x - y as i32,
        (_, b, None) => 3 + b as i32,
        (x, _, _) => x * 100,
    };
    f((0, true, None))
        + f((1, true, Some(0))) * 10
        + f((9, true, Some(4))) * 100
        + f((1, true, None)) * 1000
        + f((7, false, Some(3))) * 10000
}

pub fn a_guard_falls_through() -> i32 {
    let mut n = 0;
    let mut check = |x: i32| {
        n += x;
        x == 3
    };
    let r = match 5 {
        5 if check(1) => 1,
        4 | 5 if check(2) => 2,
        5 if check(3) => 3,
        _ => 4,
    };
    r * 100 + n
}

pub fn alternatives_with_a_guard() -> i32 {
    let f = |t| match t {
        (x, 0) | (0, x) if x > 2 => x,
        (a, b) => a * 10 + b,
    };
    f((1, 0)) + f((0, 5)) * 100 + f((0, 0)) * 1000 + f((7, 0)) * 10000
}

pub fn bindings_at_parts() -> i32 {
    let a = [1, 2, 3, 4, 5];
    match a {
        [first @ 1..=3, middle @ .., last] => {
            let all @ [x, ..] = middle;
            first * 1000 + last * 100 + all.len() as i32 * 10 + x
        }
        _ => 0,
    }
}

pub fn slices() -> i32 {
    fn f(a: &[i32]) -> i32 {
        match a {
            [] => 0,
            [x] => *x,
            [x, y] if x == y => 100,
            [x, rest @ ..] => x + 10 * f(rest),
        }
    }
    f(&[1, 2, 3, 3]) + f(&[]) + f(&[7, 7]) * 1000
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Dot,
    Circle(i32),
    Rect { w: i32, h: i32 },
    Pair(Inner, Inner),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Inner {
    A(u8),
    B,
}

impl Shape {
    fn area(&self) -> i32 {
        match *self {
            Shape::Dot => 1,
            Self::Circle(r) if r > 10 => r * 3,
            Self::Circle(r) => r,
            Shape::Rect { w, h: 1 } => w,
            Shape::Rect { w, h } => w * h,
            Self::Pair(Inner::A(x @ 5..), _) | Self::Pair(_, Inner::A(x)) => x as i32 * 1000,
            Self::Pair(..) => 9,
        }
    }
}

pub fn enumerations() -> i32 {
    let all = [
        Shape::Dot,
        Shape::Circle(20),
        Shape::Circle(3),
        Shape::Rect { w: 4, h: 1 },
        Shape::Rect { h: 5, w: 6 },
        Shape::Pair(Inner::A(7), Inner::A(2)),
        Shape::Pair(Inner::A(3), Inner::A(2)),
        Shape::Pair(Inner::A(3), Inner::B),
    ];
    let mut s = 0;
    for x in &all {
        s += x.area();
    }
    s + (all[1] == Shape::Circle(20)) as i32 * 100000
}

pub fn discriminants() -> i32 {
    #[derive(Clone, Copy)]
    enum D {
        A = 5,
        B,
        C = -3,
        D,
        E = 1 << 8,
        F,
    }
    let all = [D::A, D::B, D::C, D::D, D::E, D::F];
    let mut s = 0;
    for d in all {
        s = s * 3 + d as i32;
    }
    s + D::F as u8 as i32 * 1_000_000
}

pub fn discriminants_of_a_width() -> i32 {
    #[repr(u8)]
    #[derive(Clone, Copy)]
    enum D {
        A = 200,
        B,
    }
    const BASE: i8 = -128;
    #[repr(i8)]
    #[derive(Clone, Copy)]
    enum N {
        A = BASE,
        B,
    }
    D::B as i8 as i32 + D::A as i32 * 1000 + N::B as u8 as i32 + N::A as i32 * 1_000_000
}

pub fn changes_in_a_variant() -> i32 {
    let mut s = Shape::Rect { w: 2, h: 3 };
    if let Shape::Rect { w, ref mut h } = s {
        *h += w;
    }
    if let Shape::Rect { w, .. } = &mut s {
        *w *= 10;
    }
    s.area()
}

pub fn nested_options() -> i32 {
    let f = |o: Option<Option<i32>>| match o {
        Some(Some(x)) => x,
        Some(None) => -1,
        None => -2,
    };
    f(Some(Some(5))) * 100 + f(Some(None)) * 10 + f(None) + Some(Some(3)).flatten().unwrap_or(0)
}

pub fn combinators() -> i32 {
    let a = Some(4).filter(|x| x % 2 == 1).or(Some(6)).map(|x| x + 1);
    let b = None.or_else(|| Some(2)).xor(None::<i32>).zip(Some(3)).map_or(0, |(x, y)| x * 10 + y);
    let c = Some(5).and(None::<i32>).unwrap_or_default();
    let d = Some(3).is_some_and(|x| x > 2) as i32;
    let e: i32 = Some(2).into_iter().chain(None).sum();
    a.unwrap() * 1000 + b * 10 + c + d + e * 100000
}

pub fn results() -> i32 {
    fn half(x: i32) -> Result<i32, i32> {
        if x % 2 == 0 { Ok(x / 2) } else { Err(x) }
    }
    fn eighth(x: i32) -> Result<i32, i32> {
        let y = half(half(x)?)?;
        half(y).map_err(|e| -e)
    }
    let f = |x| match eighth(x) {
        Ok(y) => y,
        Err(e) => e * 100,
    };
    f(8) + f(4) * 10
        + f(6)
        + f(5) * 1000
        + half(3).unwrap_or_else(|e| e * 7)
        + half(4).ok().unwrap_or(0)
        + half(7).is_err() as i32
}

pub fn question_marks_in_options() -> i32 {
    fn f(a: Option<i32>, b: Option<i32>) -> Option<i32> {
        Some(a? * 10 + b?)
    }
    f(Some(1), Some(2)).unwrap() + f(None, Some(1)).map_or(100, |_| 0) + f(Some(1), None).unwrap_or(1000)
}

pub fn a_constant_of_an_enumeration() -> i32 {
    const BIG: Shape = Shape::Circle(99);
    match Shape::Circle(99) {
        BIG => 1,
        _ => 2,
    }
}

pub fn constants_of_implementations() -> i32 {
    struct S;
    impl S {
        const A: i32 = 1;
    }
    impl Shape {
        const LIMIT: i32 = 7;
    }
    let f = |x| match x {
        S::A => 10,
        Shape::LIMIT => 20,
        i32::MAX => 30,
        _ => 40,
    };
    f(1) + f(7) * 100 + f(2) * 10000 + f(i32::MAX)
}

pub fn references() -> i32 {
    let o = &Some((1, &2));
    let a = match o {
        Some((x, y)) => *x + **y,
        None => 0,
    };
    let &(p, ref q) = &(3, 4);
    let b = match &&5 {
        &&n => n,
    };
    a * 1000 + p * 100 + q * 10 + b
}

pub fn in_parameters() -> i32 {
    fn f((a, b): (i32, i32), [c, ..]: [i32; 3], P { x, .. }: P) -> i32 {
        a * 1000 + b * 100 + c * 10 + x
    }
    struct P {
        x: i32,
        #[allow(dead_code)]
        y: i32,
    }
    let g = |&(a, _): &(i32, i32), P { x, y: _ }: P| a + x;
    f((1, 2), [3, 0, 0], P { x: 4, y: 5 }) + g(&(10, 20), P { x: 100, y: 0 })
}

pub fn matches_of_values() -> i32 {
    let s = Shape::Rect { w: 3, h: 4 };
    matches!(s, Shape::Rect { w: 3, .. }) as i32
        + matches!(s, Shape::Rect { w, h } if w > h) as i32 * 10
        + matches!(5, 0..=4 | 6..=9) as i32 * 100
        + !matches!('c', 'a'..='b') as i32 * 1000
}

pub fn floats() -> i32 {
    let f = |x: f32| match x {
        0.0 => 1,
        1.0..2.5 => 2,
        f32::INFINITY => 3,
        _ => 4,
    };
    f(-0.0) + f(2.4) * 10 + f(2.5) * 100 + f(f32::INFINITY) * 1000 + f(f32::NAN) * 10000
}

pub fn negative_bounds() -> i32 {
    let f = |x: i8| match x {
        -128..=-1 => 1,
        0..=126 => 2,
        127 => 3,
    };
    f(-128) + f(-1) * 10 + f(126) * 100 + f(127) * 1000
}

pub fn the_first_arm_wins() -> i32 {
    #[allow(unreachable_patterns)]
    match 3 {
        x if x < 0 => 1,
        1..=5 => 2,
        3 => 3,
        _ => 4,
    }
}

pub fn text() -> i32 {
    let f = |s: &str| match s {
        "a" => 1,
        "ab" | "b" => 2,
        _ => 3,
    };
    f("a") + f("ab") * 10 + f("") * 100
}
