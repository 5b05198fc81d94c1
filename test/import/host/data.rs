//! Arrays, tuples, structures: copies, places, methods, iterators.

pub fn arrays_are_copied() -> i32 {
    let mut a = [1, 2, 3];
    let b = a;
    a[0] = 10;
    let mut c = b;
    c[1] += a[0];
    a[0] * 100 + b[0] * 10 + c[1]
}

pub fn rows_are_copied() -> i32 {
    let mut g = [[1, 2], [3, 4]];
    let row = g[1];
    g[1][0] = 9;
    g[0] = g[1];
    g[0][1] = 7;
    row[0] * 1000 + g[0][0] * 100 + g[0][1] * 10 + g[1][1]
}

pub fn repeated_elements() -> i32 {
    const K: usize = 3;
    let mut a = [[0u8; 2]; K];
    a[1][1] = 255;
    a[2][0] = a[1][1].wrapping_add(2);
    a.iter().map(|r| r[0] as i32 * 10 + r[1] as i32).sum::<i32>() + a.len() as i32 * 1000
}

pub fn slices() -> i32 {
    let a = [1, 2, 3, 4, 5];
    let s = &a[1..4];
    let t = &s[..=1];
    let u = &a[3..];
    s.len() as i32 * 1000 + t[1] * 100 + u[0] * 10 + s.iter().sum::<i32>()
}

pub fn changes_through_a_slice() -> i32 {
    let mut a = [1, 2, 3, 4];
    {
        let s = &mut a[1..3];
        s[0] = 20;
        s.swap(0, 1);
        s.reverse();
        s[1] += 1;
    }
    a[0] * 1000 + a[1] * 10 + a[2]
}

