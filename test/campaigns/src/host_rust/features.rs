//! Programs of random expressions and of features of the language: names, macros, conditional compilation, control
//! flow, types.

use super::Program;
use super::expressions::{Maker, Ty};
use visa_support::Random;

/// Depth of expressions.
const DEPTH: usize = 3;

/// A part of a program: its items, and expressions of type `i32`.
type Part = (String, Vec<String>);

/// The features, each a function of random parts.
const FEATURES: [fn(&mut Maker<'_>) -> Part; 22] = [
    expression,
    expression,
    expression,
    constants,
    shadowing,
    uses,
    items_of_blocks,
    conditional,
    conditional_parts,
    hygiene,
    scope_of_macros,
    macros_that_define,
    grouping,
    repetitions,
    labels,
    closures,
    structures,
    enumerations,
    patterns,
    places,
    iterators,
    results,
];

/// A program of a few features.
pub(super) fn program(random: &mut Random) -> Program {
    let count = 1 + random.below(4);
    let mut make = Maker::new(random);
    let (mut items, mut values) = (String::new(), 0);
    for _ in 0..count {
        let feature = make.random.of(&FEATURES);
        let (own, expressions) = feature(&mut make);
        items.push_str(&own);
        for expression in expressions {
            items.push_str(&format!("pub fn value{values}() -> i32 {{ {expression} }}\n"));
            values += 1;
        }
    }
    Program { items, values }
}

/// A small number of a type, as text.
fn small(make: &mut Maker<'_>) -> String {
    make.random.below(60).to_string()
}

fn int(make: &mut Maker<'_>) -> Ty {
    Ty::Int(make.integer())
}

fn i32_expr(make: &mut Maker<'_>) -> String {
    make.expr(&Ty::Int("i32"), 1)
}

fn expression(make: &mut Maker<'_>) -> Part {
    let ty = make.ty(2);
    let value = if make.chance(50) { make.block(&ty, DEPTH) } else { make.expr(&ty, DEPTH) };
    let name = make.name("r");
    let folded = make.folded(&ty, &name);
    (String::new(), vec![format!("let {name}: {ty} = {value}; {folded}")])
}

fn constants(make: &mut Maker<'_>) -> Part {
    let (ty, name, other, f) = (int(make), make.name("C"), make.name("D"), make.name("f"));
    let (value, argument) = (make.expr(&ty, 1), make.expr(&ty, 1));
    let literal = make.literal("i16");
    let items = format!(
        "const fn {f}(x: {ty}) -> {ty} {{ x ^ 5 }}\nconst {name}: {ty} = {f}(7);\nstatic {other}: i16 = {literal};
fn {f}_of(x: {ty}) -> {ty} {{ if x > {name} {{ x }} else {{ {value} }} }}\n"
    );
    let folded = make.folded(&ty, &format!("{f}_of({argument})"));
    (items, vec![folded, format!("{name} as i32 ^ {other} as i32")])
}

fn shadowing(make: &mut Maker<'_>) -> Part {
    let (x, ty, of) = (make.name("x"), int(make), int(make));
    let (one, two, by) = (make.literal("i32"), small(make), make.random.below(6));
    let folded = make.folded(&ty, &x);
    let inferred = make.name("y");
    let last = make.folded(&of, &inferred);
    (
        String::new(),
        vec![
            format!(
                "let {x} = {one}; let {x} = {{ let {x} = {x} as i64; {x} * 2 }}; let {x} = {x} as {ty}; {{ let \
                    {x} = {two}; let _ = {x} + 1; }} {folded}"
            ),
            format!(
                "let {inferred} = {two}; let {inferred} = {{ let z = {inferred} << {by}; z }}; if {inferred} == \
                    1 {{ let _: {of} = {inferred}; }} {last}"
            ),
        ],
    )
}

fn uses(make: &mut Maker<'_>) -> Part {
    let (m, n) = (make.name("m"), make.name("N"));
    let [a, b, c, d] = [(); 4].map(|()| small(make));
    let items = format!(
        "mod {m} {{ pub const {n}: i32 = {a}; pub fn pick() -> i32 {{ {b} }} pub mod deep {{ pub const {n}: i32 \
            = super::{n} * 100; pub fn pick() -> i32 {{ self::{n} + 1 }} const HIDDEN: i32 = 3; pub use \
            super::pick as outer; }} }}
const {n}: i32 = {c};
fn pick_{m}() -> i32 {{ {d} }}\n"
    );
    let values = vec![
        format!("use self::{m}::{n}; {n} + pick_{m}()"),
        format!("let r = {{ use self::{m}::deep::*; {n} + pick() + outer() }}; r * 1000 + {n}"),
        format!(
            "use {m}::{{deep::pick as other, pick}}; fn inner() -> i32 {{ use self::{m}::pick; pick() }} \
                other() * 10000 + pick() * 100 + inner()"
        ),
        format!(
            "mod within {{ pub const {n}: i32 = 9; pub fn of() -> i32 {{ super::{n} + {n} }} }} within::of() + {n}"
        ),
    ];
    (items, values)
}

fn items_of_blocks(make: &mut Maker<'_>) -> Part {
    let (n, f) = (make.name("N"), make.name("f"));
    let [a, b, c] = [(); 3].map(|()| small(make));
    let body = i32_expr(make);
    (
        format!("const {n}: i32 = {a};\nfn {f}() -> i32 {{ {body} }}\n"),
        vec![
            format!("let before = {n}; const {n}: i32 = {b}; before * 100 + {{ const {n}: i32 = {c}; {n} }}"),
            format!(
                "let x = {f}(); fn {f}() -> i32 {{ {n} + {b} }} x + {{ let x = 2; fn {f}() -> i32 {{ {c} }} \
                    {f}() * x }}"
            ),
            format!(
                "struct S {{ a: u8 }} impl S {{ const K: u8 = {a}; fn get(&self) -> u8 {{ \
                    self.a.wrapping_mul(Self::K) }} }} S {{ a: {b} }}.get() as i32"
            ),
            format!(
                "enum E {{ A = {a}, B, C = 70 + {c} }} use E::*; (A as i32) * 100 + B as i32 + (C as u8 as i32)"
            ),
        ],
    )
}

/// A predicate of `cfg`, which holds or does not.
fn predicate(make: &mut Maker<'_>) -> String {
    let one = [
        "unix",
        "test",
        "debug_assertions",
        "target_os = \"linux\"",
        "feature = \"fast\"",
        "windows",
        "target_pointer_width = \"64\"",
    ];
    match make.random.below(5) {
        0 => format!("not({})", predicate(make)),
        1 => format!("all({}, {})", make.random.of(&one), make.random.of(&one)),
        2 => format!("any({}, {})", make.random.of(&one), make.random.of(&one)),
        _ => make.random.of(&one).to_owned(),
    }
}

fn conditional(make: &mut Maker<'_>) -> Part {
    let p = predicate(make);
    let (n, f) = (make.name("N"), make.name("f"));
    let [a, b, c] = [(); 3].map(|()| small(make));
    let items = format!(
        "#[cfg({p})] const {n}: i32 = {a};\n#[cfg(not({p}))] const {n}: i32 = {b};
#[cfg({p})] fn {f}() -> i32 {{ {c} }}\n#[cfg_attr(all(), cfg(not({p})))] fn {f}() -> i32 {{ {n} + 1 }}\n"
    );
    let values = vec![
        format!("#[cfg({p})] let x = {a}; #[cfg(not({p}))] let x = {b}; x + {f}()"),
        format!(
            "let mut x = {n}; #[cfg({p})] {{ x += 100; }} #[cfg(not({p}))] {{ x += 200; }} #[cfg({p})] \
                x.clone_from(&7); if cfg!({p}) {{ x + 1 }} else {{ x + 2 }}"
        ),
        format!("match {c} {{ #[cfg({p})] 0..=99 => {a}, #[cfg(not({p}))] {c} => {b}, _ => 5 }}"),
    ];
    let values: Vec<String> = values
        .into_iter()
        .map(|own| {
            own.replace(&format!("#[cfg({p})] x.clone_from(&7);"), &format!("#[cfg({p})] let x = x * 2;"))
        })
        .collect();
    (items, values)
}

fn conditional_parts(make: &mut Maker<'_>) -> Part {
    let p = predicate(make);
    let (s, f) = (make.name("S"), make.name("f"));
    let [a, b, c] = [(); 3].map(|()| small(make));
    let items = format!(
        "struct {s} {{ #[cfg({p})] x: i32, #[cfg(not({p}))] x: u8, y: i32 }}
fn {f}(#[cfg({p})] x: i32, #[cfg(not({p}))] x: u8) -> i32 {{ #[cfg({p})] return x as i32; #[cfg(not({p}))] {{ x \
    as i32 * 2 }} }}\n"
    );
    (
        items,
        vec![
            format!(
                "let s = {s} {{ #[cfg({p})] x: {a}, #[cfg(not({p}))] x: {b}, y: {c} }}; let {s} {{ y, .. }} = \
                    s; s.x as i32 * 100 + y"
            ),
            format!(
                "let a = [1, #[cfg({p})] {a}, {b}, #[cfg(not({p}))] {c}, #[cfg({p})] 4]; a.len() as i32 * 1000 \
                    + a[1] + {f}({a})"
            ),
            format!(
                "#[cfg({p})] macro_rules! m {{ () => {{ {a} }} }} #[cfg(not({p}))] macro_rules! m {{ () => {{ \
                    {b} }} }} m!() + {f}(#[cfg({p})] {c}, #[cfg(not({p}))] 3)"
            ),
        ],
    )
}

