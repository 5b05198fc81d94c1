//! Arms, fragments and repetitions of macros.

macro_rules! product {
    ($a:expr, $b:expr) => {
        $a * $b
    };
}

macro_rules! negated {
    ($a:expr) => {
        -$a
    };
}

macro_rules! less {
    ($a:expr) => {
        $a - 1
    };
}

macro_rules! size {
    ($a:expr) => {
        $a.abs()
    };
}

pub fn expressions_are_grouped() -> i32 {
    product!(1 + 2, 3 - 1) * 100 + negated!(2 - 5) * 10 + less!(if true { 4 } else { 5 })
}

pub fn blocks_are_grouped() -> i32 {
    let a = less!({ 3 });
    let b = less!(match a {
        2 => 9,
        _ => 0,
    });
    a * 10 + b + less!(unsafe { 5 }) * 1000
}

pub fn methods_on_a_group() -> i32 {
    size!(-3i32) * 10 + size!(1 - 5i32) + size!({ -7i32 }) * 100
}

pub fn ranges_and_casts() -> i32 {
    macro_rules! cast {
        ($e:expr, $t:ty) => {
            $e as $t
        };
    }
    macro_rules! total {
        ($r:expr) => {{
            let mut s = 0;
            for i in $r {
                s += i;
            }
            s
        }};
    }
    cast!(255 + 1, u8) as i32 + cast!(-1i8, u8) as i32 + total!(0..4) * 1000 + total!(1..=cast!(3, i32))
}

pub fn comparisons_in_a_group() -> i32 {
    macro_rules! not {
        ($e:expr) => {
            !$e
        };
    }
    not!(1 == 2) as i32 + not!(false || true) as i32 * 10
}

macro_rules! kind {
    (0) => {
        1
    };
    ($l:literal) => {
        2
    };
    ($i:ident) => {
        3
    };
    (- $e:expr) => {
        4
    };
    ($e:expr) => {
        5
    };
    ($($t:tt)*) => {
        6
    };
}

macro_rules! kind_of_expr {
    ($e:expr) => {
        kind!($e)
    };
}

macro_rules! kind_of_tt {
    ($e:tt) => {
        kind!($e)
    };
}

macro_rules! kind_of_ident {
    ($e:ident) => {
        kind!($e)
    };
}

pub fn arms_in_order() -> i32 {
    kind!(0) + kind!(7) * 10 + kind!(x) * 100 + kind!(x y) * 1000 + kind!(1 + 1) * 10000 + kind!() * 100000
}

pub fn a_minus_before_a_literal() -> i32 {
    kind!(-1) + kind!((-1)) * 10 + kind!("a") * 100 + kind!(true) * 1000 + kind!(1.5) * 10000
}

pub fn fragments_are_opaque() -> i32 {
    kind_of_expr!(0)
        + kind_of_expr!(x) * 10
        + kind_of_tt!(0) * 100
        + kind_of_ident!(x) * 1000
        + kind_of_expr!(1 + 1) * 10000
}

macro_rules! list {
    ($($x:expr),* $(,)?) => { [$($x),*] };
    ($x:expr; $n:expr) => { [$x; $n] };
}

pub fn lists() -> i32 {
    let a: [i32; 3] = list![1, 2, 3,];
    let b: [i32; 0] = list![];
    let c = list![7; 4];
    a[2] * 100 + b.len() as i32 + c.len() as i32 + c[3] * 10
}

macro_rules! nested_lists {
    ($($name:ident: [$($v:expr),*]);* $(;)?) => {{
        let mut s = 0;
        $(
            let $name = 0 $(+ $v)*;
            s = s * 100 + $name;
            $( s += $v * 0 + 1; )*
        )*
        s
    }};
}

pub fn repetitions_in_repetitions() -> i32 {
    nested_lists!(a: [1, 2]; b: []; c: [a, b, 5];)
}

macro_rules! cross {
    ($($a:literal)+ ; $b:ident) => {
        0 $(+ $a * $b)+
    };
}

pub fn a_variable_of_less_depth() -> i32 {
    let k = 10;
    cross!(1 2 3; k)
}

macro_rules! zipped {
    ($($a:expr),* ; $($b:expr),*) => {
        0 $(+ $a * $b)*
    };
}

pub fn two_in_one_repetition() -> i32 {
    zipped!(1, 2, 3; 4, 5, 6)
}

macro_rules! optional {
    ($a:expr $(, by $b:expr)? $(; $c:ident)*) => {
        $a $(* $b)? $(+ $c)*
    };
}

pub fn optional_parts() -> i32 {
    let (x, y) = (100, 1000);
    optional!(2) + optional!(3, by 4) + optional!(5; x; y)
}

macro_rules! count {
    () => { 0usize };
    ($_h:tt $($t:tt)*) => { 1 + count!($($t)*) };
}

