//! Generics, constant parameters, traits with constants and methods.

fn pick<T>(first: bool, a: T, b: T) -> T {
    if first { a } else { b }
}

fn filled<const N: usize>(x: i32) -> [i32; N] {
    [x + N as i32; N]
}

fn total<T: Copy + Into<i64>, const N: usize>(a: [T; N]) -> i64 {
    let mut s = 0;
    for x in a {
        let y: i64 = x.into();
        s += y;
    }
    s * N as i64
}

pub fn functions() -> i32 {
    let a: [i32; 3] = filled(10);
    let b = filled::<2>(20);
    pick(true, 200u8, 3) as i32
        + a[2] * 10
        + b[0] * 100
        + total([1u8, 255]) as i32 * 10000
        + total::<i16, 1>([-1]) as i32
}

struct Matrix<T, const R: usize, const C: usize> {
    v: [[T; C]; R],
}

impl<T: Copy, const R: usize, const C: usize> Matrix<T, R, C> {
    const SIZE: usize = R * C;
    fn transposed(&self) -> Matrix<T, C, R> {
        let mut v = [[self.v[0][0]; R]; C];
        for i in 0..R {
            for j in 0..C {
                v[j][i] = self.v[i][j];
            }
        }
        Matrix { v }
    }
}

pub fn structures() -> i32 {
    let m = Matrix { v: [[1, 2, 3], [4, 5, 6]] };
    let t = m.transposed();
    t.v[2][1] * 100 + t.v[0][1] * 10 + Matrix::<u8, 4, 5>::SIZE as i32 + t.v.len() as i32 * 1000
}

trait Shape {
    const SIDES: i32;
    const DOUBLE: i32 = Self::SIDES * 2;
    fn area(&self) -> i32;
    fn scaled(&self, by: i32) -> i32 {
        self.area() * by + Self::SIDES
    }
    fn name() -> i32 {
        7
    }
}

struct Square(i32);
struct Triangle {
    a: i32,
    h: i32,
}

impl Shape for Square {
    const SIDES: i32 = 4;
    fn area(&self) -> i32 {
        self.0 * self.0
    }
    fn name() -> i32 {
        8
    }
}

impl Shape for Triangle {
    const SIDES: i32 = 3;
    const DOUBLE: i32 = 60;
    fn area(&self) -> i32 {
        self.a * self.h / 2
    }
    fn scaled(&self, by: i32) -> i32 {
        -by
    }
}

fn by_bound<S: Shape>(s: &S) -> i32 {
    s.scaled(10) + S::DOUBLE + S::name()
}

pub fn traits() -> i32 {
    let s = Square(3);
    let t = Triangle { a: 3, h: 5 };
    s.scaled(2)
        + t.scaled(2) * 100
        + Square::DOUBLE * 1000
        + <Triangle as Shape>::DOUBLE * 10000
        + Square::name()
}

pub fn bounds() -> i32 {
    by_bound(&Square(2)) * 1000 + by_bound(&Triangle { a: 1, h: 2 })
}

trait Twice {
    fn twice(self) -> Self;
}

impl Twice for u8 {
    fn twice(self) -> u8 {
        self.wrapping_mul(2)
    }
}

impl Twice for i32 {
    fn twice(self) -> i32 {
        self * 2
    }
}

pub fn traits_on_numbers() -> i32 {
    200u8.twice() as i32 + 200i32.twice() * 1000
}

#[derive(Clone, Copy, PartialEq)]
struct V(i32, i32);

impl std::ops::Add for V {
    type Output = V;
    fn add(self, o: V) -> V {
        V(self.0 + o.0, self.1 - o.1)
    }
}

impl std::ops::Mul<i32> for V {
    type Output = V;
    fn mul(self, by: i32) -> V {
        V(self.0 * by, self.1)
    }
}

impl std::ops::Neg for V {
    type Output = i32;
    fn neg(self) -> i32 {
        self.0 * 100 + self.1
    }
}

impl std::ops::Index<usize> for V {
    type Output = i32;
    fn index(&self, i: usize) -> &i32 {
        if i == 0 { &self.1 } else { &self.0 }
    }
}