fn hygiene(make: &mut Maker<'_>) -> Part {
    let (m, n) = (make.name("m"), make.name("n"));
    let [a, b, c] = [(); 3].map(|()| small(make));
    let items = format!(
        "macro_rules! {m} {{ ($x:expr) => {{{{ let t = {a}; t * 100 + $x }}}}; (let $v:ident = $x:expr) => {{ \
            let $v = $x + 1; let hidden = 3; }} }}
macro_rules! {n} {{ ($x:expr, $y:expr) => {{{{ let x = $y; let y = $x; x * 100 + y }}}} }}\n"
    );
    (
        items,
        vec![
            format!("let t = {b}; {m}!(t) + {m}!({m}!(t))"),
            format!("let x = {b}; let y = {c}; {n}!(y, x) * 3 + {n}!({n}!(x, y), x + y)"),
            format!("let hidden = {b}; {m}!(let q = {c}); hidden * 100 + q"),
            format!(
                "let x = {a}; macro_rules! get {{ () => {{ x }} }} let x = {b}; let y = get!(); {{ let x = {c}; \
                    y * 10000 + get!() * 100 + x }}"
            ),
            format!(
                "let mut s = {a}; macro_rules! add {{ ($e:expr) => {{ s += $e; }} }} for s in 0..3 {{ add!(s); }} s"
            ),
        ],
    )
}

