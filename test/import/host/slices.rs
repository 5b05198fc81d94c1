//! Changes of parts of arrays: slices, iterators of references, patterns.

fn folded(a: [i32; 4]) -> i32 {
    a[0] * 1000 + a[1] * 100 + a[2] * 10 + a[3]
}

pub fn an_element_of_a_slice() -> i32 {
    let mut a = [1, 2, 3, 4];
    let s = &mut a[1..3];
    s[0] = 7;
    s[1] += 2;
    folded(a)
}

pub fn a_slice_of_everything() -> i32 {
    let mut a = [1, 2, 3, 4];
    let s = &mut a[..];
    s[3] = 7;
    folded(a)
}

pub fn a_slice_as_an_argument() -> i32 {
    fn f(s: &mut [i32]) {
        s[0] *= 2;
        s[1] = 9;
    }
    let mut a = [1, 2, 3, 4];
    f(&mut a[2..]);
    f(&mut a);
    folded(a)
}

pub fn a_coerced_argument() -> i32 {
    fn f(s: &mut [i32]) -> i32 {
        for i in 0..s.len() {
            s[i] += i as i32;
        }
        s.len() as i32
    }
    let mut a = [1, 2, 3, 4];
    f(&mut a) * 10000 + folded(a)
}

pub fn a_slice_of_a_slice() -> i32 {
    let mut a = [1, 2, 3, 4];
    let s = &mut a[1..];
    let t = &mut s[1..];
    t[0] = 8;
    s[0] = 6;
    folded(a)
}

pub fn in_place_without_a_name() -> i32 {
    let mut a = [1, 2, 3, 4];
    a[1..][0] = 7;
    a[..2][0] += 3;
    folded(a)
}

pub fn methods_of_a_slice() -> i32 {
    let mut a = [1, 2, 3, 4];
    a[1..].swap(0, 2);
    a[..2].reverse();
    folded(a)
}

pub fn filled() -> i32 {
    let mut a = [1, 2, 3, 4];
    a[1..3].fill(9);
    folded(a)
}

pub fn copied_from() -> i32 {
    let mut a = [1, 2, 3, 4];
    let b = [7, 8];
    a[2..].copy_from_slice(&b);
    folded(a)
}

pub fn copied_within() -> i32 {
    let mut a = [1, 2, 3, 4];
    a.copy_within(0..2, 2);
    folded(a)
}

pub fn each_of_a_slice() -> i32 {
    let mut a = [1, 2, 3, 4];
    for x in &mut a[1..3] {
        *x += 5;
    }
    for x in a[2..].iter_mut() {
        *x -= 1;
    }
    folded(a)
}

pub fn with_numbers() -> i32 {
    let mut a = [1, 2, 3, 4];
    for (i, x) in a.iter_mut().enumerate() {
        *x += i as i32;
    }
    folded(a)
}

pub fn backwards() -> i32 {
    let mut a = [1, 2, 3, 4];
    for (x, y) in a.iter_mut().rev().zip([5, 6]) {
        *x = y;
    }
    folded(a)
}

pub fn for_each() -> i32 {
    let mut a = [1, 2, 3, 4];
    a.iter_mut().for_each(|x| *x *= 2);
    a.iter_mut().skip(1).step_by(2).for_each(|x| *x -= 3);
    folded(a)
}

pub fn first_and_last() -> i32 {
    let mut a = [1, 2, 3, 4];
    *a.first_mut().unwrap() = 8;
    if let Some(x) = a.last_mut() {
        *x = 9;
    }
    folded(a)
}

pub fn by_get() -> i32 {
    let mut a = [1, 2, 3, 4];
    if let Some(x) = a.get_mut(2) {
        *x = 7;
    }
    folded(a)
}

pub fn split_in_two() -> i32 {
    let mut a = [1, 2, 3, 4];
    let (l, r) = a.split_at_mut(1);
    l[0] += r[2];
    r[0] = 9;
    folded(a)
}

pub fn in_chunks() -> i32 {
    let mut a = [1, 2, 3, 4];
    for c in a.chunks_mut(2) {
        c[0] += c[1];
    }
    folded(a)
}

pub fn by_a_pattern() -> i32 {
    let mut a = [1, 2, 3, 4];
    let [x, rest @ ..] = &mut a;
    *x = 5;
    rest[1] = 6;
    folded(a)
}

