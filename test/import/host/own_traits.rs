//! Traits of the language that the input implements itself.

struct Count<'a>(&'a mut i32, i32);

impl Drop for Count<'_> {
    fn drop(&mut self) {
        *self.0 = *self.0 * 10 + self.1;
    }
}

pub fn a_drop_at_the_end_of_a_block() -> i32 {
    let mut n = 1;
    {
        let _c = Count(&mut n, 2);
    }
    n
}

pub fn a_drop_of_a_temporary() -> i32 {
    let mut n = 1;
    let _ = Count(&mut n, 3);
    Count(&mut n, 4);
    n
}

#[derive(Clone, Copy)]
struct Mod7(i32);

impl PartialEq for Mod7 {
    fn eq(&self, o: &Mod7) -> bool {
        self.0 % 7 == o.0 % 7
    }
}

pub fn equality() -> i32 {
    (Mod7(3) == Mod7(10)) as i32
        + (Mod7(3) != Mod7(10)) as i32 * 10
        + (Some(Mod7(1)) == Some(Mod7(8))) as i32 * 100
        + ([Mod7(1)] == [Mod7(15)]) as i32 * 1000
}

#[derive(PartialEq)]
struct Holder {
    m: Mod7,
    n: i32,
}

pub fn equality_of_a_part() -> i32 {
    (Holder { m: Mod7(1), n: 2 } == Holder { m: Mod7(8), n: 2 }) as i32
}

struct Cloned(i32);

impl Clone for Cloned {
    fn clone(&self) -> Self {
        Cloned(self.0 + 1)
    }
}

pub fn clones() -> i32 {
    let a = Cloned(5);
    let b = a.clone();
    let c = Some(Cloned(1)).clone().unwrap();
    b.0 * 100 + a.0 + c.0 * 1000
}

#[derive(Clone)]
struct Outer(Cloned, i32);

pub fn clones_of_a_part() -> i32 {
    let a = Outer(Cloned(5), 1);
    a.clone().0.0 * 10 + a.1
}

pub fn clones_of_elements() -> i32 {
    let a = [Cloned(1), Cloned(2)];
    a.iter().cloned().map(|c| c.0).sum()
}

pub fn clones_of_options() -> i32 {
    let a = Some(Cloned(1));
    a.as_ref().cloned().unwrap().0
}

// The last element gets the value itself.
pub fn clones_of_what_fills() -> i32 {
    let mut a = [Cloned(1), Cloned(2), Cloned(3)];
    a.fill(Cloned(5));
    a[0].0 * 100 + a[1].0 * 10 + a[2].0
}

pub fn clones_of_variables_in_a_closure() -> i32 {
    let c = Cloned(1);
    let f = move || {
        let d = &c;
        d.0
    };
    let g = f.clone();
    g()
}

struct Preset {
    n: i32,
}

impl Default for Preset {
    fn default() -> Self {
        Preset { n: 42 }
    }
}

#[derive(Default)]
struct Presets {
    p: Preset,
    q: i32,
}

pub fn defaults() -> i32 {
    let p = Preset::default();
    let q: Presets = Default::default();
    p.n * 100 + q.p.n + q.q
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Reverse(i32);

impl PartialOrd for Reverse {
    fn partial_cmp(&self, o: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(o))
    }
}

impl Ord for Reverse {
    fn cmp(&self, o: &Self) -> std::cmp::Ordering {
        o.0.cmp(&self.0)
    }
}

pub fn orders() -> i32 {
    let m = Reverse(3).max(Reverse(5));
    let n = [Reverse(1), Reverse(2)].into_iter().max().unwrap();
    let t = (Reverse(1), 0) < (Reverse(2), 0);
    let mut a = [Reverse(1), Reverse(3), Reverse(2)];
    a.sort();
    m.0 * 1000 + n.0 * 100 + t as i32 * 10 + a[0].0
}

struct Target {
    n: i32,
}

struct Pointer(Target);

impl std::ops::Deref for Pointer {
    type Target = Target;
    fn deref(&self) -> &Target {
        &self.0
    }
}

impl Target {
    fn get(&self) -> i32 {
        self.n
    }
}

pub fn dereferences() -> i32 {
    let p = Pointer(Target { n: 7 });
    p.n * 10 + p.get()
}

#[derive(Clone, Copy)]
struct Acc(i32);

impl std::ops::AddAssign<i32> for Acc {
    fn add_assign(&mut self, by: i32) {
        self.0 = self.0 * 2 + by;
    }
}

impl std::ops::Not for Acc {
    type Output = i32;
    fn not(self) -> i32 {
        self.0 * 100
    }
}