fn scope_of_macros(make: &mut Maker<'_>) -> Part {
    let (m, k) = (make.name("m"), make.name("K"));
    let [a, b, c] = [(); 3].map(|()| small(make));
    let items = format!(
        "macro_rules! {m} {{ () => {{ {a} }} }}\nconst {k}: i32 = {m}!();
mod of_{m} {{ pub fn inner() -> i32 {{ {m}!() }} macro_rules! {m} {{ () => {{ 77 }} }} pub fn outer() -> i32 {{ \
    {m}!() }} }}
#[macro_use] mod used_{m} {{ macro_rules! {m}_used {{ ($e:expr) => {{ $e - {c} }} }} }}
fn first_{m}() -> i32 {{ {m}!() }}\nmacro_rules! {m} {{ () => {{ {b} }} }}\nconst {k}_2: i32 = {m}!();\n"
    );
    (
        items,
        vec![
            format!("{k} * 100 + {k}_2 + first_{m}() * 10000"),
            format!("of_{m}::inner() * 100 + of_{m}::outer() + {m}_used!({{ 9 }})"),
            format!(
                "let x = {m}!(); macro_rules! {m} {{ () => {{ {c} }} }} let y = {m}!(); {{ macro_rules! {m} {{ \
                    () => {{ 5 }} }} let _ = {m}!(); }} x * 100 + y + {m}!()"
            ),
        ],
    )
}

