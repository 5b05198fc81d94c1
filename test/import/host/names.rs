//! Names: `use` at every level, globs, renames, namespaces, items of blocks.

mod inner {
    pub const N: i32 = 5;
    pub fn pick() -> i32 {
        7
    }
    pub struct Unit;
    pub mod deep {
        pub const N: i32 = 50;
        pub fn up() -> i32 {
            super::N + super::super::N * 10 + self::N * 100
        }
        pub use super::pick as taken;
        pub(crate) use crate::N as Root;
    }
    pub mod list {
        pub const N: i32 = 51;
        pub const M: i32 = 52;
        pub fn pick() -> i32 {
            53
        }
    }
}

const N: i32 = 1;
const M: i32 = 2;

fn pick() -> i32 {
    3
}

pub fn use_in_a_body() -> i32 {
    use crate::inner::{N, pick};
    N + pick() * 10
}

pub fn use_at_the_end_of_a_body() -> i32 {
    return N + pick() * 10;
    use crate::inner::{N, pick};
}

pub fn use_in_an_inner_block() -> i32 {
    let a = N;
    let b = {
        use inner::N;
        N
    };
    a * 100 + b * 10 + N
}

pub fn a_glob_yields_to_an_item() -> i32 {
    use inner::list::*;
    const N: i32 = 9;
    N * 1000 + M + pick() * 10000
}

pub fn a_glob_in_a_block_hides_the_root() -> i32 {
    use inner::list::*;
    N * 100 + M
}

pub fn a_name_goes_before_a_glob() -> i32 {
    use inner::deep::N;
    use inner::list::*;
    N * 100 + M
}

pub fn renamed() -> i32 {
    use inner::N as pick;
    use inner::deep as d;
    use inner::pick as N;
    N() * 100 + pick + d::N * 1000
}

pub fn through_parents() -> i32 {
    inner::deep::up() + inner::deep::taken() * 10000 + inner::deep::Root * 100000
}

pub fn use_of_a_module_itself() -> i32 {
    use inner::deep::{self, taken};
    deep::N + taken()
}

pub fn use_of_a_local_module() -> i32 {
    mod local {
        pub const N: i32 = 8;
        pub fn both() -> i32 {
            N * 10 + super::N
        }
    }
    use local::both;
    local::N + both() * 100
}

pub fn a_nested_function_does_not_see_locals() -> i32 {
    let n = 4;
    const K: i32 = 6;
    fn f(n: i32) -> i32 {
        n + K + N * 100
    }
    f(n * 10)
}

pub fn a_local_hides_a_function() -> i32 {
    let pick = |x: i32| x + 1;
    let a = pick(10);
    {
        fn pick() -> i32 {
            77
        }
        a * 100 + pick()
    }
}

pub fn an_inner_item_hides_an_outer_local() -> i32 {
    let k = 3;
    let r = {
        #[allow(non_upper_case_globals)]
        const k: i32 = 8;
        k + 1
    };
    r * 10 + k
}

pub fn a_local_hides_an_item_of_its_block() -> i32 {
    fn f() -> i32 {
        1
    }
    let a = f();
    let f = || 2;
    a * 10 + f()
}

pub fn constants_before_they_stand() -> i32 {
    let a = LATE * 2;
    const LATE: i32 = EARLY + 1;
    const EARLY: i32 = 20;
    a + LATE
}

pub fn types_and_values_of_one_name() -> i32 {
    #[derive(Clone, Copy)]
    struct Same {
        x: i32,
    }
    #[allow(non_snake_case)]
    fn Same(x: i32) -> Same {
        Same { x: x * 2 }
    }
    let s: Same = Same(4);
    s.x * 10 + Same { x: 3 }.x
}

pub fn a_module_and_a_function_of_one_name() -> i32 {
    mod twin {
        pub const V: i32 = 5;
    }
    fn twin() -> i32 {
        6
    }
    twin::V * 10 + twin()
}

pub fn variants_by_use() -> i32 {
    #[derive(Clone, Copy, PartialEq)]
    enum E {
        A,
        B(i32),
        C { v: i32 },
    }
    use E::{B as Bee, C, *};
    let f = |e: E| match e {
        A => 1,
        Bee(x) => x,
        C { v } => v * 2,
    };
    f(A) + f(B(20)) * 10 + f(C { v: 7 }) * 10000
}

pub fn a_name_in_a_pattern_is_a_constant() -> i32 {
    const ZERO: i32 = 0;
    use inner::N as FIVE;
    let f = |x| match x {
        ZERO => 1,
        FIVE => 2,
        inner::deep::N => 3,
        other => other,
    };
    f(0) + f(5) * 10 + f(50) * 100 + f(6) * 1000
}

