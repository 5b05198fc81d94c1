use std::ops::{Add, AddAssign, Deref, Index, Mul, Neg};
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct V(u16, u16);
impl Add for V {
    type Output = V;
    fn add(self, o: V) -> V {
        V(self.0 + o.0, self.1 + o.1)
    }
}
impl Mul<u8> for V {
    type Output = u64;
    fn mul(self, k: u8) -> u64 {
        (self.0 as u64) * k as u64
    }
}
impl Mul<V> for u32 {
    type Output = V;
    fn mul(self, k: V) -> V {
        k
    }
}
impl Index<u8> for V {
    type Output = u16;
    fn index(&self, i: u8) -> &u16 {
        if i == 0 { &self.0 } else { &self.1 }
    }
}
impl AddAssign<u32> for V {
    fn add_assign(&mut self, o: u32) {
        self.0 += o as u16;
    }
}
impl From<u8> for V {
    fn from(x: u8) -> V {
        V(x as u16, 0)
    }
}
impl PartialEq<u64> for V {
    fn eq(&self, o: &u64) -> bool {
        self.0 as u64 == *o
    }
}
impl Neg for V {
    type Output = i8;
    fn neg(self) -> i8 {
        3
    }
}
trait Tr {
    const K: u8;
    type Out;
    fn go(&self, x: u8) -> u16;
    fn out(&self) -> Self::Out;
    fn stat(x: i8) -> Self;
}
impl Tr for V {
    const K: u8 = 4;
    type Out = u64;
    fn go(&self, x2: u8) -> u16 {
        x2 as u16 + 1
    }
    fn out(&self) -> u64 {
        5
    }
    fn stat(x3: i8) -> V {
        V(x3 as u16, 2)
    }
}
impl Tr for i16 {
    const K: u8 = 4;
    type Out = u8;
    fn go(&self, x4: u8) -> u16 {
        x4 as u16 + 1
    }
    fn out(&self) -> u8 {
        5
    }
    fn stat(x5: i8) -> i16 {
        x5 as i16
    }
}
trait One {
    fn one(self) -> u8;
}
impl One for u8 {
    fn one(self) -> u8 {
        self + 1
    }
}
fn conv<T: Into<u64>>(t: T) -> u64 {
    t.into() + 1
}
fn conv2<T>(t: T) -> u64
where
    u64: From<T>,
{
    u64::from(t)
}
fn onef<T: One>(t: T) -> u8 {
    t.one()
}
fn trout<T: Tr>(t: &T) -> T::Out {
    t.out()
}
fn addg<T: Add<Output = T> + Copy>(a1: T, b1: T) -> T {
    a1 + b1
}
fn iter_sum(it: impl Iterator<Item = u8>) -> u32 {
    let mut s1 = 0;
    for x7 in it {
        s1 += x7 as u32;
    }
    s1
}
fn into_sum<I: IntoIterator<Item = i64>>(it2: I) -> i64 {
    let mut s2 = 0;
    for x8 in it2 {
        s2 += x8;
    }
    s2
}
fn evens(n1: u16) -> impl Iterator<Item = u16> {
    (0..n1).filter(|e1| e1 % 2 == 0)
}
fn adder(k1: u8) -> impl Fn(u8) -> u8 {
    move |e2| e2 + k1 + 1
}
fn boxed(k2: i64) -> Box<dyn Fn(i64) -> i64> {
    Box::new(move |e3| e3 + k2 + 1)
}
fn dynf(f1: &dyn Fn(u16) -> u64) -> u64 {
    f1(3)
}
struct D {
    v: [u8; 3],
}
impl Deref for D {
    type Target = [u8; 3];
    fn deref(&self) -> &[u8; 3] {
        &self.v
    }
}
struct G<T, const N: usize> {
    a: [T; N],
}
impl<T: Copy, const N: usize> G<T, N> {
    fn at(&self, i3: usize) -> T {
        self.a[i3 % N]
    }
    const L: usize = N + 1;
}
fn t1() {
    let p = V(1, 2) + V(3, 4);
    let q = p * 3;
    let r = q + 1;
    let s = p[1] + 2;
    let mut w = p;
    w += 5;
    let _ = (r, s, w == 7, -p + 1, p.0 + 1, p.go(3) + 1, p.out() + 1);
}
fn t2() {
    let a = conv(5u8) + 1;
    let b = conv2(3u32);
    let c = onef(7);
    let d = c + 1;
    let e = trout(&3i16);
    let f = e + 1;
    let g = addg(1, 2);
    let h: u8 = g;
    let _ = (a, b, d, f, h);
}
fn t3() {
    let a = iter_sum([1, 2, 3].into_iter()) + 1;
    let b = into_sum([1, 2]) + 1;
    let c = evens(5).map(|x| x * 2).count() + 1;
    let d = adder(3)(4) + 1;
    let e = boxed(3)(4) + 1;
    let f = dynf(&|y| y as u64 + 1);
    let _ = (a, b, c, d, e, f);
    iter_sum(1..5);
    into_sum(vec![1, 2, 3]);
}
fn t4() {
    let v: V = 5.into();
    let w = V::from(6);
    let z = V::stat(3);
    let k = V::K + 1;
    let i = i16::K + 2;
    let d = D { v: [1, 2, 3] };
    let s = d[1] + 1;
    let l = d.len() + 1;
    for it in d.iter() {
        let _ = it + 1;
    }
    let _ = (v, w, z, k, i, s, l, <V as Tr>::K + 1, <u8>::MAX - 1);
}
fn t5() {
    let g = G { a: [1, 2, 3] };
    let x: u64 = g.at(1);
    let h = G::<i8, 2> { a: [1, 2] };
    let y = h.at(0) + 1;
    let l = G::<u8, 4>::L + 1;
    let _ = (x, y, l);
}
fn t6() {
    let v: Vec<u8> = (0..5).collect();
    let w = vec![1, 2, 3];
    let x: u64 = w[0];
    let s = v.iter().map(|e| *e as u32 + 1).sum::<u32>();
    let p = "5".parse::<u8>().unwrap() + 1;
    let q: i16 = "5".parse().unwrap();
    let r = q + 1;
    let t = v.len() + 1;
    let u = v[1] + 2;
    let _ = (x, s, p, r, t, u);
    let mut z = Vec::new();
    z.push(1);
    z.push(2u16);
    let zz = z.iter().max().unwrap() + 1;
    let _ = zz;
}
fn t7() {
    let a = Default::default();
    let b = if a { 1 } else { 2 };
    let c: (u8, i64) = Default::default();
    let d = c.0 + 1;
    let e = u16::default() + 1;
    let f = std::array::from_fn::<u8, 3, _>(|i| i as u8 + 1);
    let g = f[0] + 1;
    let h: [u64; 3] = std::array::from_fn(|j| j as u64 * 2);
    let k = std::iter::repeat(5).take(3).fold(0u16, |m, n| m + n);
    let l =
        std::iter::successors(Some(1u32), |o| if *o < 100 { Some(o * 2) } else { None }).last().unwrap() + 1;
    let _ = (b, d, e, g, h[1] + 1, k, l);
}
fn t8() {
    let x = 5;
    let y = x as _;
    let z: u8 = y;
    let a = [1, 2, 3];
    let b = a.iter().zip(a.iter().skip(1)).map(|(c, d)| c * d).sum::<i16>();
    let mut s = [3, 1, 2];
    s.sort_by(|e, f| f.cmp(e));
    s.sort();
    let g: u32 = s[0];
    let h = a.windows(2).map(|w| w[0] + w[1]).max();
    let (mn, mx) = a.iter().fold((i16::MAX, 0), |(l, u), v| (l.min(*v), u.max(*v)));
    let c3 = a.chunks(2).map(|k| k.len() + 1).sum::<usize>();
    let _ = (z, b, g, h, mn, mx, c3);
}
fn t9(t: (u8, (i64, [u16; 2]))) -> i64 {
    let (a, (b, [c, d])) = t;
    let e = c + d * 2;
    match (a, b) {
        (0, -1) => 1,
        (1..=5, x) => x + 2,
        (6.., 0..) => 3,
        (_, y) if y > 4 => y,
        _ => e as i64 + 5,
    }
}
fn t10(r: &mut [u32; 4], o: &Option<i8>, q: &(u8, u64)) -> u32 {
    for x in r.iter_mut() {
        *x += 1;
    }
    for y in &mut *r {
        *y *= 2;
    }
    r[0] = 5;
    match o {
        Some(1) => {}
        Some(z) if *z > 3 => {}
        Some(-5..=-2) => {}
        _ => {}
    }
    if let Some(w) = o {
        let _ = w + 1;
    }
    let &(a, b) = q;
    let _ = (a + 1, b + 2);
    let (c, d) = q;
    let _ = (c + 1, *d + 2, d == &3);
    if let [f, .., l] = r {
        *f = 1;
        *l += 2;
    }
    if let [h, rest @ ..] = &r[..] {
        let _ = h + 1;
        let _ = rest[0] + 2;
    }
    r.iter().map(|k| k + 1).sum::<u32>() + r.len() as u32 + 1
}
fn t11() -> u8 {
    let f: fn(u8) -> u8 = |x| x + 1;
    let arr: [fn(i64) -> i64; 2] = [|y| y + 1, |z| z * 2];
    let g = arr[0](5);
    let h: &dyn Fn(u16) -> u16 = &|w| w + 1;
    let k = h(3);
    let c = Some(5).map(f).unwrap_or(3);
    let m = [1u8, 2].map(u64::from);
    let n: u64 = m[0];
    let o = [1, 2].map(Some);
    let p: Option<i8> = o[0];
    let _ = (g, k, n, p);
    c
}
fn t12() {
    let x = loop {
        break 5;
    };
    let y: i64 = x;
    let z = 'l: {
        if y > 3 {
            break 'l 1;
        }
        2
    };
    let w: u8 = z;
    let v = if w > 1 { 5 } else { return };
    let u: u16 = v;
    let t = match u {
        1 => return,
        2 => panic!("x {}", 5),
        _ => 7,
    };
    let s: i8 = t;
    let r = {
        let q = 3;
        q + 1
    };
    let _: usize = r;
    let _ = s;
    let n = unsafe { 5 };
    let _: u8 = n;
}
fn t13() {
    let a = 1u8 as char;
    let b = 'a' as u8 + 1;
    let c = b as char as u32 + 1;
    let d = true as u8 + 1;
    let e = (
        5 as u16,
        300 as i64,
        -1 as i8 as u8,
        (2 + 3) as u8,
        { 7 } as u8,
        (if true { 1 } else { 2 }) as u8,
        !0 as u32,
        (!(0)) as u64,
        1.5 as f32,
        3 as f32,
        (1 as f32) as u8,
        97 as char,
        2.5 as u8,
        -(5) as i16,
        (5) as u8,
        [1, 2][0] as u8,
        (1, 2).0 as u64,
        1 as u8 as u64,
    );
    let _ = (a, c, d, e);
}
fn t14() {
    let x = 5;
    let y = &x;
    let z = *y + 1;
    let w: u8 = z;
    let a = &&3;
    let b = **a + 1u64;
    let c = &5 + &6;
    let d: i8 = c;
    let e = -&7;
    let f: i32 = e;
    let g = 1 << 3u8;
    let h: u64 = g;
    let k = 1u8 << 2;
    let l = 5 == 6;
    let m = &1 == &2;
    let n = (1, 2.0) < (3, 4.0);
    let o = [1, 2] == [3, 4u8];
    let p = Some(1) == Some(2u8);
    let _ = (w, b, d, f, h, k, l, m, n, o, p);
}