fn macros_that_define(make: &mut Maker<'_>) -> Part {
    let m = make.name("m");
    let [a, b] = [(); 2].map(|()| small(make));
    let items = format!(
        "macro_rules! {m} {{ ($name:ident, $by:expr) => {{ macro_rules! $name {{ ($x:expr) => {{ $x * $by }} }} }} }}
{m}!({m}_twice, 2);
macro_rules! {m}_count {{ () => {{ 0 }}; ($head:tt $($rest:tt)*) => {{ 1 + {m}_count!($($rest)*) }} }}
macro_rules! {m}_fn {{ ($($name:ident => $value:expr),* $(,)?) => {{ $(fn $name() -> i32 {{ $value }})* }} }}
{m}_fn! {{ {m}_f => {a}, {m}_g => {{ let {m} = {b}; {m} + 1 }}, }}\n"
    );
    (
        items,
        vec![
            format!("{m}_twice!({a} + 1) + {m}_count!(a b (c d) [e] 5)"),
            format!("{m}!(inner, {b} + 1); inner!(2 + 3) * 10 + {m}_f() + {m}_g()"),
        ],
    )
}

fn grouping(make: &mut Maker<'_>) -> Part {
    let m = make.name("m");
    let [a, b, c] = [(); 3].map(|()| small(make));
    let items = format!(
        "macro_rules! {m} {{ ($x:expr, $y:expr) => {{ $x * $y }} }}\nmacro_rules! {m}_neg {{ ($x:expr) => {{ -$x }} }}
macro_rules! {m}_abs {{ ($x:expr) => {{ $x.abs() }} }}\nmacro_rules! {m}_minus {{ ($x:expr) => {{ $x - 1 }} }}
macro_rules! {m}_ty {{ ($t:ty, $l:literal, $p:pat, $e:expr) => {{ match $e as $t {{ $p => $l as i32, _ => 1 }} }} }}
macro_rules! {m}_lit {{ (0) => {{ 100 }}; ($e:expr) => {{ $e }} }}\nmacro_rules! {m}_pass {{ ($e:expr) => {{ \
    {m}_lit!($e) }} }}\n"
    );
    (
        items,
        vec![
            format!(
                "{m}!({a} + 1, {b} - {c}) + {m}_neg!({a} - {b}) + {m}!(if {a} > {b} {{ 2 }} else {{ 3 }}, {{ {c} }})"
            ),
            format!(
                "{m}_abs!(-{a}i32) + {m}_abs!({b} - {a}i32) + {m}_minus!({{ {a} }}) + {m}_minus!(match {c} {{ 1 \
                    => 2, _ => 3 }})"
            ),
            format!("{m}_ty!(u8, {a}, 0..=9 | 20, {b} + 256) + {m}_lit!(0) + {m}_pass!(0) + {m}_pass!({c})"),
        ],
    )
}

fn repetitions(make: &mut Maker<'_>) -> Part {
    let m = make.name("m");
    let [a, b, c] = [(); 3].map(|()| small(make));
    let items = format!(
        "macro_rules! {m} {{ ($($x:expr),+ $(; $last:expr)?) => {{ [$($x),+].iter().sum::<i32>() $(* $last)? }} }}
macro_rules! {m}_pairs {{ ($($k:ident: [$($v:expr),*]),*) => {{ {{ let mut s = 0; $( let $k = 0 $(+ $v)*; s = s \
    * 100 + $k; )* s }} }} }}
macro_rules! {m}_let {{ ($v:vis $n:ident $b:block $s:stmt) => {{ $v fn $n() -> i32 {{ $s; $b }} }} \
    }}\n{m}_let!(pub {m}_f {{ {a} }} let _z = 3);\n"
    );
    (
        items,
        vec![
            format!("{m}!({a}, {b}, {c}) + {m}!({a}; {b})"),
            format!("{m}_pairs!(x: [{a}, {b}], y: [], z: [{c}]) + {m}_f()"),
        ],
    )
}