pub fn tuples_in_tuples() -> i32 {
    let mut t = ((1, 2u8), [3, 4], (5,));
    t.0.1 = 200;
    t.1[0] += t.2.0;
    let ((a, _), [b, c], (d,)) = t;
    a * 1000 + b * 100 + c * 10 + d + t.0.1 as i32 * 10000
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct P {
    x: i32,
    y: i32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    from: P,
    to: P,
    w: u8,
}

pub fn structures_are_copied() -> i32 {
    let mut p = P { x: 1, y: 2 };
    let q = p;
    p.x = 5;
    let mut l = Line { from: p, to: q, w: 7 };
    l.from.y += 10;
    p.y = 3;
    l.to = P { x: 9, ..l.from };
    p.x * 10000 + l.from.y * 100 + l.to.x * 10 + l.to.y + q.x
}

pub fn update_takes_the_rest() -> i32 {
    let a = Line { from: P { x: 1, y: 2 }, to: P { x: 3, y: 4 }, w: 5 };
    let b = Line { w: 6, ..a };
    let c = Line { to: P { y: 0, ..b.to }, ..b };
    b.w as i32 * 100 + c.to.x * 10 + c.to.y + c.from.x * 1000
}

pub fn fields_in_another_order() -> i32 {
    let x = 4;
    let p = P { y: x * 2, x };
    let P { y: a, x: b } = p;
    a * 10 + b
}

impl P {
    const ORIGIN: P = P { x: 100, y: 200 };
    const fn new(x: i32, y: i32) -> Self {
        Self { x, y }
    }
    fn sum(&self) -> i32 {
        self.x + self.y
    }
    fn moved(mut self, by: i32) -> Self {
        self.x += by;
        self
    }
    fn shift(&mut self, by: i32) -> &mut Self {
        self.y += by;
        self
    }
    fn swap(self) -> P {
        let P { x, y } = self;
        P { x: y, y: x }
    }
}

pub fn methods() -> i32 {
    let mut p = P::new(1, 2);
    let q = p.moved(10);
    p.shift(5).shift(1);
    P::shift(&mut p, 100);
    p.sum() + q.sum() * 1000 + P::ORIGIN.swap().x * 100000 + P::sum(&q)
}

pub fn a_constant_is_new_each_time() -> i32 {
    let mut p = P::ORIGIN;
    p.shift(1);
    const A: [i32; 2] = [1, 2];
    let mut a = A;
    a[0] = 5;
    p.y * 100 + P::ORIGIN.y + a[0] + A[0]
}

struct W(u8, [i8; 2]);

pub fn tuple_structures() -> i32 {
    let mut w = W(250, [-1, 2]);
    w.0 = w.0.wrapping_add(10);
    w.1[1] -= 3;
    let W(a, [b, c]) = w;
    a as i32 * 100 + b as i32 * 10 + c as i32
}

pub fn default_values() -> i32 {
    #[derive(Default)]
    struct D {
        a: u8,
        b: (i32, bool),
        c: Option<i32>,
        d: [i16; 3],
    }
    let d = D { a: 4, ..Default::default() };
    d.a as i32 + d.b.0 + d.b.1 as i32 + d.c.is_none() as i32 * 10 + d.d[2] as i32
}

pub fn equality_and_order() -> i32 {
    #[derive(PartialEq, PartialOrd)]
    struct V(i32, f32);
    let a = V(1, 2.0) < V(1, 2.5);
    let b = P { x: 1, y: 2 } == P { y: 2, x: 1 };
    let c = [[1, 2], [3, 4]] != [[1, 2], [3, 5]];
    let d = Some(3) > None;
    let e = (1, "a") < (1, "b");
    let f = Ok::<i32, i32>(9) < Err(0);
    a as i32 + b as i32 * 10 + c as i32 * 100 + d as i32 * 1000 + e as i32 * 10000 + f as i32 * 100000
}

pub fn iterators() -> i32 {
    let a = [3, 1, 4, 1, 5];
    let s: i32 = a.iter().zip(a.iter().skip(1)).map(|(x, y)| x * y).sum();
    let m = a.iter().copied().max().unwrap() * 10 + *a.iter().min().unwrap();
    let p = a.iter().position(|&x| x == 4).unwrap() as i32;
    let q: i32 = a.iter().enumerate().filter(|(i, _)| i % 2 == 0).map(|(i, x)| i as i32 * x).sum();
    s * 10000 + m * 100 + p * 10 + q
}

pub fn more_iterators() -> i32 {
    let a = [1u8, 2, 3, 4, 5, 6];
    let c: u32 = a.chunks(4).map(|c| c.iter().map(|&x| x as u32).product::<u32>()).sum();
    let w = a.windows(3).filter(|w| w[0] + w[2] == 2 * w[1]).count();
    let t: u8 = a.iter().take_while(|&&x| x < 4).sum();
    let k: u8 = a.iter().skip_while(|&&x| x < 4).step_by(2).sum();
    let b = a.iter().rev().fold(0i64, |s, &x| s * 7 + x as i64);
    c as i32 + w as i32 * 100 + t as i32 * 1000 + k as i32 * 10000 + b as i32
}

pub fn searching() -> i32 {
    let a = [5, 8, 13];
    let f = a.iter().find(|&&x| x % 2 == 0).copied().unwrap_or(0);
    let g = a.iter().any(|x| *x == 13) as i32;
    let h = a.iter().all(|x| x % 2 == 1) as i32;
    let l = *a.last().unwrap() + a.first().copied().unwrap();
    let c = a.contains(&8) as i32;
    let e = a.get(7).is_none() as i32 + a.get(1).map_or(0, |x| x + 1) * 10;
    f + g * 100 + h * 1000 + l * 10000 + c * 7 + e
}

pub fn laziness_of_iterators() -> i32 {
    let mut n = 0;
    let it = (0..10).map(|x| {
        n += 1;
        x * 2
    });
    let s: i32 = it.take(3).sum();
    let mut k = 0;
    let _unused = (0..5).map(|x| {
        k += x;
        x
    });
    s * 100 + n * 10
}

pub fn order_of_calls_in_a_chain() -> i32 {
    let mut log = 0;
    let mut a = [0; 2];
    for (i, x) in (1..3).map(|x| x * 3).enumerate() {
        log = log * 10 + x;
        a[i] = log;
    }
    a[0] * 1000 + a[1]
}

pub fn mapped_arrays() -> i32 {
    let a = [1, 2, 3].map(|x| x * x);
    let b: [u8; 3] = std::array::from_fn(|i| i as u8 * 100);
    a[2] * 1000 + b[2] as i32 + b.concat_len()
}

trait ConcatLen {
    fn concat_len(&self) -> i32;
}

impl ConcatLen for [u8; 3] {
    fn concat_len(&self) -> i32 {
        self.len() as i32
    }
}

pub fn sorting() -> i32 {
    let mut a = [3, 1, 2];
    a.sort();
    let mut b = [5, 9, 7];
    b.sort_by(|x, y| y.cmp(x));
    let mut c = [1, 2, 3, 4];
    c.rotate_left(1);
    let first = c[0];
    c.fill(first);
    a[0] * 100 + a[2] * 10 + b[0] + c[3] * 1000
}

pub fn a_matrix() -> i32 {
    const N: usize = 3;
    let mut a = [[0i64; N]; N];
    for i in 0..N {
        for j in 0..N {
            a[i][j] = (i * N + j) as i64 - 4;
        }
    }
    let mut c = [[0; N]; N];
    for i in 0..N {
        for j in 0..N {
            for k in 0..N {
                c[i][j] += a[i][k] * a[k][j];
            }
        }
    }
    (c[0][0] * 10000 + c[1][2] * 100 + c[2][2]) as i32
}

pub fn references_in_structures() -> i32 {
    struct View<'a> {
        of: &'a [i32; 3],
        at: usize,
    }
    let a = [4, 5, 6];
    let v = View { of: &a, at: 2 };
    v.of[v.at] * 10 + v.of[0]
}

pub fn vectors() -> i32 {
    let mut v = vec![1, 2, 3];
    v.push(4);
    let w = v.clone();
    v[0] = 10;
    let x = v.pop().unwrap();
    v.iter().sum::<i32>() * 100 + w[0] * 10 + x + w.len() as i32
}

pub fn collected() -> i32 {
    let v: Vec<i32> = (0..5).filter(|x| x % 2 == 0).map(|x| x * x).collect();
    v.len() as i32 * 100 + v[2]
}

pub fn text_lengths() -> i32 {
    let s = "abc";
    s.len() as i32 + s.as_bytes()[1] as i32 + "é".len() as i32 * 1000 + b"xy"[1] as i32 * 10000
}
