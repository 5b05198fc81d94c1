//! Scope of macros: textual order, redefinition, blocks, modules, paths.

macro_rules! step {
    () => {
        1
    };
}

const FIRST: i32 = step!();

fn early() -> i32 {
    step!()
}

mod inside {
    pub const SEEN: i32 = step!();
    macro_rules! step {
        () => {
            50
        };
    }
    pub fn own() -> i32 {
        step!()
    }
    pub mod deeper {
        pub fn own() -> i32 {
            step!() + 1
        }
    }
}

pub fn a_module_sees_what_stands_before() -> i32 {
    inside::SEEN * 10000 + inside::own() * 100 + inside::deeper::own()
}

macro_rules! step {
    () => {
        2
    };
}

const SECOND: i32 = step!();

mod after {
    pub const SEEN: i32 = step!();
}

pub fn redefined() -> i32 {
    FIRST * 100 + SECOND * 10 + after::SEEN + early() * 1000
}

pub fn in_a_block() -> i32 {
    let a = step!();
    let b = {
        macro_rules! step {
            () => {
                7
            };
        }
        step!()
    };
    a * 100 + b * 10 + step!()
}

pub fn redefined_in_a_function() -> i32 {
    macro_rules! n {
        () => {
            1
        };
    }
    let a = n!();
    macro_rules! n {
        () => {
            a + 1
        };
    }
    let b = n!();
    a * 10 + b
}

#[macro_use]
mod kept {
    macro_rules! from_kept {
        ($e:expr) => {
            $e * 3
        };
    }
    pub mod within {
        macro_rules! from_kept {
            ($e:expr) => {
                $e * 1000
            };
        }
        pub fn own() -> i32 {
            from_kept!(1)
        }
    }
}

pub fn macro_use_of_a_module() -> i32 {
    from_kept!(2) + kept::within::own()
}

mod exporting {
    pub const BASE: i32 = 60;
    pub fn base() -> i32 {
        61
    }
    #[macro_export]
    macro_rules! exported {
        ($e:expr) => {
            $crate::exporting::BASE + $e + $crate::exporting::base()
        };
    }
}

pub fn exported_by_path() -> i32 {
    const BASE: i32 = 1;
    crate::exported!(BASE)
}

pub fn exported_by_use() -> i32 {
    use crate::exported as e;
    e!(5)
}

mod sharing {
    macro_rules! shared {
        () => {
            21
        };
    }
    pub(crate) use shared;
    pub(crate) use shared as renamed;
}

pub fn shared_by_use() -> i32 {
    use sharing::renamed;
    sharing::shared!() * 100 + renamed!()
}

macro_rules! shared {
    () => {
        5
    };
}

pub fn textual_scope_goes_first() -> i32 {
    shared!()
}

macro_rules! recursive {
    () => { 0 };
    ($h:expr $(, $t:expr)*) => { $h + 10 * recursive!($($t),*) };
}

pub fn recursion() -> i32 {
    recursive!(1, 2, 3)
}

macro_rules! definer {
    ($n:ident, $v:expr) => {
        macro_rules! $n {
            () => {
                $v
            };
            ($e:expr) => {
                $e + $v
            };
        }
    };
}

definer!(ten, 10);

pub fn defined_by_a_macro() -> i32 {
    definer!(five, ten!() / 2);
    ten!() * 100 + five!(ten!(1))
}

pub fn a_macro_defined_in_a_macro_shadows() -> i32 {
    macro_rules! local {
        () => {
            1
        };
    }
    let a = local!();
    {
        definer!(inner, 11);
        a * 100 + inner!() + ten!()
    }
}

macro_rules! late {
    () => {
        later()
    };
}

fn later() -> i32 {
    44
}

pub fn names_are_looked_up_at_the_use() -> i32 {
    fn later() -> i32 {
        45
    }
    late!()
}

macro_rules! calls_a_macro {
    () => {
        which!()
    };
}

macro_rules! which {
    () => {
        1
    };
}

pub fn macros_are_looked_up_at_the_use() -> i32 {
    let a = calls_a_macro!();
    macro_rules! which {
        () => {
            2
        };
    }
    a * 10 + calls_a_macro!()
}

pub fn of_one_name_with_a_function() -> i32 {
    fn twin() -> i32 {
        3
    }
    macro_rules! twin {
        () => {
            4
        };
    }
    #[allow(non_camel_case_types)]
    struct twin2;
    let _ = twin2;
    twin() * 10 + twin!()
}

pub fn statements_and_expressions() -> i32 {
    macro_rules! two {
        () => {{
            let a = 1;
            let b = 2;
            a + b
        }};
    }
    let x = {
        two! {}
    };
    two!() * 10 + x
}

pub fn items_by_a_macro_before_their_use() -> i32 {
    let r = made() + MADE;
    macro_rules! make {
        ($f:ident, $c:ident) => {
            fn $f() -> i32 {
                $c + 1
            }
            const $c: i32 = 6;
        };
    }
    make!(made, MADE);
    r
}

macro_rules! impl_it {
    ($t:ty, $v:expr) => {
        impl $t {
            const V: i32 = $v;
            fn v(&self) -> i32 {
                Self::V * 2
            }
        }
    };
}

struct Own;
impl_it!(Own, 4 + 1);

pub fn an_implementation_by_a_macro() -> i32 {
    Own.v() + Own::V
}

pub fn one_in_a_loop() -> i32 {
    let mut s = 0;
    for i in 0..3 {
        macro_rules! add {
            () => {
                s += i * 10
            };
        }
        add!();
        macro_rules! add {
            () => {
                s += 1
            };
        }
        add!();
    }
    s
}
