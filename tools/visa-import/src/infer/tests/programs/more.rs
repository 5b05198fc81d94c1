#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Colour {
    R = 1,
    G = 5,
    B,
}
#[derive(Clone, Copy)]
struct Single(u16);
struct Pointers {
    f: fn(u8) -> u8,
    g: [i16; 2],
}
struct P2<T> {
    v: T,
}
const TEN: u32 = 10;
fn cg<const K: usize>(a: [u8; K]) -> u8 {
    a[K - 1] + 1
}
fn sl(a: &[u8]) -> u8 {
    a[0] + 1
}
fn condition() -> bool {
    1 < 2
}
fn a1() {
    let x = if condition() { 1 } else { 2u8 as _ };
    let f = |q1| q1;
    f(1);
    let y: u8 = f(2);
    let mut v = None;
    if condition() {
        v = Some(1);
    }
    let r: Option<u16> = v;
    let a = [0; 4];
    let b: &[u8] = &a;
    sl(&[1, 2]);
    let z = &mut [1, 2][..];
    z[0] = 3u8;
    let _ = (x, y, r, b);
}
fn a2(arr: [u32; 4]) -> u32 {
    let n = 5;
    let mut t = 0;
    for i in 0..n {
        t += arr[i];
    }
    let s = (0..10).rev().map(|j| arr[j] + 1).sum::<u32>();
    let s0 = 0;
    let w1 = arr.iter().fold(s0, |q, w| q + w);
    let w2 = arr.iter().fold(0, |q2, &w3| q2 + w3 as u64);
    let w4 = arr.iter().fold(7, |acc, xx| acc * 31 + *xx as u64);
    let w5 = arr.iter().enumerate().map(|(i2, x2)| i2 as u32 * x2 + 1).max();
    let w6 = [(1, 2.5), (2, 3.5)].iter().max_by(|aa, bb| aa.1.partial_cmp(&bb.1).unwrap()).unwrap().0;
    let w7: i8 = w6;
    let _ = (w1, w2, w4, w5, w7);
    t + s
}
fn a3() {
    let (q, r) = (7 / 2, 7 % 2u8);
    let mut a = 1;
    let mut b = 2u16;
    std::mem::swap(&mut a, &mut b);
    let o = std::mem::replace(&mut a, 3);
    let mut it = (1..5).into_iter();
    while let Some(x) = it.next() {
        let _: i64 = x;
    }
    let l = [0u8; 2 as usize];
    let m = 1u64.pow(3).max(4);
    assert!(q == 3 && r > 2);
    assert_eq!(m, 5, "msg {}", 3);
    debug_assert_ne!(1, 2i8);
    let _ = (o, l);
}
fn a4() {
    let p = P2::<u8> { v: 1 };
    let p2 = P2 { v: 1.5f32 };
    let p3: P2<i64> = P2 { v: 5 };
    let ch = Some(1).into_iter().chain([2u8]).map(|e| e + 1).count();
    let c = [1, 2, 3].contains(&p.v);
    let d = (1..=9).contains(&p3.v);
    let [g, h] = [1, 2];
    let k = g + 1u8;
    let t: (_, u8) = (1, 2);
    let u: [_; 2] = [1u8, 2];
    let _ = (p2.v + 1.0, ch, c, d, h, k, t, u);
}
fn a5(bt: u8, cc: char) -> u8 {
    match bt {
        b'a'..=b'z' => 1,
        0x30 => 2,
        _ => 3,
    };
    let add = |a| move |b| a + b;
    let r = add(1)(2u8);
    let h = |a2, b2| a2 + b2;
    let r2 = h(1, &2u8);
    let s = |a3, b3| a3 << b3;
    let r3 = s(1, 2u8);
    let e = |a4| a4 == 1;
    e(5u16);
    let l = |a5, b5| a5 < b5;
    l(1, 2i8);
    let x = -{ 1 };
    let y: i8 = x;
    let z = 5;
    let z2 = z as u8;
    let w = 300;
    let w2 = w as u8 as u64;
    let _ = (r, r2, r3, y, z2, w2, cc);
    1
}
fn a6() {
    let a = u8::try_from(300).unwrap_or(1);
    let b = usize::try_from(-1).unwrap_or(2);
    let c = i8::try_from(200u8).is_ok();
    let d = f32::from(3u8) + 1.0;
    let e = f64::from(1.5f32) + 2.0;
    let f = f64::from(2) + 3.0;
    let g = i64::from(1) + 2;
    let h = char::from(65);
    let i = u32::from('a') + 1;
    let j = u8::from(true) + 1;
    let k = "abc".len() + 1;
    let l = b"abc"[0] + 1;
    let m = u16::from_be_bytes([1, 2]) + 1;
    let n = 5u16.to_be_bytes()[0] + 1;
    let o = i32::pow(2, 3) + 1;
    let p = f32::max(1.0, 2.0);
    let q = u8::wrapping_add(200, 100);
    let r = [1, 2].map(u8::count_ones)[0] + 1;
    let s = (1..4u8).map(u64::from).sum::<u64>() + 1;
    let t = Option::unwrap_or(Some(1), 2u8);
    let u = Option::<u8>::None.unwrap_or(3);
    let v = None::<u16>.unwrap_or(3);
    let w = Ok::<u8, u16>(1).unwrap_or(2);
    let x = Err::<u8, _>(5i64).unwrap_err() + 1;
    let y = i8::from(5);
    let z = u64::MAX - 1;
    let aa = std::f32::consts::PI * 2.0 + f64::EPSILON as f32;
    let _ = (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa);
}
fn a7() {
    let a = [1, 2, 3];
    let b: Option<u8> = a.iter().copied().zip(1..).map(|(x, y)| x + y).last();
    let c = [1, 2, 3i16].iter().take_while(|x3| **x3 < 3).count();
    let d = [1, 2]
        .iter()
        .scan(0, |s, x4| {
            *s += x4;
            Some(*s)
        })
        .last()
        .map(|l: u32| l + 1);
    let e = [1, 2].into_iter().flat_map(|x5| [x5, x5 + 1]).map(|m: i64| m * 2).sum::<i64>();
    let f = (1..9).filter_map(|x6| if x6 > 2 { Some(x6 * 2) } else { None }).max().unwrap_or(3u8);
    let g = [1, 2].iter().position(|x7| *x7 == 3u16).unwrap_or(4);
    let h = [1, 2].iter().all(|&x8| x8 > 0);
    let i = [1.5, 2.5].iter().map(|f1| f1 * 2.0).sum::<f32>();
    let j = [3u8, 4].chunks(2).map(|c1| c1.iter().sum::<u8>()).max().unwrap() + 1;
    let k = &a[1..];
    let l = a[..2].iter().count();
    let ix = 1;
    let m = a[ix..ix + 2].len();
    let n = (1..=4).product::<u64>() + 1;
    let o: u32 = (1..=4).product();
    let _ = (b, c, d, e, f, g, h, i, j, k, l, m, n, o);
}
fn a8() {
    let x;
    if condition() {
        x = 1
    } else {
        x = 2u8
    }
    let y: Option<Option<u8>> = Some(Some(1));
    let z = Single(5).0 + 1;
    let w = Colour::R as u8 + 1;
    let v = Colour::G as i32 + 2;
    let op = Pointers { f: |q| q + 1, g: [1, 2] };
    let r = (op.f)(5) + 1;
    let s = op.g[0] + 1;
    let t = cg([1, 2, 3]) + cg::<2>([4, 5]);
    let u = match w {
        1 => Some(2),
        _ => None,
    };
    let q: u64 = u.unwrap_or_default();
    let p = 'o: loop {
        for i in 0..TEN {
            if i == 5 {
                break 'o i + 1;
            }
            if i == 6 {
                continue 'o;
            }
        }
        break 7;
    };
    let o = Colour::R < Colour::B && Colour::R.max(Colour::G) == Colour::B;
    let _ = (x, y, z, v, r, s, t, q, p, o);
}
fn a9(opt: Option<u32>, res: Result<u8, i64>, tup: &mut (u8, [f32; 2])) -> Option<u64> {
    let a = opt?;
    let b = opt.and_then(|x| x.checked_sub(1))?;
    let c = res.ok()? + 1;
    let d = opt.ok_or(5).map_err(|e: u16| e + 1).unwrap_or(7);
    let e = opt.map_or(1, |x2| x2 as u64 + 2);
    let f = opt.filter(|x3| *x3 > 2).is_some_and(|x4| x4 == 3);
    tup.0 += 1;
    tup.1[0] *= 2.0;
    let (g, h) = tup;
    *g += 2;
    h[1] = 3.0;
    let i = if let Some(3 | 4) = opt
        && a > 2
    {
        1
    } else {
        return None;
    };
    let j: u16 = i;
    let k = res.is_ok_and(|v| v > 3) as u8 + 1;
    let l = match res {
        Ok(1..=5) => 1.0,
        Ok(n) => n as f32 * 2.0,
        Err(-1) => 0.5,
        Err(m) if m > 7 => 1e3,
        Err(_) => return Some(9),
    };
    let _ = (b, c, d, f, j, k, l);
    Some(e + 3)
}
fn a10() {
    let mut arr = [[0; 3]; 2];
    arr[1][2] = 5u8;
    for row in arr.iter_mut() {
        for c in row.iter_mut() {
            *c += 1;
        }
    }
    for row in &arr {
        for &c2 in row {
            let _ = c2 + 1;
        }
    }
    let mut i = 0;
    while i < arr.len() {
        arr[i][0] = 7;
        i += 1;
    }
    let t = arr.iter().map(|r| r.iter().map(|&v| v as u32).sum::<u32>()).fold(0, |x, y| x.max(y));
    let mut s = 0;
    for (k, r) in arr.iter().enumerate() {
        s += k * r.len() + 1;
    }
    let mut best = f32::NEG_INFINITY;
    for v in [1.5, 2.5] {
        if v > best {
            best = v;
        }
    }
    let z = arr.first().map(|r| r[0] + 1);
    let mut u = 1;
    u <<= 3;
    u |= 4u64;
    let (mut lo, mut hi) = (0, 9);
    while lo < hi {
        let mid = (lo + hi) / 2;
        if mid > 3usize {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    let mut x = 27;
    let mut n = 0;
    while x != 1 {
        x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
        n += 1;
    }
    let _: (i64, u16) = (x, n);
    let _ = (t, s, best, z, u);
}
fn a11() {
    let mut c = 0;
    let mut inc = |d| {
        c += d;
        c
    };
    inc(1);
    let r: u16 = inc(2);
    let fs: [&dyn Fn(u8) -> u8; 2] = [&|x| x + 1, &|y| y * 2];
    let q = fs[0](1) + fs[1](2);
    let compose = |f: fn(i64) -> i64, g: fn(i64) -> i64, v: i64| g(f(v + 1));
    let z = compose(|a| a + 1, |b| b * 2, 5);
    let rec = { 6 };
    let t = (|| 5)() + 1u8;
    let u = (|x: u8| -> u32 { x as u32 + 1 })(3) + 4;
    let k = {
        let m = 3;
        move |p| p * m
    };
    let v: i32 = k(2);
    let _ = (r, q, z, rec, t, u, v);
}
fn a12() -> u8 {
    let a: u8 = {
        let b = 5;
        b
    };
    let c = unsafe { 6 } + a;
    let d = loop {
        let e = 3;
        if e > 2 {
            break e;
        }
    };
    let f: i16 = d;
    let g = match a {
        0 => return 1,
        1 => {
            let h = 4;
            h
        }
        2 => panic!("{} {x}", 3, x = 4),
        _ => unreachable!(),
    };
    let i: u64 = g;
    let j = {
        return 7;
    };
}
fn patterns(x: &i8, y: &(u8, f32), z: char, w: Option<&u16>, s: &[i64]) -> u8 {
    match x {
        1..=3 => 5,
        -5 | 7 => 2,
        -9..-7 => 1,
        _ => 9,
    };
    match y {
        (1, 2.5) => 1,
        (2.., _) => 3,
        _ => 2,
    };
    match z {
        'a'..='f' => 1,
        '\n' => 2,
        _ => 3,
    };
    match w {
        Some(3) => {}
        Some(&4) => {}
        Some(5 | 6) => {}
        _ => {}
    }
    if let [1, -2, .., 3] = s {}
    if let [first, 7, rest @ ..] = s
        && *first > 3
        && rest.len() > 2
    {}
    let q = 5;
    match q {
        1 => 2,
        n @ 3..=7 => n,
        _ => 4u64,
    };
    (match (1, 2u8) {
        (1, 2) => 1.5,
        (-3, _) => 2.,
        _ => 3e0f32,
    }) as u8
}
