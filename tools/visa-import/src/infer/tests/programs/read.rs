const N: usize = 2 + 3;
static TABLE: [u16; 3] = [1, 2, 3];
struct P {
    a: u8,
    b: [i64; 2],
}
#[derive(Clone, Copy, PartialEq)]
enum E {
    A(u16, i8),
    B { c: u32 },
    C,
}
struct W<T> {
    v: T,
}
impl P {
    fn new(a1: u8) -> Self {
        Self { a: a1 + 1, b: [3, 4] }
    }
    fn get(&self, i1: usize) -> i64 {
        self.b[i1] * 2
    }
}
fn apply<F: Fn(u16) -> u16>(f: F, x: u16) -> u16 {
    f(x + 1)
}
fn app2(f: impl Fn(i64, i64) -> i64) -> i64 {
    f(1, 2)
}
fn id<T>(t: T) -> T {
    t
}
fn sum<const K: usize>(a2: [u32; K]) -> u32 {
    let mut s = 0;
    for i in 0..K {
        s += a2[i];
    }
    s
}
fn g(x: i8) -> u8 {
    match x {
        1..=3 => 5,
        -5 | 7 => 2,
        _ => 9,
    }
}
fn f() -> u64 {
    let x5 = 3;
    let c = |a: u64| a + 1;
    let y: u64 = c(x5);
    let z = -1;
    (300 as u16) as u64 + y + [0; 4][1]
}
fn h() -> Option<u32> {
    let p = P::new(7);
    let q = p.get(1);
    let e = E::A(1, 2);
    if let E::A(m, n) = e {
        let t = m + 1;
        let u = n * 3;
        let _ = (t, u);
    }
    let v = E::B { c: 5 };
    let mut acc = 0;
    for (ix, el) in TABLE.iter().enumerate() {
        acc += el * 2;
        let k = ix + 1;
        let _ = k;
    }
    let w = (1..=10).map(|r| r * 2).filter(|r2| r2 % 3 == 0).fold(0u64, |aa, bb| aa + bb);
    let total: u64 = (0..5).sum();
    let t2: i64 = [1, 2, 3].iter().map(|ee| ee * 2).sum();
    let o = Some(3);
    let o2 = o.map(|zy| zy + 1).unwrap_or(9);
    let b: u8 = o2;
    let s = sum([1, 2, 3]);
    let r9 = apply(|qq| qq * 2 + 1, 4) + app2(|a9, b9| a9 * b9 + 1) as u16;
    let ww = W { v: 5 };
    let xx: i16 = ww.v;
    let big = 1 << 40u64;
    let i128v: i128 = -5;
    let fl = 1.5;
    let ff: f32 = fl * 2.0;
    let fd = 2.5;
    let zz = 10u32.pow(3) + 7;
    let ab = 5i16.abs_diff(3);
    let cd = ab + 1;
    let lbl = 'a: loop {
        let mut cnt = 0;
        loop {
            cnt += 1;
            if cnt > 5 {
                break 'a cnt as u8;
            }
        }
    };
    let neg = !0 as u16;
    let neg2 = -1 as i64;
    let ch = 65 as char;
    let fx = 3 as f32;
    let blk = {
        let _q = 5;
        250
    } as u8;
    let cmp = if q > 3 { 1 } else { 2 } as u8;
    let uv = id(5) as u8;
    let (d1, d2): (u8, i64) = (1, 2);
    let [e1, .., e2] = [1u8, 2, 3];
    if e1 == 1 && e2 != 3 {}
    let later;
    later = 7;
    let _: u16 = later;
    let m2 = match o {
        Some(1) => 10,
        Some(n2) if n2 > 2 => 20,
        Some(_) => 30,
        None => return None,
    };
    let _l: i64 = m2;
    let u99 = u32::from(3u8) + u32::try_from(300).unwrap() + i32::MAX as u32 + u64::from(b) as u32;
    let ar = [[0u8; 2]; N];
    let sl = &ar[1][0..1];
    let fst = sl[0] + 1;
    let mx = 3.max(4);
    let my: u8 = mx;
    let mi = std::cmp::min(3, 4u64);
    assert!(mi > 2, "x {}", 5);
    assert_eq!(my, 4);
    let cl = |v9| v9 + 1;
    let _r = cl(5u16);
    let mut cc = 5;
    cc <<= 2;
    let _z: u8 = cc;
    let _ = (
        w,
        total,
        t2,
        s,
        r9,
        xx,
        big,
        i128v,
        ff,
        fd,
        zz,
        cd,
        lbl,
        neg,
        neg2,
        ch,
        fx,
        blk,
        cmp,
        uv,
        d1,
        d2,
        u99,
        fst,
        acc,
        v,
        g(3),
        f(),
        apply(|e7| e7, 2),
        p.a,
        h2(2),
        E::C == E::C,
    );
    Some(12)
}
fn h2(x: u32) -> Result<u8, u16> {
    let Ok(yy) = h3(x) else { return Err(5) };
    let zz = h3(3).map_err(|ee| ee + 1)?;
    let k = h3(3)?;
    Ok(yy + zz + k + 1)
}
fn h3(x: u32) -> Result<u8, u16> {
    if x > 5 { Ok(1) } else { Err(2) }
}
struct Generic<T> {
    v: T,
    n: u16,
}
impl<U: Copy> Generic<U> {
    fn get(&self, d: U) -> U {
        if self.n > 1 { self.v } else { d }
    }
    const K: u8 = 3;
    fn make(u: U) -> Self {
        Self { v: u, n: 2 }
    }
    fn map<X>(self, f: impl Fn(U) -> X) -> Generic<X> {
        Generic { v: f(self.v), n: 3 }
    }
}
impl Generic<u8> {
    fn byte(&self) -> u8 {
        self.v + 1
    }
    fn zero() -> Self {
        Self { v: 0, n: 5 }
    }
}
impl Generic<(i8, f32)> {
    fn pair(&self) -> i8 {
        let Generic { v: (a, b), n } = self;
        if *n == 4 && *b > 1.5 { *a + 1 } else { 2 }
    }
}
struct Buffer<T, const N: usize> {
    a: [T; N],
}
impl<const M: usize, E: Copy> Buffer<E, M> {
    fn at(&self, i: usize) -> E {
        self.a[(i + 1) % M]
    }
}
fn implementations() {
    let w = Generic { v: 5, n: 1 };
    let x: i64 = w.get(6);
    let y = Generic { v: 7, n: 1 }.byte();
    let z = Generic { v: (1, 2.0), n: 3 }.pair();
    let k = Generic::<u8>::K + 1;
    let m = Generic::make(8).byte();
    let q = Generic::zero().v + 1;
    let r = Generic::make(3u8).map(|e| e as u16 + 1).get(4);
    let s = Buffer { a: [1, 2] }.at(1) + 3i16;
    let t = Generic::make(2).map(|e2| e2 * 2u64).v + 1;
}
fn conversions(a: u128, b: i128, c: usize, d: isize, e: u8) {
    let mut w = 1;
    w = a.into();
    let mut x = 2;
    x = b.into();
    let mut y = 3;
    y = c.into();
    let mut z = 4;
    z = d.into();
    let mut v = 5;
    v = e.into();
    let mut f = 1.5;
    f = 2.into();
}