pub fn counted_trees() -> i32 {
    count!(a b (c d) [e, f] {g} 'h' -> == 1.5 <<= x::y) as i32
}

macro_rules! operator {
    ($a:tt plus $b:tt) => { $a + $b };
    ($a:tt $o:tt $b:tt) => { $a $o $b };
}

pub fn operators_as_trees() -> i32 {
    operator!(3 plus 4) + operator!(3 << 4) * 10 + operator!((1 + 1) * (2 + 3)) * 1000
}

macro_rules! typed {
    ($t:ty) => {
        <$t>::MAX as i32
    };
    ($t:ty, $($v:expr),+) => {
        { let a: [$t; [$($v),+].len()] = [$($v),+]; a[a.len() - 1] as i32 }
    };
}

pub fn types() -> i32 {
    typed!(i8) + typed!(u16) * 10 + typed!(u8, 1, 2, 250) * 1000000
}

macro_rules! path_of {
    ($p:path) => {
        $p(3)
    };
}

mod functions {
    pub fn twice(x: i32) -> i32 {
        x * 2
    }
}

pub fn paths() -> i32 {
    use functions::twice as t;
    path_of!(functions::twice) + path_of!(t) * 10 + path_of!(Some).unwrap() * 100
}

macro_rules! statements {
    ($e:expr => $($s:stmt;)*) => {{
        $($s;)*
        $e
    }};
}

pub fn statements_as_fragments() -> i32 {
    statements! { a + b => let a = 3; let b = a * 2; }
}

macro_rules! with_block {
    ($b:block $i:item) => {{
        $i
        $b
    }};
}

pub fn blocks_and_items() -> i32 {
    with_block!({ G + 1 } const G: i32 = 5;)
}

macro_rules! either {
    ($p:pat => $e:expr) => {
        match 5 {
            $p => $e,
            _ => 0,
        }
    };
    ($p:pat_param | $q:pat_param => $e:expr) => {
        1
    };
}

pub fn patterns() -> i32 {
    either!(4 | 5 => 7) + either!(n @ 1..=9 => n * 10) + either!((0..3) | 8 => 1)
}

macro_rules! visible {
    ($v:vis fn $n:ident = $e:expr) => {
        $v fn $n() -> i32 {
            $e
        }
    };
}

mod seen {
    visible!(pub fn one = 1);
    visible!(pub(crate) fn two = 2);
    visible!(fn three = 3);
    pub fn four() -> i32 {
        three() + 1
    }
}

pub fn visibilities() -> i32 {
    seen::one() * 100 + seen::two() * 10 + seen::four()
}

macro_rules! tokens {
    ([$($a:tt)*] $($b:tt)*) => {
        ($($b)* $($a)*)
    };
}

pub fn pieces_are_joined() -> i32 {
    tokens!([* 3] 1 + 2)
}

macro_rules! reversed {
    ([] $($r:tt)*) => { $($r)* };
    ([$h:tt $($t:tt)*] $($r:tt)*) => { reversed!([$($t)*] $h $($r)*) };
}

pub fn pieces_are_reversed() -> i32 {
    reversed!([10 - 7 - 30])
}

macro_rules! callback {
    ($m:ident, $($a:tt)*) => {
        $m!($($a)* 1)
    };
}

pub fn a_macro_as_an_argument() -> i32 {
    callback!(product, 4 + 2,) + callback!(count, a b) as i32 * 100
}

macro_rules! braces {
    { $($k:literal => $v:expr),* } => {
        |x: i32| match x { $($k => $v,)* other => other * 2 }
    };
}

pub fn a_table() -> i32 {
    let f = braces! { 1 => 10, -2 => 20 };
    f(1) + f(-2) * 10 + f(3) * 1000
}

macro_rules! literal_cases {
    ($a:literal) => {
        match 3 {
            $a => $a * 2,
            _ => $a,
        }
    };
}

pub fn literals_as_patterns() -> i32 {
    literal_cases!(3) * 100 + literal_cases!(-4)
}

macro_rules! keyword {
    (let $($r:tt)*) => {
        1
    };
    (if $($r:tt)*) => {
        2
    };
    (self) => {
        3
    };
    ($i:ident) => {
        4
    };
}

pub fn keywords() -> i32 {
    keyword!(let x)
        + keyword!(if y) * 10
        + keyword!(self) * 100
        + keyword!(lets) * 1000
        + keyword!(match) * 10000
}

macro_rules! built_in {
    ($($t:tt)*) => {
        stringify!($($t)*).len() as i32
    };
}

pub fn stringified() -> i32 {
    built_in!(a + b) + concat!("ab", 1, true).len() as i32 * 100
}

macro_rules! dollars {
    ($($x:ident)*) => {
        $( macro_rules! $x { ($e:expr) => { $e + stringify!($x).len() as i32 } } )*
    };
}

pub fn macros_in_a_repetition() -> i32 {
    dollars!(one three);
    one!(10) + three!(100)
}