fn labels(make: &mut Maker<'_>) -> Part {
    let [a, b] = [(); 2].map(|()| small(make));
    let (n, k) = (3 + make.random.below(5), make.random.below(6));
    (
        String::new(),
        vec![
            format!(
                "let mut s = {a}; 'outer: for i in 0..{n} {{ for j in 0..{n} {{ if j == {k} {{ continue 'outer; \
                    }} if i * j > 9 {{ break 'outer; }} s += i * 10 + j; }} s += 1000; }} s"
            ),
            format!(
                "let mut i = 0; let r = 'a: loop {{ i += 1; let v = 'b: loop {{ if i > {k} {{ break 'a i * 100; \
                    }} if i % 2 == 0 {{ break 'b i; }} i += 1; break 7; }}; i += v; }}; r + {b}"
            ),
            format!(
                "let mut n = {a}u8; let mut c = 0; 'w: while n != 0 {{ n >>= 1; c += 1; if c > {k} {{ break; }} \
                    loop {{ if n & 1 == 1 {{ continue 'w; }} break 'w; }} }} c * 100 + n as i32"
            ),
            format!(
                "macro_rules! stop {{ ($e:expr) => {{ 'a: loop {{ if $e {{ break 'a 1; }} else {{ break 'a 2; \
                    }} }} }} }} 'a: {{ if stop!({a} > {b}) == 1 {{ break 'a 5; }} 6 }}"
            ),
            format!(
                "(0..={n}).rev().step_by(2).map(|i| i * {a}).sum::<i32>() + (0..{n}).filter(|i| i % 2 == \
                    1).count() as i32"
            ),
        ],
    )
}

fn closures(make: &mut Maker<'_>) -> Part {
    let [a, b] = [(); 2].map(|()| small(make));
    let ty = int(make);
    let (f, body) = (make.name("f"), make.literal("i32"));
    let folded = make.folded(&ty, "r");
    (
        format!("fn {f}(g: impl Fn(i32) -> i32, x: i32) -> i32 {{ g(g(x)) }}\n"),
        vec![
            format!("let k = {a}; let g = |x| x + k; let k = {b}; g(1) * 100 + k + {f}(|x| x * 2 + k, {a})"),
            format!(
                "let mut n = {a}; let mut inc = |by: i32| {{ n += by; n }}; let x = inc(2); let y = inc(3); x * \
                    100 + y + n"
            ),
            format!("let mut n = {a}; let mut own = move || {{ n += 1; n }}; own(); own() * 100 + n"),
            format!(
                "let g = |x| {{ if x > 3 {{ return x; }} x + 1 }}; let r: {ty} = g({a}) ^ g(2); {folded}"
            ),
            format!(
                "let fs: [fn(i32) -> i32; 2] = [|x| x + {a}, |x| x * {b}]; fs[0](3) * 100 + fs[1](2) + ({body} \
                    as i32).wrapping_add(1)"
            ),
        ],
    )
}

fn structures(make: &mut Maker<'_>) -> Part {
    let (s, t) = (make.name("S"), make.name("T"));
    let (one, other) = (int(make), make.ty(1));
    let [a, b] = [make.expr(&one, 1), make.expr(&other, 1)];
    let (fa, fb) = (make.folded(&one, "s.a"), make.folded(&other, "s.b"));
    let n = small(make);
    let items = format!(
        "#[derive(Clone, Copy, PartialEq, Debug)] struct {s} {{ a: {one}, b: {other}, c: i32 }}
impl {s} {{ const N: i32 = {n}; fn new(c: i32) -> Self {{ Self {{ a: {a}, b: {b}, c }} }} fn bump(&mut self, \
    by: i32) -> &mut Self {{ self.c += by * Self::N; self }} fn c(self) -> i32 {{ self.c }} }}
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)] struct {t}<const K: usize>([i16; K], u8);
impl<const K: usize> {t}<K> {{ fn sum(&self) -> i32 {{ let mut s = 0; for i in 0..K {{ s += self.0[i] as i32; \
    }} s * K as i32 }} }}\n"
    );
    (
        items,
        vec![
            format!(
                "let mut s = {s}::new(3); s.bump(2).bump(1); let u = {s} {{ c: 5, ..s }}; let w = {fa} ^ {fb}; \
                    w.wrapping_add(s.c() * 100 + u.c + (u == s) as i32)"
            ),
            format!(
                "let mut t = {t}([1, 2, {n}], 4); t.0[1] += 10; t.1 ^= 3; let c = t; t.0[0] = 9; t.sum() * 100 \
                    + c.sum() + t.1 as i32 + (c < t) as i32 + {t}([7; 2], 1).sum()"
            ),
        ],
    )
}