pub fn a_const_of_each_block() -> i32 {
    const A: i32 = 1;
    let x = {
        const A: i32 = B + 1;
        const B: i32 = 20;
        {
            const B: i32 = 300;
            A + B
        }
    };
    x * 10 + A
}

pub fn statics_and_consts() -> i32 {
    static S: [i32; 3] = [1, 2, 3];
    const C: [i32; 3] = [4, 5, 6];
    let mut c = C;
    c[0] = 9;
    S[1] + C[0] * 10 + c[0] * 100
}

pub fn aliases() -> i32 {
    type Small = u8;
    type Pair<T> = (T, T);
    let p: Pair<Small> = (200, 100);
    type Late = Early;
    type Early = i8;
    let q: Late = -1;
    p.0.wrapping_add(p.1) as i32 + q as i32 * 1000 + Small::MAX as i32 * 10000
}

mod globbed {
    pub const X: i32 = 1;
    pub const Y: i32 = 2;
}

mod globs {
    use super::globbed::*;
    pub const Y: i32 = 30;
    pub fn sum() -> i32 {
        X + Y
    }
    pub mod again {
        use super::*;
        pub fn sum() -> i32 {
            self::Y + super::Y * 10
        }
    }
}

pub fn globs_of_modules() -> i32 {
    globs::sum() + globs::again::sum() * 1000
}

mod chain {
    pub mod a {
        pub use super::b::*;
        pub const OWN: i32 = 1;
    }
    pub mod b {
        pub use super::a::OWN as FROM_A;
        pub use super::c::deepest;
    }
    mod c {
        pub fn deepest() -> i32 {
            super::super::N + super::a::FROM_A * 10
        }
    }
}

pub fn chains_of_use() -> i32 {
    chain::a::deepest() * 10 + chain::b::FROM_A
}

pub fn a_parameter_hides_a_function() -> i32 {
    fn f(pick: i32) -> i32 {
        pick + crate::pick()
    }
    f(10)
}

pub fn a_primitives_name() -> i32 {
    mod u8 {
        pub const MAX: i32 = 3;
    }
    u8::MAX + <core::primitive::u8>::MAX as i32 * 10
}

pub fn a_local_named_as_a_primitive() -> i32 {
    let i32 = 5;
    let u8 = i32 as u8;
    (i32 as i64 + u8 as i64) as i32 + i32::MAX % 10
}

pub fn prelude_names_are_hidden() -> i32 {
    #[allow(non_snake_case)]
    fn Some(x: i32) -> i32 {
        x + 1
    }
    fn drop(x: i32) -> i32 {
        x * 2
    }
    enum Option {
        None = 4,
    }
    Some(3) + drop(5) * 10 + Option::None as i32 * 100
}

pub fn functions_of_two_blocks() -> i32 {
    let a = {
        fn f() -> i32 {
            g() + 1
        }
        fn g() -> i32 {
            10
        }
        f()
    };
    let b = {
        fn g() -> i32 {
            20
        }
        fn f() -> i32 {
            g() + 2
        }
        f()
    };
    a * 100 + b
}

pub fn an_inner_module_does_not_see_the_block() -> i32 {
    const N: i32 = 6;
    mod m {
        pub fn n() -> i32 {
            super::N
        }
    }
    m::n() * 10 + N
}

pub fn raw_names() -> i32 {
    let r#match = 3;
    fn r#loop(r#x: i32) -> i32 {
        x + 1
    }
    r#loop(r#match)
}

pub fn underscores() -> i32 {
    let _ = 3;
    let _x = 4;
    let (_, a, _) = (1, 2, 3);
    const _: () = assert!(N == 1);
    use inner::Unit as _;
    _x * 10 + a
}

pub fn constants_in_types() -> i32 {
    const N: usize = 3;
    fn f() -> [i32; N] {
        const N: usize = 4;
        let b = [1; N];
        [b.len() as i32; 3]
    }
    f()[0] * 10 + f().len() as i32
}

pub fn methods_by_local_implementations() -> i32 {
    struct S(i32);
    {
        impl S {
            fn of(&self) -> i32 {
                self.0 + N
            }
        }
        const N: i32 = 40;
    }
    S(2).of()
}

pub fn enum_use_inside_of_its_implementation() -> i32 {
    #[derive(Clone, Copy)]
    enum Dir {
        Up,
        Down,
    }
    impl Dir {
        fn n(self) -> i32 {
            use Dir::*;
            match self {
                Up => 1,
                Down => 2,
            }
        }
    }
    Dir::Up.n() * 10 + Dir::Down.n()
}
