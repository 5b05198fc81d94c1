//! Hygiene of macros: locals and labels of a macro are not those of its user; items are.

macro_rules! with_margin {
    ($x:expr) => {{
        let t = 100;
        t + $x
    }};
}

pub fn a_local_of_the_macro() -> i32 {
    let t = 5;
    with_margin!(t)
}

pub fn the_macro_in_itself() -> i32 {
    let t = 1;
    with_margin!(with_margin!(t + 1) + t)
}

macro_rules! declare {
    ($n:ident, $e:expr) => {
        let $n = $e;
        let hidden = 99;
        let _ = hidden;
    };
}

pub fn a_name_of_the_user_is_visible() -> i32 {
    let hidden = 1;
    declare!(x, 7);
    declare!(hidden2, x + hidden);
    x * 100 + hidden2 * 10 + hidden
}

macro_rules! swap_names {
    ($a:ident, $b:ident) => {
        let ($a, $b) = ($b, $a);
    };
}

pub fn two_names_of_the_user() -> i32 {
    let a = 1;
    let b = 2;
    swap_names!(a, b);
    swap_names!(b, a);
    swap_names!(a, b);
    a * 10 + b
}

macro_rules! nested {
    ($x:ident) => {{
        let x = 10;
        macro_rules! inner {
            () => {
                x + $x
            };
        }
        let x = 1000;
        let $x = 5;
        let _ = (x, $x);
        inner!()
    }};
}

pub fn a_macro_in_a_macro() -> i32 {
    let x = 3;
    nested!(x)
}

macro_rules! pass_on {
    ($e:expr) => {{
        let v = 1;
        finish!(v, $e)
    }};
}

macro_rules! finish {
    ($a:expr, $b:expr) => {{
        let v = 20;
        v + $a * 100 + $b
    }};
}

pub fn through_two_macros() -> i32 {
    let v = 7;
    pass_on!(v)
}

macro_rules! uses_an_item {
    () => {
        LEVEL + 1
    };
}

const LEVEL: i32 = 40;

pub fn items_are_not_hygienic() -> i32 {
    const LEVEL: i32 = 5;
    uses_an_item!()
}

pub fn a_local_does_not_hide_an_item() -> i32 {
    #[allow(non_snake_case)]
    let f = |_: i32| uses_an_item!();
    f(3)
}

macro_rules! makes_a_function {
    ($n:ident) => {
        fn helper() -> i32 {
            31
        }
        fn $n() -> i32 {
            helper() + 1
        }
    };
}

pub fn items_of_a_macro_are_visible() -> i32 {
    makes_a_function!(of_it);
    helper() * 100 + of_it()
}

macro_rules! looped {
    ($body:expr) => {{
        let mut n = 0;
        'a: loop {
            n += 1;
            loop {
                if n > 3 {
                    break 'a;
                }
                $body;
                break;
            }
        }
        n
    }};
}

pub fn a_label_of_the_macro() -> i32 {
    let mut c = 0;
    let n = 'a: {
        let r = looped!({
            c += 1;
            if c == 2 {
                break 'a 50;
            }
        });
        r
    };
    n * 10 + c
}

macro_rules! with_label {
    ($l:lifetime, $e:expr) => {
        $l: loop {
            if $e > 3 {
                break $l $e;
            }
        }
    };
}

pub fn a_label_of_the_user() -> i32 {
    let mut n = 0;
    with_label!('out, {
        n += 1;
        if n == 2 {
            break 'out 77;
        }
        n
    }) + n
}

macro_rules! sees_where_it_stands {
    () => {};
}

pub fn a_local_at_the_definition() -> i32 {
    sees_where_it_stands!();
    let x = 1;
    macro_rules! see {
        () => {
            x
        };
    }
    let x = 2;
    let y = see!();
    {
        let x = 3;
        x * 100 + see!() * 10 + y
    }
}

pub fn a_local_at_the_definition_is_changed() -> i32 {
    let mut x = 1;
    macro_rules! bump {
        ($by:expr) => {
            x += $by
        };
    }
    bump!(x);
    let y = {
        let x = 100;
        bump!(x);
        x
    };
    x * 1000 + y
}

macro_rules! shadow_twice {
    ($($n:ident = $e:expr),*) => {
        $(let $n = $e;)*
        let n = 4;
        let _ = n;
    };
}

pub fn repeated_names() -> i32 {
    let n = 1;
    shadow_twice!(a = n + 1, n = a * 10, b = n + a);
    n * 100 + b
}

macro_rules! binds {
    ($p:pat, $v:expr, $r:expr) => {
        match $v {
            $p => $r,
            x => x * 1000,
        }
    };
}

pub fn patterns_of_the_user() -> i32 {
    let x = 3;
    binds!(4 | 5, 4, x) * 10 + binds!(y @ 0..=9, 7, y + x) + binds!(1, 2, x)
}

macro_rules! closure_of {
    ($e:expr) => {
        |x| x + $e
    };
}

pub fn parameters_of_a_closure() -> i32 {
    let x = 10;
    let f = closure_of!(x * 2);
    f(1)
}

macro_rules! counts {
    ($v:ident in $n:expr; $e:expr) => {{
        let mut s = 0;
        for i in 0..$n {
            let $v = i * 10;
            s += $e;
        }
        s
    }};
}

pub fn the_variable_of_a_loop() -> i32 {
    let i = 1;
    let s = 2;
    counts!(j in 3; j + i + s)
}

macro_rules! field {
    ($s:ident . $f:ident) => {
        $s.$f + $s.other
    };
}

pub fn fields_are_not_hygienic() -> i32 {
    struct P {
        x: i32,
        other: i32,
    }
    let p = P { x: 3, other: 40 };
    field!(p.x)
}

macro_rules! shorthand {
    ($t:ident, $x:ident) => {{
        let y = 50;
        $t { $x, y }
    }};
}

pub fn shorthand_of_both() -> i32 {
    struct P {
        x: i32,
        y: i32,
    }
    let x = 3;
    let y = 4;
    let p = shorthand!(P, x);
    p.x * 1000 + p.y * 10 + y
}

macro_rules! define_getter {
    ($name:ident, $v:ident) => {
        macro_rules! $name {
            () => {
                $v
            };
        }
    };
}

pub fn a_getter_of_a_local() -> i32 {
    let q = 8;
    define_getter!(get, q);
    let q = 9;
    get!() * 10 + q
}

macro_rules! if_let {
    ($o:expr, $n:ident, $e:expr) => {
        if let Some($n) = $o { $e } else { -1 }
    };
}

pub fn a_binding_of_the_user() -> i32 {
    let n = 5;
    if_let!(Some(n * 2), m, m + n) + if_let!(None::<i32>, n, n)
}

macro_rules! self_shadow {
    ($x:ident) => {{
        let $x = $x + 1;
        let x = $x * 10;
        let $x = x + $x;
        $x
    }};
}

pub fn x_and_x() -> i32 {
    let x = 1;
    self_shadow!(x) * 100 + x
}
