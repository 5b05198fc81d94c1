//! Random functions, most of which rustc accepts: each expression is meant to have a type, which often nothing but
//! inference finds.

use visa_support::Random;

/// Items that the functions use.
pub(crate) const ITEMS: &str = "
const LEN: usize = 2 + 1;
const BYTE: u8 = 7;
static TABLE: [i16; LEN] = [1, 2, 3];
#[derive(Clone, Copy, PartialEq, PartialOrd)] struct Pair { a: u8, b: [i64; 2], c: (u16, f32) }
#[derive(Clone, Copy, PartialEq)] struct New(u32);
#[derive(Clone, Copy, PartialEq)] struct Wrap<T> { v: T, n: u16 }
#[derive(Clone, Copy, PartialEq)] enum Shape { Dot, Line(u16, i8), Box { w: u64, h: f64 } }
impl Pair { const K: u16 = 5; fn new(q0: u8) -> Self { Self { a: q0 + 1, b: [1, 2], c: (3, 1.5) } }
  fn get(&self, q1: usize) -> i64 { self.b[q1 % 2] + 1 } fn add(mut self, q2: u8) -> Self { self.a += q2 * 2; self } }
impl<T: Copy> Wrap<T> { fn of(v: T) -> Self { Self { v, n: 1 } }
  fn with<U>(self, u: U) -> Wrap<U> { Wrap { v: u, n: self.n + 1 } } }
impl Shape { fn area(&self) -> u64 {
  match self { Self::Dot => 0, Self::Line(q3, _) => *q3 as u64 + 1, Shape::Box { w, .. } => *w * 2 } } }
fn id<T>(t: T) -> T { t }
fn first<T: Copy, U>(t: T, _: U) -> T { t }
fn apply<F: Fn(u16) -> u16>(f: F, x: u16) -> u16 { f(x + 1) }
fn twice<T>(f: impl Fn(T) -> T, x: T) -> T { f(f(x)) }
fn total<const K: usize>(a: [u32; K]) -> u32 { let mut s = 0; let mut i = 0; while i < K { s += a[i]; i += 1; } s }
fn slice(s: &[i64]) -> i64 { s[0] + 1 }
fn half(x: u8) -> Option<u8> { if x % 2 == 0 { Some(x / 2) } else { None } }
fn small(x: u32) -> Result<u8, i16> { if x < 200 { Ok(x as u8) } else { Err(-1) } }
fn bump(x: &mut u64) { *x += 1; }
";

/// Items with constructs that inference does not read.
pub(crate) const UNREAD_ITEMS: &str = "
use std::ops::{Add, Mul, Index, Neg, AddAssign, Deref};
#[derive(Clone, Copy, PartialEq)] struct V(u16, u16);
impl Add for V { type Output = V; fn add(self, o: V) -> V { V(self.0, o.1) } }
impl Mul<u8> for V { type Output = u64; fn mul(self, k: u8) -> u64 { self.0 as u64 * k as u64 } }
impl Mul<V> for u32 { type Output = i16; fn mul(self, k: V) -> i16 { k.1 as i16 } }
impl Index<u8> for V { type Output = u32; fn index(&self, _: u8) -> &u32 { &5 } }
impl From<u8> for V { fn from(x: u8) -> V { V(x as u16, 0) } }
impl From<V> for u64 { fn from(x: V) -> u64 { x.0 as u64 } }
impl PartialEq<u64> for V { fn eq(&self, o: &u64) -> bool { self.0 as u64 == *o } }
impl Neg for V { type Output = i8; fn neg(self) -> i8 { 3 } }
impl Deref for V { type Target = [i64; 2]; fn deref(&self) -> &[i64; 2] { &[1, 2] } }
trait One { fn one(self) -> u16; fn two(&self, x: i64) -> u8; fn min(self, x: u64) -> i8; }
impl One for u8 { fn one(self) -> u16 { self as u16 + 1 } fn two(&self, x: i64) -> u8 { x as u8 }
  fn min(self, x: u64) -> i8 { x as i8 } }
