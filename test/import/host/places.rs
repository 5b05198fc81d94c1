//! References, and changes through them.

fn add(x: &mut i32, by: i32) -> i32 {
    *x += by;
    *x * 2
}

pub fn through_a_parameter() -> i32 {
    let mut x = 1;
    let a = add(&mut x, 5);
    let b = add(&mut x, a);
    x * 1000 + b
}

pub fn through_a_field() -> i32 {
    struct S {
        a: [i32; 3],
        b: (i32, i32),
    }
    let mut s = S { a: [1, 2, 3], b: (4, 5) };
    add(&mut s.a[1], 10);
    add(&mut s.b.1, s.a[1]);
    let r = &mut s.b;
    r.0 = 7;
    s.a[1] * 1000 + s.b.0 * 100 + s.b.1
}

pub fn a_reference_to_a_reference() -> i32 {
    let mut x = 3;
    let mut r = &mut x;
    {
        let rr = &mut r;
        **rr += 4;
    }
    *r *= 10;
    x
}

pub fn a_reference_that_moves() -> i32 {
    let mut a = 1;
    let mut b = 2;
    let mut r = &mut a;
    *r += 10;
    r = &mut b;
    *r += 20;
    a * 100 + b
}

pub fn chosen_reference() -> i32 {
    let mut a = 1;
    let mut b = 2;
    *(if a > b { &mut a } else { &mut b }) = 9;
    let m = match b {
        9 => &mut a,
        _ => &mut b,
    };
    *m += 40;
    a * 10 + b
}

fn larger<'a>(a: &'a mut i32, b: &'a mut i32) -> &'a mut i32 {
    if *a > *b { a } else { b }
}

pub fn returned_references() -> i32 {
    let mut a = 5;
    let mut b = 3;
    *larger(&mut a, &mut b) -= 4;
    *larger(&mut a, &mut b) += 10;
    a * 100 + b
}

pub fn a_copy_through_a_reference() -> i32 {
    let mut x = 4;
    let r = &x;
    let y = *r;
    x += 1;
    x * 10 + y
}

pub fn each_of_an_array() -> i32 {
    let mut a = [1, 2, 3];
    for x in a.iter_mut() {
        *x *= 2;
    }
    for x in &mut a {
        *x += 1;
    }
    let mut s = 0;
    for &x in &a {
        s = s * 10 + x;
    }
    s
}

pub fn by_reference_in_a_pattern() -> i32 {
    let mut t = (1, 2);
    {
        let (ref mut a, ref b) = t;
        *a += *b * 10;
    }
    let o = &mut Some(5);
    if let Some(x) = o {
        *x += 1;
    }
    match &mut t {
        (a, b) if *a > *b => *b = 100,
        _ => {}
    }
    t.0 * 1000 + t.1 + o.unwrap()
}

pub fn swapped_and_replaced() -> i32 {
    let mut a = 1;
    let mut b = 2;
    std::mem::swap(&mut a, &mut b);
    let c = std::mem::replace(&mut a, 30);
    let d = std::mem::take(&mut b);
    a * 1000 + b * 100 + c * 10 + d
}

pub fn options_are_changed() -> i32 {
    let mut o = Some(3);
    let t = o.take();
    let n = o.is_none() as i32;
    *o.get_or_insert(7) += 1;
    let r = o.replace(50).unwrap();
    if let Some(x) = o.as_mut() {
        *x += 1;
    }
    t.unwrap() * 10000 + n * 1000 + r * 100 + o.unwrap()
}

pub fn two_parts_at_once() -> i32 {
    let mut a = [1, 2, 3, 4];
    let (l, r) = a.split_at_mut(2);
    l[0] = r[1] * 10;
    r[0] += l[0];
    a[0] * 100 + a[2]
}

pub fn a_swap_of_elements() -> i32 {
    let mut a = [1, 2, 3];
    a.swap(0, 2);
    let [x, .., y] = &mut a;
    *x += 10;
    *y += 20;
    a[0] * 1000 + a[1] * 100 + a[2]
}

pub fn comparisons_of_references() -> i32 {
    let a = 3;
    let b = 3;
    let r = &a;
    (r == &b) as i32 + (*r + 1 > *&b) as i32 * 10 + (&&a == &&b) as i32 * 100 + (r + &b) * 1000 - -r
}

pub fn a_box() -> i32 {
    let mut b = Box::new(3);
    *b += 4;
    let c = b.clone();
    *b += 1;
    *c * 10 + *b
}

pub fn a_copy_in_a_call() -> i32 {
    fn f(mut a: [i32; 2]) -> i32 {
        a[0] = 100;
        a[0] + a[1]
    }
    fn g(a: &mut [i32; 2]) {
        *a = [a[1], a[0]];
    }
    let mut a = [1, 2];
    let x = f(a);
    g(&mut a);
    x * 100 + a[0] * 10 + a[1]
}

pub fn a_whole_through_a_reference() -> i32 {
    #[derive(Clone, Copy)]
    struct S {
        a: i32,
        b: i32,
    }
    let mut s = [S { a: 1, b: 2 }; 2];
    let r = &mut s[1];
    *r = S { a: r.b, b: r.a };
    let c = *r;
    r.a = 50;
    c.a * 1000 + c.b * 100 + s[1].a + s[0].a
}