fn enumerations(make: &mut Maker<'_>) -> Part {
    let e = make.name("E");
    let ty = int(make);
    let value = make.expr(&ty, 1);
    let folded = make.folded(&ty, "x");
    let [a, b] = [(); 2].map(|()| small(make));
    let items = format!(
        "#[derive(Clone, Copy, PartialEq)] enum {e} {{ Unit, One({ty}), Two {{ p: i32, q: [u8; 2] }} }}
impl {e} {{ fn of(self) -> i32 {{ match self {{ Self::Unit => 1, {e}::One(x) => {folded}, {e}::Two {{ p, q: [a, \
    b] }} if p > {a} => p + a as i32 * b as i32, {e}::Two {{ q, .. }} => q[0] as i32 }} }} }}
#[repr(i8)] #[derive(Clone, Copy)] enum {e}N {{ A = -3, B, C = {a}, D }}\n"
    );
    (
        items,
        vec![
            format!("{e}::Unit.of() + {e}::One({value}).of() / 3"),
            format!(
                "let t = {e}::Two {{ p: {b}, q: [{a}, 7] }}; t.of() + if let {e}::Two {{ p, .. }} = t {{ p }} \
                    else {{ 0 }} + matches!(t, {e}::One(_)) as i32"
            ),
            format!("use {e}N::*; (A as i32) * 100 + B as i32 + C as u8 as i32 + D as i32"),
        ],
    )
}

fn patterns(make: &mut Maker<'_>) -> Part {
    let k = make.name("K");
    let [a, b, c] = [(); 3].map(|()| small(make));
    let text = make.random.of(&["a", "z", "0", "é"]);
    (
        format!("const {k}: i32 = {a};\n"),
        vec![
            format!(
                "let f = |x: i32| match x {{ {k} => 1, n @ (0..=9 | 50..) if n % 2 == 0 => n, -5..0 => 2, \
                    i32::MIN..=-6 => 3, _ => 4 }}; f({a}) * 1000 + f({b}) * 10 + f(-{c})"
            ),
            format!(
                "let t = (({a}, {b}u8), [1, 2, {c}]); let ((x, _), [first, .., last]) = t; let (.., [_, rest @ \
                    ..]) = t; x * 100 + first + last + rest.len() as i32 + rest[1]"
            ),
            format!(
                "match ({a}, Some({b})) {{ (0, _) => 1, (x, Some(y)) if x == y => 2, (_, Some(y @ 1..=30)) => \
                    y, (x, None) => x, _ => 9 }}"
            ),
            format!(
                "let Some(x) = (if {a} > {b} {{ Some({c}) }} else {{ None }}) else {{ return -1; }}; x + match \
                    '{text}' {{ 'a'..='m' => 1, '0' => 2, c => c as i32 }}"
            ),
            format!(
                "let mut v = Some({a}); let mut n = 0; while let Some(x) = v {{ n += x; v = if x > 3 {{ Some(x \
                    / 2) }} else {{ None }}; }} if let Some(_) = v && n > 1 {{ 0 }} else {{ n }}"
            ),
            format!(
                "let a = [{a}, {b}, {c}]; match &a[..] {{ [x, y] => x + y, [x, .., z] if x > z => x - z, [_, \
                    tail @ ..] => tail[0], [] => 0 }}"
            ),
        ],
    )
}

