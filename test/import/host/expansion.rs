//! Expansion of macros: positions, names of std, captured arguments, groups, fragments.

macro_rules! matches {
    ($($t:tt)*) => {
        77
    };
}

macro_rules! assert {
    ($e:expr) => {
        $e as i32 + 5
    };
}

macro_rules! cfg {
    ($($t:tt)*) => {
        3
    };
}

macro_rules! vec {
    ($($e:expr),*) => { 0 $(+ $e)* };
}

macro_rules! panic {
    () => {
        9
    };
}

macro_rules! stringify {
    ($e:expr) => {
        $e * 2
    };
}

pub fn macros_named_as_those_of_std() -> i32 {
    matches!(1, 2)
        + assert!(1 == 2) * 100
        + cfg!(test) * 1000
        + vec![1, 2] * 10000
        + panic!() * 100000
        + stringify!(4) * 1000000
}

macro_rules! pat {
    () => { 3 | 4 };
    ($n:ident) => { Some($n @ 1..=9) };
}

macro_rules! ty {
    () => {
        u8
    };
    ([$t:ty]) => {
        [$t; 2]
    };
}

pub fn in_patterns() -> i32 {
    let f = |x| match x {
        pat!() => 1,
        _ => 2,
    };
    let g = |o| if let pat!(k) = o { k } else { 0 };
    f(3) + f(5) * 10 + g(Some(7)) * 100 + g(Some(10)) * 1000
}

pub fn in_types() -> i32 {
    let x: ty!() = 255;
    let y: ty!([ty!()]) = [200, 100];
    fn f(a: ty!()) -> ty!() {
        a << 1
    }
    x as i32 + y[0].wrapping_add(y[1]) as i32 * 1000 + f(0x81) as i32 * 1000000
}

macro_rules! consts {
    ($($n:ident = $e:expr),*) => { $(const $n: i32 = $e;)* };
}

struct S(i32);
macro_rules! methods {
    ($($n:ident: $by:expr),*) => { $(fn $n(&self) -> i32 { self.0 * $by })* };
}

impl S {
    consts!(A = 2, B = Self::A * 10);
    methods!(twice: 2, thrice: 3);
}

pub fn in_implementations() -> i32 {
    S(5).twice() + S(5).thrice() * 100 + S::B * 10000
}

macro_rules! of_self {
    ($s:ident) => {
        $s.0 + 1
    };
}

impl S {
    fn own(self) -> i32 {
        of_self!(self)
    }
}

pub fn self_as_an_argument() -> i32 {
    S(8).own()
}

macro_rules! outer {
    ($n:ident, $k:expr) => {
        macro_rules! $n {
            ($e:expr) => {
                $e * 10 + $k
            };
        }
    };
}

pub fn captured_arguments() -> i32 {
    let k = 3;
    outer!(inner, k + 1);
    let k = 100;
    inner!(k) + {
        let k = 7;
        inner!(k)
    } * 10000
}

macro_rules! block_const {
    () => {{
        const K: i32 = 5;
        K
    }};
    ($e:expr) => {{
        const K: i32 = 50;
        $e + K
    }};
}

pub fn constants_in_a_macro() -> i32 {
    const K: i32 = 1;
    block_const!() * 100 + K + block_const!(2) * 1000
}

macro_rules! braces {
    ($($t:tt)*) => { $($t)* };
}

pub fn delimiters() -> i32 {
    let mut n = 1;
    braces! { n += 1; }
    braces![n *= 5];
    braces!(n -= 2);
    braces! { let m = n; }
    (braces! { m }) - 1
}

pub fn a_statement_macro_then_minus() -> i32 {
    let f = || {
        braces! { 3 }
    };
    f() + 1
}

macro_rules! repeat_sep {
    ($($k:ident => $v:expr);+ $(;)?) => { [$(($v, stringify_len!($k))),+] };
}

macro_rules! stringify_len {
    (a) => {
        1
    };
    (b) => {
        2
    };
    ($k:ident) => {
        3
    };
}

pub fn separators() -> i32 {
    let a = repeat_sep!(a => 10; b => 20; zz => 30;);
    a[0].0 * 100 + a[1].1 * 10 + a[2].1
}

