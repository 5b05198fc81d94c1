//! Iterators and ranges with a state: what one use takes, the next does not see.

pub fn range_next() -> i32 {
    let mut r = 5..8;
    let a = r.next().unwrap();
    let b = r.next().unwrap();
    a * 10 + b
}

pub fn range_next_then_for() -> i32 {
    let mut r = 0..5;
    r.next();
    let mut s = 0;
    for x in r {
        s = s * 10 + x;
    }
    s
}

pub fn range_for_by_ref() -> i32 {
    let mut r = 0..6;
    let mut s = 0;
    for x in r.by_ref() {
        if x == 2 {
            break;
        }
        s += x;
    }
    for x in &mut r {
        s += x * 10;
        if x == 4 {
            break;
        }
    }
    s * 10 + r.next().unwrap()
}

pub fn range_find() -> i32 {
    let mut r = 0..10;
    let a = r.find(|x| x % 4 == 3).unwrap();
    let b = r.next().unwrap();
    a * 10 + b
}

pub fn range_any() -> i32 {
    let mut r = 0..10;
    let a = r.any(|x| x == 3);
    let b = r.position(|x| x == 6).unwrap() as i32;
    a as i32 * 100 + b * 10 + r.next().unwrap()
}

pub fn range_nth() -> i32 {
    let mut r = 0..10;
    r.nth(2);
    let a = r.nth(1).unwrap();
    a * 10 + r.next().unwrap()
}

pub fn range_next_back() -> i32 {
    let mut r = 0..10;
    let a = r.next_back().unwrap();
    let b = r.next_back().unwrap();
    a * 10 + b
}

pub fn range_inclusive_next() -> i32 {
    let mut r = 1..=2;
    let a = r.next();
    let b = r.next();
    let c = r.next();
    a.unwrap() * 100 + b.unwrap() * 10 + c.is_none() as i32
}

pub fn range_all() -> i32 {
    let mut r = 0..10;
    let a = r.all(|x| x < 4);
    a as i32 * 10 + r.next().unwrap()
}

pub fn range_try() -> i32 {
    let mut r = 0..10;
    let a: i32 = r.by_ref().take_while(|x| *x < 3).sum();
    a * 10 + r.next().unwrap()
}

pub fn range_through_a_function() -> i32 {
    fn two(it: &mut impl Iterator<Item = i32>) -> i32 {
        it.next().unwrap() * 10 + it.next().unwrap()
    }
    let mut r = 3..9;
    let a = two(&mut r);
    a * 100 + two(&mut r)
}

pub fn range_in_a_structure() -> i32 {
    struct S {
        r: std::ops::Range<i32>,
    }
    let mut s = S { r: 1..5 };
    s.r.next();
    s.r.next().unwrap() * 10 + s.r.len() as i32
}

pub fn iter_by_ref() -> i32 {
    let a = [1, 2, 3, 4, 5];
    let mut it = a.iter();
    let s: i32 = it.by_ref().take(2).sum();
    let t: i32 = it.by_ref().skip(1).take(1).sum();
    s * 100 + t * 10 + it.next().unwrap()
}

pub fn iter_any() -> i32 {
    let mut it = [1, 2, 3, 4].iter();
    let a = it.any(|&x| x == 2);
    let p = it.position(|&x| x == 4).unwrap();
    a as i32 * 10 + p as i32
}

pub fn iter_for_by_ref() -> i32 {
    let mut it = [1, 2, 3, 4].into_iter();
    let mut s = 0;
    for x in it.by_ref() {
        s += x;
        if x == 2 {
            break;
        }
    }
    s * 10 + it.next().unwrap()
}

pub fn iter_next_back() -> i32 {
    let mut it = [1, 2, 3, 4].into_iter();
    let a = it.next_back().unwrap();
    let b = it.next().unwrap();
    a * 100 + b * 10 + it.len() as i32
}

pub fn map_next() -> i32 {
    let mut n = 0;
    let mut it = (1..5).map(|x| {
        n += x;
        x * 2
    });
    let a = it.next().unwrap();
    let b = it.next().unwrap();
    a * 100 + b * 10 + n
}

pub fn peek() -> i32 {
    let mut it = [1, 2, 3].iter().peekable();
    let a = **it.peek().unwrap();
    it.next();
    a * 10 + *it.next().unwrap()
}

pub fn zip_stops() -> i32 {
    let mut a = [1, 2, 3, 4].into_iter();
    let mut b = [10, 20].into_iter();
    let mut s = 0;
    for (x, y) in a.by_ref().zip(b.by_ref()) {
        s += x * y;
    }
    s * 10 + a.next().unwrap()
}

pub fn chunk_sums() -> i32 {
    let a = [1, 2, 3, 4, 5, 6, 7];
    let mut s = 0;
    for c in a.chunks(3) {
        s = s * 100 + c.iter().sum::<i32>();
    }
    for c in a.chunks_exact(3) {
        s += c[0];
    }
    s
}