trait Out { type T; fn out(&self) -> Self::T; }
impl Out for i16 { type T = u64; fn out(&self) -> u64 { 5 } }
impl Out for u8 { type T = i8; fn out(&self) -> i8 { 5 } }
fn one<T: One>(t: T) -> u16 { t.one() }
fn same<T: One>(t: T, _: T) -> T { t }
fn out<T: Out>(t: T) -> T::T { t.out() }
fn into<T: Into<u64>>(t: T) -> u64 { t.into() }
fn add<T: Add<Output = T>>(a: T, b: T) -> T { a + b }
fn each<T, I: IntoIterator<Item = T>>(i: I) -> T { i.into_iter().next().unwrap() }
fn opaque(x: u8) -> impl Into<u64> + One { x }
fn dynamic(x: i64) -> Box<dyn Fn(i64) -> u8> { Box::new(move |y| (x + y) as u8) }
struct Bound<T: One> { t: T }
struct Defaulted<T = u16> { t: T }
fn defaulted(x: Defaulted) -> u16 { x.t }
";

/// Expressions that are not read; `@` stands for one of the type, `#` for one of any number type.
const UNREAD: [&str; 22] = [
    "vec![@, @][1]",
    "[@].to_vec()[0]",
    "*Box::new(@)",
    "std::cell::Cell::new(@).get()",
    "Into::into(@)",
    "std::ops::Add::add(@, @)",
    "[@, @].iter().copied().collect::<Vec<_>>()[1]",
    "vec![@].pop().unwrap()",
    "{ let mut § = Vec::new(); § .push(@); § [0] }",
    "each([@])",
    "each(vec![@])",
    "add(@, @)",
    "same(@, @)",
    "[@].first().copied().unwrap_or_default()",
    "(@, #).clone().0",
    "std::convert::identity(@)",
    "std::mem::replace(&mut @, @)",
    "[(@, #)].into_iter().unzip::<_, _, Vec<_>, Vec<_>>().0[0]",
    "[@, @].into_iter().reduce(|§, _| §).unwrap()",
    "Bound { t: # }.t",
    "\"5\".parse().unwrap()",
    "(#).into()",
];

/// Expressions of certain types that are not read.
const UNREAD_OF: [(&str, &str); 20] = [
    ("u64", "(V(@u16, 1) * @u8)"),
    ("u32", "V(1, @u16)[@u8]"),
    ("i16", "(@u32 * V(2, 3))"),
    ("u16", "one(@u8)"),
    ("u64", "out(@i16)"),
    ("i8", "out(@u8)"),
    ("u64", "into(@u32)"),
    ("i64", "V(1, 2).len() as i64"),
    ("u16", "one(opaque(@u8))"),
    ("u8", "dynamic(@i64)(@i64)"),
    ("i8", "(-V(1, 2))"),
    ("u64", "V::from(@u8).into()"),
    ("i64", "V(1, 2).iter().sum::<i64>()"),
    ("u8", "@u8.two(@i64)"),
    ("u16", "defaulted(Defaulted { t: @u16 })"),
    ("u16", "{ let §: Defaulted = Defaulted { t: @u16 }; § .t }"),
    ("i64", "*V(1, 2).iter().max().unwrap()"),
    ("u64", "u64::from(V(@u16, 3) + V(5, @u16))"),
    ("u8", "Bound { t: @u8 }.t"),
    ("u16", "V::from(@u8).0"),
];