macro_rules! deep {
    ($( $n:ident { $( $f:ident : [ $( $v:expr ),* ] )* } )*) => {{
        let mut s = 0;
        $( $( s = s * 10 + [0 $(, $v)*].len() as i32; )* s = s * 100 + stringify_len!($n); )*
        s
    }};
}

pub fn three_levels() -> i32 {
    deep!(a { x: [1, 2] y: [] } b { z: [3] } c { })
}

macro_rules! tail {
    (@acc $acc:expr;) => { $acc };
    (@acc $acc:expr; $h:expr $(, $t:expr)*) => { tail!(@acc $acc * 10 + $h; $($t),*) };
    ($($t:expr),*) => { tail!(@acc 0; $($t),*) };
}

pub fn accumulated() -> i32 {
    tail!(1, 2, 1 + 2)
}

macro_rules! accumulated_tokens {
    (@ [$($acc:tt)*]) => { $($acc)* };
    (@ [$($acc:tt)*] $h:literal $($t:literal)*) => { accumulated_tokens!(@ [$($acc)* + $h * 2] $($t)*) };
    ($($t:literal)*) => { accumulated_tokens!(@ [0] $($t)*) };
}

pub fn accumulated_tokens() -> i32 {
    accumulated_tokens!(1 2 3)
}

macro_rules! maybe {
    ($a:ident $(: $t:ty)? $(= $e:expr)?) => {{ let $a $(: $t)? = 1 $(+ $e)?; $a }};
}

pub fn optional_types() -> i32 {
    let a = maybe!(x: u8 = 255 - 1);
    let b = maybe!(y);
    a as i32 + b * 1000
}

macro_rules! fns {
    ($($v:vis $n:ident($($p:ident: $t:ty),*) $b:block)*) => { $($v fn $n($($p: $t),*) -> i32 $b)* };
}

fns! {
    pub first(a: i32, b: u8) { a * 10 + b as i32 }
    second() { first(1, 2) + 1 }
}

pub fn generated_functions() -> i32 {
    second() * 100 + first(3, 4)
}

macro_rules! enums {
    ($n:ident { $($v:ident = $e:expr),* }) => {
        #[derive(Clone, Copy)]
        enum $n { $($v = $e),* }
        impl $n { const ALL: &'static [$n] = &[$($n::$v),*]; }
    };
}

enums!(Colour { Red = 1, Green = 5, Blue = -1 });
pub fn generated_enumerations() -> i32 {
    let mut s = 0;
    for c in Colour::ALL {
        s = s * 10 + *c as i32;
    }
    s
}

macro_rules! lifetime {
    ($l:lifetime: $b:block) => { $l: loop { $b break $l; } };
}

pub fn loop_of_the_user_in_a_macro() -> i32 {
    let mut n = 0;
    for i in 0..4 {
        lifetime!('q: {
            n += 1;
            if i == 2 {
                break 'q;
            }
            n += 10;
        });
    }
    n
}

macro_rules! unlabelled {
    ($b:block) => {
        loop {
            $b
        }
    };
}

pub fn break_of_the_user_in_a_loop_of_the_macro() -> i32 {
    let mut n = 0;
    loop {
        n += 100;
        unlabelled!({
            n += 1;
            if n % 10 == 3 {
                break;
            }
        });
        if n > 250 {
            break;
        }
    }
    n
}

macro_rules! closure {
    (|$($p:ident),*| $e:expr) => { |$($p: i32),*| -> i32 { $e } };
}

pub fn generated_closures() -> i32 {
    let k = 5;
    let f = closure!(|a, b| a * b + k);
    f(2, 3)
}

macro_rules! expr_or {
    ($e:expr, or $d:expr) => {
        $e * 2 + $d
    };
    ($e:expr, $d:expr) => {
        $e - $d
    };
}

pub fn keywords_after_a_comma() -> i32 {
    let or = 1;
    expr_or!(3, or 4) * 100 + expr_or!(3, or + 0) + or
}