pub fn operators() -> i32 {
    let v = V(1, 2) + V(3, 4) * 5;
    -v + v[0] * 10000
}

impl From<i32> for V {
    fn from(x: i32) -> V {
        V(x, x * 2)
    }
}

pub fn conversions() -> i32 {
    let v: V = 4.into();
    let w = V::from(5);
    v.1 * 100 + w.0
}

impl PartialOrd for V {
    fn partial_cmp(&self, o: &V) -> Option<std::cmp::Ordering> {
        o.0.partial_cmp(&self.0)
    }
}

pub fn an_order_of_its_own() -> i32 {
    (V(1, 0) < V(2, 0)) as i32 + (V(1, 0) > V(2, 0)) as i32 * 10
}

struct Countdown(i32);

impl Iterator for Countdown {
    type Item = i32;
    fn next(&mut self) -> Option<i32> {
        self.0 -= 1;
        if self.0 > 0 { Some(self.0) } else { None }
    }
}

pub fn an_iterator_of_its_own() -> i32 {
    let mut s = 0;
    for x in Countdown(4) {
        s = s * 10 + x;
    }
    s
}

struct Noisy<'a>(&'a std::cell::Cell<i32>, i32);

impl Drop for Noisy<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() * 10 + self.1);
    }
}

pub fn drops() -> i32 {
    let log = std::cell::Cell::new(0);
    {
        let _a = Noisy(&log, 1);
        let _b = Noisy(&log, 2);
        let _ = Noisy(&log, 3);
        drop(Noisy(&log, 4));
    }
    log.get()
}

trait Named {
    fn value(&self) -> i32;
}

impl Named for Square {
    fn value(&self) -> i32 {
        self.0
    }
}

impl Square {
    fn value(&self) -> i32 {
        self.0 * 100
    }
}

pub fn inherent_methods_go_first() -> i32 {
    let s = Square(3);
    s.value() + Named::value(&s) + <Square as Named>::value(&s) * 10
}

trait Len {
    fn len(&self) -> i32;
}

impl<T, const N: usize> Len for [T; N] {
    fn len(&self) -> i32 {
        N as i32 * 1000
    }
}

trait Absolute {
    fn abs(self) -> i32;
}

impl Absolute for u8 {
    fn abs(self) -> i32 {
        self as i32 + 1
    }
}

pub fn a_method_of_a_name_of_std() -> i32 {
    200u8.abs() + (-3i32).abs() * 1000 + Len::len(&[0; 2])
}

pub fn a_trait_goes_before_a_slice() -> i32 {
    [1, 2].len() + [1, 2, 3][..].len() as i32
}

const fn power(base: u64, n: u32) -> u64 {
    let mut r = 1;
    let mut i = 0;
    while i < n {
        r *= base;
        i += 1;
    }
    r
}

const TABLE: [u64; 5] = {
    let mut t = [0; 5];
    let mut i = 0usize;
    while i < 5 {
        t[i] = power(3, i as u32) << (8 * i as u32);
        i += 1;
    }
    t
};

pub fn constant_functions() -> i32 {
    (TABLE[4] >> 32) as i32 + TABLE[1] as i32
}

fn sized<const N: usize>() -> usize {
    const K: usize = 3;
    if N > K { N } else { sized_by(N) }
}

fn sized_by(n: usize) -> usize {
    n * 100
}

pub fn expressions_as_arguments() -> i32 {
    const M: usize = 4;
    sized::<{ M + 1 }>() as i32 + sized::<M>() as i32 * 10 + sized::<2>() as i32 * 100
}

struct Tagged<const FLAG: bool>;

impl Tagged<true> {
    const V: i32 = 1;
}

impl Tagged<false> {
    const V: i32 = 2;
}

pub fn specialised_implementations() -> i32 {
    Tagged::<true>::V * 10 + Tagged::<false>::V
}

struct Wrapper<T>(T);

impl Wrapper<u8> {
    fn of(&self) -> i32 {
        self.0 as i32
    }
}

impl Wrapper<i32> {
    fn of(&self) -> i32 {
        self.0 * 1000
    }
}

pub fn implementations_by_type() -> i32 {
    Wrapper(5i32).of() + Wrapper(6u8).of()
}