const INTS: [&str; 12] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Type {
    Int(&'static str),
    Float(&'static str),
    Bool,
    Pair,
    Shape,
    Wrap(Box<Type>),
    Tuple(Vec<Type>),
    Array(Box<Type>),
    Option(Box<Type>),
    Ref(Box<Type>),
}

impl Type {
    fn text(&self) -> String {
        match self {
            Self::Int(name) | Self::Float(name) => (*name).to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Pair => "Pair".to_owned(),
            Self::Shape => "Shape".to_owned(),
            Self::Wrap(inner) => format!("Wrap<{}>", inner.text()),
            Self::Tuple(parts) => {
                format!("({})", parts.iter().map(|part| part.text() + ", ").collect::<String>())
            }
            Self::Array(inner) => format!("[{}; 3]", inner.text()),
            Self::Option(inner) => format!("Option<{}>", inner.text()),
            Self::Ref(inner) => format!("&{}", inner.text()),
        }
    }
}

/// A generator of functions.
pub(crate) struct Generator {
    random: Random,
    /// The variables in scope.
    locals: Vec<(String, Type, bool)>,
    names: usize,
    depth: usize,
    /// True for functions with constructs that are not read.
    is_unread: bool,
}

/// Writes a function.
pub(crate) fn function(random: Random, number: usize, is_unread: bool) -> String {
    let mut own = Generator { random, locals: Vec::new(), names: 0, depth: 0, is_unread };
    let params: Vec<String> = (0..own.random.below(4)).map(|_| own.param()).collect();
    let result = own.ty(1);
    let body = own.body(&result, 6);
    format!("fn f{number}({}) -> {} {body}", params.join(", "), result.text().replace('&', "&'static "))
}

impl Generator {
    fn param(&mut self) -> String {
        let ty = self.ty(1);
        let name = self.name();
        let text = format!("{name}: {}", ty.text());
        self.locals.push((name, ty, false));
        text
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn one_of(&mut self, all: &[&str]) -> String {
        self.random.of(all).to_owned()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }

    fn int(&mut self) -> Type {
        let common = ["i32", "u8", "u32", "i64", "usize"];
        Type::Int(if self.chance(60) { self.random.of(&common) } else { self.random.of(&INTS) })
    }

    fn number(&mut self) -> Type {
        if self.chance(80) { self.int() } else { Type::Float(self.random.of(&["f32", "f64"])) }
    }

    fn ty(&mut self, depth: usize) -> Type {
        let limit = if depth == 0 { 7 } else { 14 };
        match self.random.below(limit) {
            0..=5 => self.number(),
            6 => Type::Bool,
            7 => Type::Pair,
            8 => Type::Shape,
            9 => Type::Wrap(Box::new(self.ty(depth - 1))),
            10 => Type::Tuple((0..=self.random.below(2)).map(|_| self.ty(depth - 1)).collect()),
            11 => Type::Array(Box::new(self.ty(depth - 1))),
            12 => Type::Option(Box::new(self.ty(depth - 1))),
            _ => Type::Ref(Box::new(self.number())),
        }
    }

    fn body(&mut self, result: &Type, count: usize) -> String {
        let known = self.locals.len();
        let stmts: String = (0..=self.random.below(count)).map(|_| self.stmt()).collect();
        let tail = self.expr(result);
        self.locals.truncate(known);
        format!("{{ {stmts}{tail} }}")
    }

    fn unit(&mut self, count: usize) -> String {
        let known = self.locals.len();
        let stmts: String = (0..=self.random.below(count)).map(|_| self.stmt()).collect();
        self.locals.truncate(known);
        format!("{{ {stmts} }}")
    }

    fn stmt(&mut self) -> String {
        if self.depth > 4 {
            return String::new();
        }
        self.depth += 1;
        let text = match self.random.below(16) {
            0..=5 => self.local(),
            6 => self.assign(),
            7 => self.each(),
            8 => self.closure(),
            9 => self.late(),
            10 => self.if_let(),
            11 => self.destructure(),
            12 => self.assertion(),
            13 => {
                let cond = self.expr(&Type::Bool);
                format!("if {cond} {} ", self.unit(2))
            }
            14 => self.let_else(),
            _ => self.counted(),
        };
        self.depth -= 1;
        text
    }

    fn local(&mut self) -> String {
        let ty = self.ty(2);
        let value = self.expr(&ty);
        let name = self.name();
        let written = if self.chance(30) { format!(": {}", ty.text()) } else { String::new() };
        let mutable = self.chance(50);
        let text = format!("let {}{name}{written} = {value}; ", if mutable { "mut " } else { "" });
        self.locals.push((name, ty, mutable));
        text
    }

    fn assign(&mut self) -> String {
        let mutable: Vec<_> = self.locals.iter().filter(|(.., mutable)| *mutable).cloned().collect();
        let Some((name, ty, _)) = self.random.pick(&mutable).cloned() else { return self.local() };
        match &ty {
            Type::Int(_) => {
                let op = self.one_of(&["+=", "-=", "*=", "&=", "|=", "^=", "%=", "=", "/="]);
                format!("{name} {op} {}; ", self.expr(&ty))
            }
            Type::Array(inner) => format!("{name}[{}] = {}; ", self.index(), self.expr(inner)),
            _ => format!("{name} = {}; ", self.expr(&ty)),
        }
    }

    fn each(&mut self) -> String {
        let ty = self.int();
        let name = self.name();
        let known = self.locals.len();
        let (pat, iterated) = match self.random.below(6) {
            0 => (name.clone(), format!("{}..{}", self.expr(&ty), self.expr(&ty))),
            1 => (name.clone(), format!("({}..={}).rev()", self.expr(&ty), self.expr(&ty))),
            2 => (name.clone(), format!("[{}, {}]", self.expr(&ty), self.expr(&ty))),
            3 => (format!("&{name}"), format!("&[{}, {}]", self.expr(&ty), self.expr(&ty))),
            4 => {
                let at = self.name();
                self.locals.push((at.clone(), Type::Int("usize"), false));
                (format!("({at}, {name})"), format!("({}..9).enumerate()", self.expr(&ty)))
            }
            _ => {
                (name.clone(), format!("({}..{}).step_by({})", self.expr(&ty), self.expr(&ty), self.index()))
            }
        };
        self.locals.push((name, ty, false));
        let body = self.unit(2);
        self.locals.truncate(known);
        format!("for {pat} in {iterated} {body} ")
    }

    fn closure(&mut self) -> String {
        let (from, to) = (self.ty(1), self.number());
        let (name, param) = (self.name(), self.name());
        let written = if self.chance(50) { format!(": {}", from.text()) } else { String::new() };
        self.locals.push((param.clone(), from.clone(), false));
        let body = self.expr(&to);
        self.locals.pop();
        let result = self.name();
        let arg = self.expr(&from);
        self.locals.push((result.clone(), to, false));
        format!("let {name} = |{param}{written}| {body}; let {result} = {name}({arg}); ")
    }

    fn late(&mut self) -> String {
        let ty = self.ty(1);
        let name = self.name();
        let value = self.expr(&ty);
        self.locals.push((name.clone(), ty, false));
        format!("let {name}; {name} = {value}; ")
    }

    fn if_let(&mut self) -> String {
        let ty = self.ty(1);
        let name = self.name();
        let value = self.expr(&Type::Option(Box::new(ty.clone())));
        let known = self.locals.len();
        self.locals.push((name.clone(), ty, false));
        let chain = if self.chance(30) { format!(" && {}", self.expr(&Type::Bool)) } else { String::new() };
        let body = self.unit(2);
        self.locals.truncate(known);
        format!("if let Some({name}) = ({value}){chain} {body} ")
    }

    fn destructure(&mut self) -> String {
        let (left, right) = (self.ty(1), self.number());
        let (one, two) = (self.name(), self.name());
        let values = (self.expr(&left), self.expr(&right));
        self.locals.push((one.clone(), left, false));
        match self.random.below(3) {
            0 => {
                self.locals.push((two.clone(), Type::Ref(Box::new(right)), false));
                let last = self.locals.len() - 2;
                let whole = Type::Ref(Box::new(self.locals[last].1.clone()));
                self.locals[last].1 = whole;
                format!("let ({one}, {two}) = &({}, {}); ", values.0, values.1)
            }
            _ => {
                self.locals.push((two.clone(), right, false));
                format!("let ({one}, {two}) = ({}, {}); ", values.0, values.1)
            }
        }
    }

    fn assertion(&mut self) -> String {
        let ty = self.ty(1);
        match self.random.below(2) {
            0 => format!("assert!({}); ", self.expr(&Type::Bool)),
            _ => format!("assert_eq!({}, {}); ", self.expr(&ty), self.expr(&ty)),
        }
    }

    fn let_else(&mut self) -> String {
        let ty = self.ty(1);
        let name = self.name();
        let value = self.expr(&Type::Option(Box::new(ty.clone())));
        self.locals.push((name.clone(), ty, false));
        format!("let Some({name}) = ({value}) else {{ panic!(\"none\") }}; ")
    }

    fn counted(&mut self) -> String {
        let name = self.name();
        let ty = self.int();
        let known = self.locals.len();
        self.locals.push((name.clone(), ty.clone(), false));
        let limit = self.expr(&ty);
        let body = self.unit(2);
        self.locals.truncate(known);
        format!("let mut {name} = 0; while {name} < {limit} {{ {body} {name} += 1; }} ")
    }

    fn index(&mut self) -> String {
        if self.chance(70) { self.random.below(3).to_string() } else { self.expr(&Type::Int("usize")) }
    }

    /// An expression that is meant to have a type.
    fn expr(&mut self, ty: &Type) -> String {
        let same: Vec<String> =
            self.locals.iter().filter(|(_, own, _)| own == ty).map(|(name, ..)| name.clone()).collect();
        if self.depth > 6 || self.chance(35) {
            if let Some(name) = self.random.pick(&same).filter(|_| self.random.clone().below(3) > 0) {
                return name.clone();
            }
            return self.leaf(ty);
        }
        self.depth += 1;
        let text = match self.random.below(100) {
            0..8 if self.is_unread => self.unread(ty),
            0..35 => self.general(ty),
            _ => self.special(ty),
        };
        self.depth -= 1;
        text.replace('§', &self.name()).replace('¤', &self.name())
    }

    fn leaf(&mut self, ty: &Type) -> String {
        match ty {
            Type::Int(name) => {
                let number = self.random.below(9);
                match self.random.below(12) {
                    0 => format!("{number}{name}"),
                    1 => format!("0x{number}f"),
                    2 => format!("{name}::MAX"),
                    _ => number.to_string(),
                }
            }
            Type::Float(name) => match self.random.below(8) {
                0 => format!("2.5{name}"),
                1 => "1e3".to_owned(),
                2 => "2.".to_owned(),
                _ => "1.5".to_owned(),
            },
            Type::Bool => self.one_of(&["true", "false"]),
            Type::Pair => format!("Pair::new({})", self.leaf(&Type::Int("u8"))),
            Type::Shape => self.one_of(&["Shape::Dot", "Shape::Line(1, 2)", "Shape::Box { w: 3, h: 2.5 }"]),
            Type::Wrap(inner) => {
                let value = self.leaf(inner);
                self.random
                    .of(&["Wrap { v: @, n: 2 }", "Wrap::of(@)", "Wrap::of(true).with(@)"])
                    .replace('@', &value)
            }
            Type::Tuple(parts) => {
                format!("({})", parts.iter().map(|part| self.leaf(part) + ", ").collect::<String>())
            }
            Type::Array(inner) => match self.random.below(2) {
                0 => format!("[{}; 3]", self.leaf(inner)),
                _ => format!("[{}, {}, {}]", self.leaf(inner), self.leaf(inner), self.leaf(inner)),
            },
            Type::Option(inner) => match self.random.below(4) {
                0 => "None".to_owned(),
                _ => format!("Some({})", self.leaf(inner)),
            },
            Type::Ref(inner) => format!("&{}", self.leaf(inner)),
        }
    }

    fn unread(&mut self, ty: &Type) -> String {
        let of: Vec<&str> =
            UNREAD_OF.iter().filter(|(own, _)| *own == ty.text()).map(|(_, text)| *text).collect();
        let mut text = match self.random.pick(&of) {
            Some(text) if self.random.clone().below(2) == 0 => (*text).to_owned(),
            _ => self.one_of(&UNREAD),
        };
        for name in INTS {
            while text.contains(&format!("@{name}")) {
                text = text.replacen(&format!("@{name}"), &self.expr(&Type::Int(name)), 1);
            }
        }
        let other = self.number();
        while text.contains('#') {
            text = text.replacen('#', &self.expr(&other), 1);
        }
        while text.contains('@') {
            text = text.replacen('@', &self.expr(ty), 1);
        }
        text
    }

    /// Expressions of any type.
    fn general(&mut self, ty: &Type) -> String {
        let other = self.ty(1);
        match self.random.below(16) {
            0 => format!("({})", self.expr(ty)),
            1 => self.body(ty, 2),
            2 => format!("(if {} {} else {})", self.expr(&Type::Bool), self.body(ty, 1), self.body(ty, 1)),
            3 => self.matched(ty),
            4 => format!("id({})", self.expr(ty)),
            5 => format!("first({}, {})", self.expr(ty), self.expr(&other)),
            6 => format!("({}, {}).1", self.expr(&other), self.expr(ty)),
            7 => format!("[{}, {}][{}]", self.expr(ty), self.expr(ty), self.index()),
            8 => format!("Some({}).unwrap_or({})", self.expr(ty), self.expr(ty)),
            9 => format!("(loop {{ if {} {{ break {}; }} }})", self.expr(&Type::Bool), self.expr(ty)),
            10 => {
                let label = self.name();
                let (cond, one, two) = (self.expr(&Type::Bool), self.expr(ty), self.expr(ty));
                format!("('{label}: {{ if {cond} {{ break '{label} {one}; }} {two} }})")
            }
            11 => format!("(*&{})", self.expr(ty)),
            12 => self.called(ty),
            13 => format!("Wrap::of({}).v", self.expr(ty)),
            14 => format!("{}.clone()", self.expr(ty)),
            _ => format!("twice(|§| §, {})", self.expr(ty)),
        }
    }

    fn matched(&mut self, ty: &Type) -> String {
        let of = self.int();
        let value = self.expr(&of);
        let name = self.name();
        let (one, two) = (self.expr(ty), self.expr(ty));
        self.locals.push((name.clone(), of, false));
        let three = self.expr(ty);
        let guard = self.expr(&Type::Bool);
        self.locals.pop();
        match self.random.below(3) {
            0 => format!("(match {value} {{ 1 | 3 => {one}, 5..=9 => {two}, {name} => {three} }})"),
            1 => format!(
                "(match Some({value}) {{ Some(1) => {one}, Some({name}) if {guard} => {three}, _ => {two} }})"
            ),
            _ => format!("(match &({value}, 4) {{ (3, _) => {one}, (&{name}, _) => {three} }})"),
        }
    }

    fn called(&mut self, ty: &Type) -> String {
        let param = self.name();
        let of = self.ty(1);
        let arg = self.expr(&of);
        self.locals.push((param.clone(), of, false));
        let body = self.expr(ty);
        self.locals.pop();
        match self.random.below(3) {
            0 => format!("(|{param}| {body})({arg})"),
            1 => format!("Some({arg}).map(|{param}| {body}).unwrap()"),
            _ => format!("[{arg}].into_iter().map(|{param}| {body}).last().unwrap()"),
        }
    }

    /// Expressions of a certain type.
    fn special(&mut self, ty: &Type) -> String {
        match ty {
            Type::Int(name) => self.integer(name, ty),
            Type::Float(name) => self.float(name, ty),
            Type::Bool => self.truth(),
            Type::Pair => format!("{}.add({})", self.expr(ty), self.expr(&Type::Int("u8"))),
            Type::Shape => match self.random.below(2) {
                0 => {
                    format!("Shape::Line({}, {})", self.expr(&Type::Int("u16")), self.expr(&Type::Int("i8")))
                }
                _ => format!(
                    "Shape::Box {{ h: {}, w: {} }}",
                    self.expr(&Type::Float("f64")),
                    self.expr(&Type::Int("u64"))
                ),
            },
            Type::Wrap(inner) => format!("Wrap {{ v: {}, ..{} }}", self.expr(inner), self.leaf(ty)),
            Type::Tuple(parts) => {
                format!("({})", parts.iter().map(|part| self.expr(part) + ", ").collect::<String>())
            }
            Type::Array(inner) => match self.random.below(3) {
                0 => {
                    let of = self.ty(0);
                    let param = self.name();
                    let values = self.expr(&Type::Array(Box::new(of.clone())));
                    self.locals.push((param.clone(), of, false));
                    let body = self.expr(inner);
                    self.locals.pop();
                    format!("{values}.map(|{param}| {body})")
                }
                1 => format!("[{}; LEN]", self.expr(inner)),
                _ => format!("[{}, {}, {}]", self.expr(inner), self.expr(inner), self.expr(inner)),
            },
            Type::Option(inner) => self.option(ty, inner),
            Type::Ref(inner) => format!("&{}", self.expr(inner)),
        }
    }

    fn option(&mut self, ty: &Type, inner: &Type) -> String {
        if let (Type::Int(_), true) = (inner, self.chance(50)) {
            let method = self.one_of(&["checked_add", "checked_sub", "checked_mul"]);
            return format!("{}.{method}({})", self.receiver(inner), self.expr(inner));
        }
        match self.random.below(5) {
            0 => format!("{}.or({})", self.expr(ty), self.expr(ty)),
            1 => format!("Some({}).filter(|§| {})", self.expr(inner), self.expr(&Type::Bool)),
            2 => format!("[{}].iter().copied().next()", self.expr(inner)),
            3 => format!("{}.and_then(|§| Some(§))", self.expr(ty)),
            _ => format!("Some({})", self.expr(inner)),
        }
    }

    /// An expression whose type is known where a method is called.
    fn receiver(&mut self, ty: &Type) -> String {
        match (self.random.below(3), ty) {
            (0, _) => format!("({} as {})", self.expr(&Type::Int("i32")), ty.text()),
            (1, _) => format!("id::<{}>({})", ty.text(), self.expr(ty)),
            (_, Type::Int(name) | Type::Float(name)) => {
                format!("({} + {})", self.expr(ty), self.suffixed(name))
            }
            (_, _) => self.expr(ty),
        }
    }

    fn suffixed(&mut self, name: &str) -> String {
        format!("{}{name}", self.random.below(9))
    }

    fn integer(&mut self, name: &'static str, ty: &Type) -> String {
        match self.random.below(22) {
            0..=4 => {
                let op = self.one_of(&["+", "-", "*", "/", "%", "&", "|", "^"]);
                format!("({} {op} {})", self.expr(ty), self.expr(ty))
            }
            5 => {
                let by = self.int();
                format!("({} {} {})", self.expr(ty), self.random.of(&["<<", ">>"]), self.expr(&by))
            }
            6 => format!("(!{})", self.expr(ty)),
            7 if name.starts_with('i') => format!("(-{})", self.expr(ty)),
            8 | 9 => {
                let from = self.number();
                format!("({} as {name})", self.expr(&from))
            }
            10 => {
                let method = self.one_of(&["wrapping_add", "min", "max", "rem_euclid", "saturating_sub"]);
                format!("{}.{method}({})", self.receiver(ty), self.expr(ty))
            }
            11 => {
                let method = self.one_of(&["pow", "rotate_left", "wrapping_shl"]);
                format!("{}.{method}({})", self.receiver(ty), self.expr(&Type::Int("u32")))
            }
            12 => format!("({} + &{})", self.expr(ty), self.expr(ty)),
            13 => format!("({}..{}).sum::<{name}>()", self.expr(ty), self.expr(ty)),
            14 => format!("({}..{}).fold({}, |§, ¤| § + ¤)", self.expr(ty), self.expr(ty), self.expr(ty)),
            15 => format!("{}.max({})", self.expr(ty), self.expr(ty)),
            16 => format!("{name}::from({})", self.expr(ty)),
            17 => {
                let from = self.int();
                format!("{name}::try_from({}).unwrap()", self.expr(&from))
            }
            18 => format!("[{}, {}].iter().map(|§| § + 1).sum::<{name}>()", self.expr(ty), self.expr(ty)),
            19 => format!("*[{}, {}].iter().max().unwrap()", self.expr(ty), self.expr(ty)),
            _ => self.of_items(name, ty),
        }
    }

    /// Integers that the program's items give.
    fn of_items(&mut self, name: &str, ty: &Type) -> String {
        let u8 = Type::Int("u8");
        match name {
            "u8" => match self.random.below(4) {
                0 => format!("{}.a", self.expr(&Type::Pair)),
                1 => format!("half({}).unwrap_or({})", self.expr(&u8), self.expr(&u8)),
                2 => format!("small({}).unwrap_or(3)", self.expr(&Type::Int("u32"))),
                _ => "BYTE".to_owned(),
            },
            "u16" => match self.random.below(3) {
                0 => format!("apply(|§| § * 2 + {}, {})", self.expr(ty), self.expr(ty)),
                1 => "Pair::K".to_owned(),
                _ => format!("{}.c.0", self.expr(&Type::Pair)),
            },
            "u32" => match self.random.below(3) {
                0 => format!("total([{}, {}])", self.expr(ty), self.expr(ty)),
                1 => format!("{}.count_ones()", self.suffixed("i64")),
                _ => format!("New({}).0", self.expr(ty)),
            },
            "u64" => match self.random.below(3) {
                0 => format!("{}.area()", self.expr(&Type::Shape)),
                1 => format!("({{ let mut § = {}; bump(&mut §); § }})", self.expr(ty)),
                _ => format!("{}.abs_diff({})", self.suffixed("i64"), self.expr(&Type::Int("i64"))),
            },
            "i64" => match self.random.below(2) {
                0 => format!("slice(&[{}, {}])", self.expr(ty), self.expr(ty)),
                _ => format!("{}.get({})", self.expr(&Type::Pair), self.index()),
            },
            "i16" => format!("TABLE[{}]", self.index()),
            "usize" => match self.random.below(2) {
                0 => "LEN".to_owned(),
                _ => format!("{}.len()", self.expr(&Type::Array(Box::new(Type::Bool)))),
            },
            _ => format!("({}).into()", self.expr(&u8)),
        }
    }

    fn float(&mut self, name: &str, ty: &Type) -> String {
        match self.random.below(8) {
            0..=2 => {
                let op = self.one_of(&["+", "-", "*", "/"]);
                format!("({} {op} {})", self.expr(ty), self.expr(ty))
            }
            3 => format!("(-{})", self.expr(ty)),
            4 => {
                let from = self.number();
                format!("({} as {name})", self.expr(&from))
            }
            5 => format!("({} as {name}).max({})", self.expr(ty), self.expr(ty)),
            6 => format!("({} as {name}).powi({})", self.expr(ty), self.expr(&Type::Int("i32"))),
            _ => format!("[{}, {}].iter().sum::<{name}>()", self.expr(ty), self.expr(ty)),
        }
    }

    fn truth(&mut self) -> String {
        let ty = self.ty(1);
        let number = self.number();
        match self.random.below(8) {
            0..=2 => {
                let op = self.one_of(&["<", ">", "==", "!=", "<=", ">="]);
                format!("({} {op} {})", self.expr(&number), self.expr(&number))
            }
            3 => format!("({} == {})", self.expr(&ty), self.expr(&ty)),
            4 => format!("({} && {})", self.expr(&Type::Bool), self.expr(&Type::Bool)),
            5 => format!("(!{})", self.expr(&Type::Bool)),
            6 => {
                format!("({}..{}).contains(&{})", self.expr(&number), self.expr(&number), self.expr(&number))
            }
            _ => format!(
                "[{}, {}].iter().any(|§| *§ == {})",
                self.expr(&number),
                self.expr(&number),
                self.expr(&number)
            ),
        }
    }
}