macro_rules! literals {
    (true) => {
        1
    };
    (-1) => {
        2
    };
    (1.5) => {
        3
    };
    ("s") => {
        4
    };
    ('c') => {
        5
    };
    ($l:literal) => {
        6
    };
}

pub fn literal_arms() -> i32 {
    literals!(true)
        + literals!(-1) * 10
        + literals!(1.5) * 100
        + literals!("s") * 1000
        + literals!('c') * 10000
        + literals!(-2) * 100000
}

macro_rules! neg_lit {
    ($l:literal) => {
        $l.pow(2)
    };
    ($e:expr) => {
        1000
    };
}

pub fn a_negative_literal_is_one_literal() -> i32 {
    neg_lit!(-3i32)
}

macro_rules! sub_lit {
    ($a:literal $b:literal) => {
        $a * 100 + $b
    };
}

pub fn literals_side_by_side() -> i32 {
    sub_lit!(3 - 2)
}

macro_rules! index {
    ($a:expr, $i:expr) => {
        $a[$i]
    };
}

macro_rules! call {
    ($f:expr, $($a:expr),*) => { $f($($a),*) };
}

macro_rules! as_type {
    ($e:expr => $($t:ty)|+) => { 0 $(+ ($e as $t) as i64)+ };
}

pub fn postfix_on_groups() -> i32 {
    let a = [[1, 2], [3, 4]];
    index!(a, 0)[1]
        + index!(index!(a, 1), 0) * 10
        + index!([5, 6], 1) * 100
        + call!(|x, y| x - y, 9, 2 + 3) * 1000
        + as_type!(-1i8 => u8 | i8 | u16) as i32 * 10000
}

macro_rules! range {
    ($a:expr, $b:expr) => {
        $a..$b
    };
}

pub fn ranges_of_groups() -> i32 {
    let mut s = 0;
    for i in range!(1, 2 + 2) {
        s = s * 10 + i;
    }
    for i in range!(0, 3).rev() {
        s = s * 10 + i;
    }
    s
}

macro_rules! assign {
    ($p:expr, $v:expr) => {
        $p = $v
    };
    (+ $p:expr, $v:expr) => {
        $p += $v
    };
}

pub fn places_as_arguments() -> i32 {
    let mut a = [1, 2, 3];
    let mut t = (1, 2);
    let mut x = 0;
    assign!(a[1], 20);
    assign!(+ t.0, a[1]);
    assign!(x, t.0 + t.1);
    let r = &mut x;
    assign!(*r, *r * 2);
    x * 100 + a[1] + t.0
}

macro_rules! cond {
    ($($c:expr => $v:expr),+ ; $d:expr) => { if false { $d } $(else if $c { $v })+ else { $d } };
}

pub fn chains_of_branches() -> i32 {
    let f = |x: i32| cond!(x < 0 => -1, x == 0 => 0, x > 100 => 2; 1);
    f(-5) * 1000 + f(0) * 100 + f(500) * 10 + f(5)
}

mod deep_mod {
    #[macro_export]
    macro_rules! with_crate {
        ($e:expr) => {
            $crate::deep_mod::scale($e) + $crate::BASE
        };
    }
    pub fn scale(x: i32) -> i32 {
        x * 3
    }
    pub mod inner {
        pub fn scale(x: i32) -> i32 {
            x * 1000
        }
        pub fn run() -> i32 {
            with_crate!(2) + crate::with_crate!(scale(1))
        }
    }
}
pub const BASE: i32 = 40;
pub fn crate_paths() -> i32 {
    const BASE: i32 = 1;
    with_crate!(BASE) + deep_mod::inner::run()
}

pub fn assertion_arguments() -> i32 {
    let mut n = 0;
    debug_assert!({
        n += 1;
        true
    });
    debug_assert_eq!(
        {
            n += 10;
            1
        },
        1
    );
    std::assert!(n == 11, "{}", {
        n += 100;
        n
    });
    std::assert_ne!(
        {
            n += 1000;
            n
        },
        0
    );
    n
}

pub fn dbg_gives_its_value() -> i32 {
    let x = 3;
    let y = std::convert::identity(x + 1);
    y * 2
}
