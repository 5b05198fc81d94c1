//! Conditional compilation at every position.

#[cfg(not(feature = "none"))]
const N: i32 = 1;
#[cfg(feature = "none")]
const N: i32 = 2;

#[cfg(all())]
fn f() -> i32 {
    10
}
#[cfg(any())]
fn f() -> i32 {
    20
}

pub fn items() -> i32 {
    N + f()
}

pub fn statements() -> i32 {
    let x = 1;
    #[cfg(any())]
    let x = 2;
    #[cfg(not(any()))]
    let x = x + 10;
    let mut y = x;
    #[cfg(feature = "none")]
    {
        y += 100;
    }
    #[cfg(not(feature = "none"))]
    {
        y += 1000;
    }
    #[cfg(any())]
    return 5;
    y
}

pub fn the_last_expression() -> i32 {
    #[cfg(any())]
    {
        1
    }
    #[cfg(all())]
    {
        2
    }
}

pub fn the_last_expression_is_away() -> i32 {
    let x = 3;
    #[cfg(all())]
    return x;
    #[cfg(any())]
    7
}

pub fn arms() -> i32 {
    match 3 {
        #[cfg(any())]
        3 => 1,
        #[cfg(all())]
        3 => 2,
        #[cfg(any())]
        _ => 4,
        _ => 5,
    }
}

struct Fields {
    #[cfg(any())]
    a: u8,
    #[cfg(all())]
    a: i32,
    b: i32,
}

pub fn fields() -> i32 {
    let s = Fields {
        #[cfg(any())]
        a: 1,
        #[cfg(all())]
        a: 300,
        b: 4,
    };
    let Fields {
        #[cfg(any())]
            b: _,
        #[cfg(all())]
        a,
        ..
    } = s;
    a + s.b
}

struct Tuple(#[cfg(any())] u8, i32, #[cfg(all())] i32);

pub fn tuple_fields() -> i32 {
    let t = Tuple(5, 6);
    t.0 * 10 + t.1
}

fn parameters(#[cfg(any())] x: u8, #[cfg(all())] x: i32, y: i32) -> i32 {
    x * 10 + y
}

pub fn parameters_and_arguments() -> i32 {
    parameters(
        #[cfg(any())]
        1,
        2,
        #[cfg(all())]
        3,
    )
}

pub fn elements() -> i32 {
    let a = [
        1,
        #[cfg(any())]
        2,
        #[cfg(all())]
        3,
        #[cfg(not(any()))]
        4,
    ];
    a.len() as i32 * 100 + a[1]
}

#[derive(Clone, Copy)]
enum Kind {
    A,
    #[cfg(any())]
    B,
    #[cfg(all())]
    C,
    D,
}

pub fn variants() -> i32 {
    Kind::A as i32 + Kind::C as i32 * 10 + Kind::D as i32 * 100
}

mod m {
    #[cfg(any())]
    pub const V: i32 = 1;
    #[cfg(not(any()))]
    pub const V: i32 = 2;
    pub const W: i32 = 3;
    pub const Z: i32 = 4;
}

#[cfg(any())]
use m::W as Chosen;
#[cfg(all())]
use m::Z as Chosen;

pub fn uses() -> i32 {
    #[cfg(all())]
    use m::V as Here;
    #[cfg(any())]
    use m::W as Here;
    Chosen * 10 + Here
}

#[cfg(any())]
mod chosen {
    pub const X: i32 = 1;
}
#[cfg(all())]
mod chosen {
    pub const X: i32 = 2;
}

pub fn modules() -> i32 {
    chosen::X
}

struct S;
impl S {
    #[cfg(any())]
    const K: i32 = 1;
    #[cfg(all())]
    const K: i32 = 2;
    #[cfg(all(unix, not(windows)))]
    fn f() -> i32 {
        Self::K * 10
    }
    #[cfg(windows)]
    fn f() -> i32 {
        Self::K
    }
}
#[cfg(any())]
impl S {
    fn g() -> i32 {
        1
    }
}
#[cfg(all())]
impl S {
    fn g() -> i32 {
        2
    }
}

pub fn implementations() -> i32 {
    S::f() + S::g()
}

#[cfg(any())]
macro_rules! pick {
    () => {
        1
    };
}
#[cfg(all())]
macro_rules! pick {
    () => {
        2
    };
}

pub fn macros() -> i32 {
    #[cfg(any())]
    macro_rules! pick {
        () => {
            3
        };
    }
    pick!()
}

macro_rules! with_cfg {
    ($e:expr) => {{
        #[cfg(any())]
        let r = 1;
        #[cfg(all())]
        let r = $e;
        r
    }};
    (@ $($c:tt)*) => {{
        let r = 5;
        #[cfg($($c)*)]
        let r = 6;
        r
    }};
}

pub fn in_macros() -> i32 {
    with_cfg!(4) + with_cfg!(@ any()) * 10 + with_cfg!(@ not(any())) * 100
}

pub fn cfg_of_values() -> i32 {
    cfg!(debug_assertions) as i32
        + cfg!(test) as i32 * 10
        + cfg!(feature = "x") as i32 * 100
        + cfg!(not(test)) as i32 * 1000
        + cfg!(all(unix, target_os = "linux", any(test, target_pointer_width = "64"))) as i32 * 10000
}

pub fn of_the_target() -> i32 {
    cfg!(target_endian = "little") as i32
        + cfg!(target_family = "unix") as i32 * 10
        + cfg!(panic = "unwind") as i32 * 100
        + cfg!(target_has_atomic = "64") as i32 * 1000
        + cfg!(windows) as i32 * 10000
}

pub fn literal_truths() -> i32 {
    cfg!(true) as i32 + cfg!(false) as i32 * 10 + cfg!(not(false)) as i32 * 100
}

#[cfg_attr(all(), cfg(any()))]
const ATTR: i32 = 1;
#[cfg_attr(all(), cfg(all()))]
const ATTR: i32 = 2;
#[cfg_attr(any(), cfg(any()))]
const OTHER: i32 = 3;
#[cfg_attr(all(), allow(dead_code), cfg(any()))]
const OTHER: i32 = 4;

pub fn attributes() -> i32 {
    #[cfg_attr(any(), cfg(any()))]
    let x = 5;
    #[cfg_attr(all(), cfg_attr(all(), cfg(any())))]
    let x = 6;
    ATTR + OTHER * 10 + x * 100
}

pub fn both_attributes_hold() -> i32 {
    let x = 1;
    #[cfg(all())]
    #[cfg(any())]
    let x = 2;
    x
}

pub fn inner_attributes() -> i32 {
    mod away {
        #![cfg(all())]
        pub const V: i32 = 3;
    }
    away::V
}

pub fn closures() -> i32 {
    let f = |#[cfg(any())] x: u8, #[cfg(all())] x: i32| x + 1;
    let g = {
        #[cfg(any())]
        {
            |x: i32| x * 3
        }
        #[cfg(not(any()))]
        {
            |x: i32| x * 2
        }
    };
    f(4) * 10 + g(3)
}

pub fn branches_by_cfg() -> i32 {
    if cfg!(debug_assertions) && !cfg!(feature = "fast") { 1 } else { 2 }
}

pub fn loops() -> i32 {
    let mut s = 0;
    for i in 0..5 {
        #[cfg(any())]
        if i == 2 {
            break;
        }
        #[cfg(all())]
        if i == 3 {
            continue;
        }
        s += i;
    }
    #[cfg(any())]
    for _ in 0..3 {
        s += 100;
    }
    s
}

#[cfg(any())]
compile_error!("is not reached");