pub fn rev_of_things() -> i32 {
    let mut s = 0;
    for (i, x) in [5, 6, 7].iter().enumerate().rev() {
        s = s * 10 + i as i32 * x;
    }
    for (i, x) in [5, 6, 7].iter().rev().enumerate() {
        s = s * 10 + i as i32 * x;
    }
    s
}

pub fn step_after_skip() -> i32 {
    let mut s = 0i64;
    for x in (0..20).skip(3).step_by(4) {
        s = s * 100 + x;
    }
    for x in (0..20).step_by(4).skip(3) {
        s = s * 100 + x;
    }
    (s % 1_000_000_007) as i32
}

pub fn min_max_ties() -> i32 {
    let a = [(1, 5), (2, 5), (3, 1), (4, 1)];
    let m = a.iter().max_by_key(|t| t.1).unwrap().0;
    let n = a.iter().min_by_key(|t| t.1).unwrap().0;
    m * 10 + n
}

pub fn fold_order() -> i32 {
    let f = (1..4).fold(0, |a, x| a * 10 + x);
    let r = (1..4).rev().fold(0, |a, x| a * 10 + x);
    let s = [1, 2, 3].iter().rfold(0, |a, x| a * 10 + x);
    f * 1000000 + r * 1000 + s
}

pub fn scan_and_flat() -> i32 {
    let s: i32 = (1..5)
        .scan(0, |a, x| {
            *a += x;
            Some(*a)
        })
        .sum();
    let t: i32 = (1..4).flat_map(|x| 0..x).sum();
    s * 10 + t
}

pub fn reduce_and_last() -> i32 {
    let a = (1..5).reduce(|a, b| a * 10 + b).unwrap();
    let b = (1..5).last().unwrap();
    a + b
}

pub fn cycle_take() -> i32 {
    [1, 2, 3].iter().cycle().take(7).sum::<i32>() + std::iter::repeat(4).take(3).sum::<i32>() * 100
}

pub fn successors() -> i32 {
    std::iter::successors(Some(1), |x| if *x < 100 { Some(x * 3) } else { None }).sum::<i32>()
}

pub fn count_after_filter() -> i32 {
    let mut n = 0;
    let c = (0..10)
        .filter(|x| {
            n += 1;
            x % 3 == 0
        })
        .count();
    c as i32 * 100 + n
}

pub fn short_any() -> i32 {
    let mut n = 0;
    let a = (0..10).any(|x| {
        n += 1;
        x == 3
    });
    let b = (0..10).all(|x| {
        n += 10;
        x < 2
    });
    n + a as i32 * 1000 + b as i32 * 2000
}

pub fn filter_map_order() -> i32 {
    let mut log = 0;
    let s: i32 = (1..4)
        .filter(|x| {
            log = log * 10 + x;
            x % 2 == 1
        })
        .map(|x| x * x)
        .sum();
    s * 10000 + log
}

pub fn interleaved_effects() -> i32 {
    use std::cell::Cell;
    let log = Cell::new(0);
    let s: i32 = (1..3)
        .map(|x| {
            log.set(log.get() * 10 + x);
            x
        })
        .map(|x| {
            log.set(log.get() * 10 + x + 4);
            x
        })
        .sum();
    log.get() + s
}

pub fn sum_of_floats() -> i32 {
    let s: f32 = [0.1f32; 10].iter().sum();
    let t = [0.1f32; 10].iter().fold(0.0, |a, x| a + x);
    let p: f32 = [1.1f32, 2.2, 3.3].iter().product();
    (s.to_bits() ^ p.to_bits()) as i32 + (s == t) as i32
}

pub fn sum_of_no_floats() -> i32 {
    let s: f32 = [0.0f32; 0].iter().sum();
    let t: f32 = [-0.0f32].iter().sum();
    (s.to_bits() >> 28) as i32 * 10 + (t.to_bits() >> 28) as i32
}

pub fn unzip_like() -> i32 {
    let mut a = [0; 3];
    for (x, (i, y)) in a.iter_mut().zip([4, 5, 6].iter().enumerate()) {
        *x = i as i32 * 10 + y;
    }
    a[0] + a[1] * 10 + a[2] * 100
}

pub fn char_range() -> i32 {
    let mut s = 0;
    for c in 'a'..='c' {
        s += c as i32;
    }
    s
}

pub fn wide_range() -> i32 {
    let mut s = 0u128;
    for i in (u128::MAX - 2)..=u128::MAX {
        s ^= i;
    }
    (s as i32) + (u64::MAX - 1..u64::MAX).count() as i32
}

pub fn compare_iterators() -> i32 {
    (1..4).eq([1, 2, 3]) as i32 + [1, 2].iter().lt([1, 3].iter()) as i32 * 10
}