impl std::ops::Sub for Acc {
    type Output = Acc;
    fn sub(self, o: Acc) -> Acc {
        Acc(o.0 - self.0)
    }
}

impl std::ops::Add<Acc> for i32 {
    type Output = i32;
    fn add(self, o: Acc) -> i32 {
        self * 1000 + o.0
    }
}

pub fn operators() -> i32 {
    let mut a = Acc(3);
    a += 4;
    !a + (Acc(1) - Acc(5)).0
}

pub fn an_operator_on_a_number() -> i32 {
    5 + Acc(7)
}

pub fn order_of_an_operator_of_its_own() -> i32 {
    let mut a = [Acc(1), Acc(2)];
    let mut i = 0;
    a[i] += {
        i = 1;
        10
    };
    a[0].0 * 100 + a[1].0 + i as i32
}

struct Grid([i32; 4]);

impl std::ops::Index<(usize, usize)> for Grid {
    type Output = i32;
    fn index(&self, (i, j): (usize, usize)) -> &i32 {
        &self.0[i * 2 + j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Grid {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut i32 {
        &mut self.0[j * 2 + i]
    }
}

pub fn indices() -> i32 {
    let mut g = Grid([1, 2, 3, 4]);
    g[(0, 1)] = 9;
    g[(0, 1)] * 10 + g[(1, 0)]
}

struct Three;

impl IntoIterator for Three {
    type Item = i32;
    type IntoIter = std::array::IntoIter<i32, 3>;
    fn into_iter(self) -> Self::IntoIter {
        [3, 2, 1].into_iter()
    }
}

pub fn a_loop_through_its_own() -> i32 {
    let mut s = 0;
    for x in Three {
        s = s * 10 + x;
    }
    s
}

#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    High = 10,
    Low = 1,
}

pub fn derived_order_of_variants() -> i32 {
    (Level::High < Level::Low) as i32 + ((Level::High as i32) < Level::Low as i32) as i32 * 10
}

trait Extra {
    fn pow(self, n: u32) -> i32;
    fn triple(self) -> i32;
    fn count_ones(&self) -> u32;
}

impl Extra for i32 {
    fn pow(self, _: u32) -> i32 {
        -1
    }
    fn triple(self) -> i32 {
        self * 3
    }
    fn count_ones(&self) -> u32 {
        99
    }
}

pub fn inherent_methods_of_numbers_go_first() -> i32 {
    2i32.pow(3) * 100 + 7i32.count_ones() as i32
}

pub fn a_method_of_numbers() -> i32 {
    4.triple()
}

trait Ext {
    fn first(&self) -> i32;
    fn len(&self) -> i32;
}

impl Ext for [i32; 2] {
    fn first(&self) -> i32 {
        -5
    }
    fn len(&self) -> i32 {
        77
    }
}

pub fn methods_of_arrays() -> i32 {
    let a = [1, 2];
    a.first() * 100 + a.len()
}

trait Opt {
    fn unwrap_or(self, x: i32) -> i32;
    fn is_some(self) -> bool;
}

impl Opt for Option<i32> {
    fn unwrap_or(self, x: i32) -> i32 {
        x * 1000
    }
    fn is_some(self) -> bool {
        false
    }
}

pub fn methods_of_options() -> i32 {
    Some(3).unwrap_or(4) * 10 + Some(1).is_some() as i32
}

impl From<Mod7> for i32 {
    fn from(m: Mod7) -> i32 {
        m.0 % 7
    }
}

pub fn conversions() -> i32 {
    let x: i32 = Mod7(10).into();
    i32::from(Mod7(12)) * 10 + x
}

struct Sealed;

impl Sealed {
    fn new() -> i32 {
        3
    }
    fn default() -> i32 {
        4
    }
    fn from(x: i32) -> i32 {
        x * 2
    }
    fn max(a: i32, b: i32) -> i32 {
        a * 10 + b
    }
}

pub fn functions_named_as_those_of_std() -> i32 {
    Sealed::new() + Sealed::default() * 10 + Sealed::from(4) * 100 + Sealed::max(1, 2) * 10000
}

mod std_like {
    pub mod cmp {
        pub fn max(a: i32, b: i32) -> i32 {
            a - b
        }
    }
    pub fn min(a: i32, b: i32) -> i32 {
        a * b
    }
}

pub fn modules_named_as_those_of_std() -> i32 {
    use std_like::cmp;
    use std_like::min;
    mod std {
        pub fn swap() -> i32 {
            6
        }
    }
    cmp::max(9, 4) + min(3, 5) * 10 + std::swap() * 1000 + ::std::cmp::max(1, 2) * 10000
}