pub fn by_a_pattern_of_a_slice() -> i32 {
    let mut a = [1, 2, 3, 4];
    if let [_, y, .., z] = &mut a[..] {
        *y = 7;
        *z += *y;
    }
    a[1] * 100 + a[3]
}

pub fn rows() -> i32 {
    let mut g = [[1, 2], [3, 4]];
    for row in &mut g {
        row[1] += 1;
        for x in row.iter_mut() {
            *x *= 2;
        }
    }
    let r = &mut g[1];
    r[0] = 0;
    let s = &mut g[..1];
    s[0][0] = 9;
    g[0][0] * 1000 + g[0][1] * 100 + g[1][0] * 10 + g[1][1]
}

pub fn a_reference_to_an_element() -> i32 {
    let mut a = [1, 2, 3, 4];
    let mut i = 1;
    let r = &mut a[i];
    i += 1;
    *r = 7;
    a[i] = 8;
    folded(a)
}

pub fn through_a_closure() -> i32 {
    let mut a = [1, 2, 3, 4];
    let add = |s: &mut [i32], by: i32| s[0] += by;
    add(&mut a[3..], 3);
    add(&mut a, 4);
    folded(a)
}

pub fn through_a_structure() -> i32 {
    struct View<'a> {
        s: &'a mut [i32],
        at: &'a mut i32,
    }
    let mut a = [1, 2, 3, 4];
    let mut n = 5;
    let v = View { s: &mut a[1..], at: &mut n };
    v.s[0] = 8;
    *v.at += 1;
    folded(a) * 10 + n
}

pub fn through_a_tuple() -> i32 {
    let mut a = 1;
    let mut b = 2;
    let t = (&mut a, &mut b);
    *t.0 += 10;
    std::mem::swap(t.0, t.1);
    a * 100 + b
}

pub fn through_an_array_of_references() -> i32 {
    let mut a = 1;
    let mut b = 2;
    for r in [&mut a, &mut b] {
        *r *= 5;
    }
    a * 100 + b
}

pub fn through_an_option() -> i32 {
    let mut a = 1;
    let o = Some(&mut a);
    if let Some(r) = o {
        *r = 6;
    }
    let mut p = Some((1, 2));
    if let Some((x, _)) = &mut p {
        *x += 3;
    }
    if let Some(t) = p.as_mut() {
        t.1 = 9;
    }
    a * 100 + p.unwrap().0 * 10 + p.unwrap().1
}

pub fn through_self() -> i32 {
    struct Stack {
        v: [i32; 4],
        n: usize,
    }
    impl Stack {
        fn push(&mut self, x: i32) -> &mut Self {
            self.v[self.n] = x;
            self.n += 1;
            self
        }
        fn top(&mut self) -> &mut i32 {
            &mut self.v[self.n - 1]
        }
        fn all(&mut self) -> &mut [i32] {
            &mut self.v[..self.n]
        }
    }
    let mut s = Stack { v: [0; 4], n: 0 };
    s.push(1).push(2).push(3);
    *s.top() += 4;
    s.all()[1] = 5;
    folded(s.v) + s.n as i32 * 10000
}

pub fn maps_of_references() -> i32 {
    let mut a = [(1, 2), (3, 4)];
    for x in a.iter_mut().map(|t| &mut t.1) {
        *x += 1;
    }
    for (x, y) in a.iter_mut() {
        std::mem::swap(x, y);
    }
    for (x, _) in &mut a {
        *x *= 2;
    }
    a[0].0 * 1000 + a[0].1 * 100 + a[1].0 * 10 + a[1].1
}

pub fn rotated() -> i32 {
    let mut a = [1, 2, 3, 4];
    a[1..].rotate_left(1);
    a.rotate_right(1);
    folded(a)
}

pub fn sorted_in_part() -> i32 {
    let mut a = [4, 3, 2, 1];
    a[..3].sort();
    folded(a)
}

pub fn a_range_in_a_variable() -> i32 {
    let mut a = [1, 2, 3, 4];
    let r = 1..3;
    a[r.clone()][0] = 8;
    a[r].iter().sum::<i32>() * 10000 + folded(a)
}

pub fn some_elements_if_they_are_there() -> i32 {
    let a = [1, 2, 3];
    a.get(1..3).is_some() as i32 * 10 + a.get(1..5).is_some() as i32
}