fn places(make: &mut Maker<'_>) -> Part {
    let f = make.name("f");
    let [a, b, c] = [(); 3].map(|()| small(make));
    let items = format!(
        "fn {f}(x: &mut i32, y: &mut [i32; 3]) -> i32 {{ *x += y[1]; y[2] = *x * 2; let z = &mut y[0]; *z -= 1; *z }}
fn {f}_swap(t: &mut (i32, i32)) {{ let (a, b) = t; std::mem::swap(a, b); *a += 1; }}\n"
    );
    (
        items,
        vec![
            format!(
                "let mut x = {a}; let mut y = [{b}, {c}, 0]; let r = {f}(&mut x, &mut y); r * 10000 + x * 100 + \
                    y[2] - y[0]"
            ),
            format!("let mut t = ({a}, {b}); {f}_swap(&mut t); let r = &mut t.1; *r ^= 5; t.0 * 100 + t.1"),
            format!(
                "let mut g = [[{a}, 1], [{b}, 2]]; for row in g.iter_mut() {{ row[1] *= 3; row.swap(0, 1); }} \
                    g[1][1] += {c}; for row in &mut g {{ row[0] += 1; }} g[0][0] * 1000 + g[0][1] * 10 + \
                    g[1][0] + g[1][1]"
            ),
            format!(
                "let mut a = [{a}u8, {b}, {c}]; a[0] <<= 2; a[1] |= 64; a[2] %= 7; let mut s = 0u16; for (i, x) \
                    in a.iter().enumerate() {{ s = s * 3 + *x as u16 * i as u16; }} s as i32"
            ),
        ],
    )
}

fn iterators(make: &mut Maker<'_>) -> Part {
    let [a, b] = [(); 2].map(|()| small(make));
    let n = 2 + make.random.below(6);
    (
        String::new(),
        vec![
            format!(
                "let v: [i32; 4] = [{a}, {b}, 3, -4]; v.iter().zip(1..).map(|(x, i)| x * i).sum::<i32>() + \
                    v.iter().rev().take(2).fold(0, |a, x| a * 10 + x) + *v.iter().max().unwrap() + \
                    v.iter().position(|&x| x == 3).unwrap() as i32"
            ),
            format!(
                "let mut calls = 0; let s: i32 = (0..{n}).map(|i| {{ calls += 1; i * {a} }}).take(2).sum(); s * \
                    100 + calls"
            ),
            format!(
                "(1..={n}u64).product::<u64>() as i32 + (0..{n}).skip(1).chain(5..7).step_by(2).map(|x| x * \
                    x).sum::<i32>() + [1u8, 2, {a}].iter().any(|&x| x > 9) as i32"
            ),
            format!(
                "let mut it = [{a}, {b}, 7].into_iter(); let first = it.next().unwrap(); let rest: i32 = \
                    it.map(|x| x + 1).sum(); first * 1000 + rest + [3, {a}, 2].windows(2).filter(|w| w[0] < \
                    w[1]).count() as i32"
            ),
        ],
    )
}

fn results(make: &mut Maker<'_>) -> Part {
    let f = make.name("f");
    let ty = int(make);
    let [a, b] = [(); 2].map(|()| make.random.below(120).to_string());
    let folded = make.folded(&ty, "r");
    let items = format!(
        "fn {f}(x: i32) -> Option<i32> {{ let y = if x > 50 {{ Some(x - 1) }} else {{ None }}?; Some(y * 2) }}
fn {f}_r(x: i32) -> Result<u8, i32> {{ let y: u8 = u8::try_from(x * 3).map_err(|_| -x)?; Ok(y / 2) }}\n"
    );
    (
        items,
        vec![
            format!(
                "{f}({a}).unwrap_or(7) * 1000 + {f}({b}).map_or(1, |x| x + 1) + \
                    {f}({a}).and_then({f}).is_some() as i32"
            ),
            format!(
                "(match {f}_r({a}) {{ Ok(x) => x as i32, Err(e) => e }}) * 100 + {f}_r({b}).unwrap_or_else(|e| \
                    (e & 7) as u8) as i32"
            ),
            format!("let r: {ty} = {a}u8.checked_add({b}).map(|x| (x >> 2) as {ty}).unwrap_or(3); {folded}"),
        ],
    )
}
