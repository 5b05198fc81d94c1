//! Random expressions of certain types.

use std::fmt;
use visa_support::Random;

/// The types of numbers.
pub(super) const INTEGERS: [&str; 12] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Int(&'static str),
    Bool,
    Float(&'static str),
    Tuple(Box<Ty>, Box<Ty>),
    Array(Box<Ty>, usize),
    Option(Box<Ty>),
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(name) | Self::Float(name) => f.write_str(name),
            Self::Bool => f.write_str("bool"),
            Self::Tuple(one, other) => write!(f, "({one}, {other})"),
            Self::Array(of, count) => write!(f, "[{of}; {count}]"),
            Self::Option(of) => write!(f, "Option<{of}>"),
        }
    }
}

/// What makes the text of a program.
pub(super) struct Maker<'r> {
    pub(super) random: &'r mut Random,
    /// The variables in scope, the last one of a name visible.
    pub(super) variables: Vec<(String, Ty)>,
    names: usize,
}

impl<'r> Maker<'r> {
    pub(super) fn new(random: &'r mut Random) -> Self {
        Self { random, variables: Vec::new(), names: 0 }
    }

    /// A new name; some are used again, so that they shadow.
    pub(super) fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }

    pub(super) fn integer(&mut self) -> &'static str {
        self.random.of(&INTEGERS)
    }

    pub(super) fn ty(&mut self, depth: usize) -> Ty {
        match self.random.below(if depth == 0 { 8 } else { 12 }) {
            0..=5 => Ty::Int(self.integer()),
            6 => Ty::Bool,
            7 => Ty::Float(self.random.of(&["f32", "f64"])),
            8 => Ty::Tuple(self.ty(depth - 1).into(), self.ty(depth - 1).into()),
            9 | 10 => Ty::Array(self.ty(0).into(), 1 + self.random.below(4)),
            _ => Ty::Option(self.ty(0).into()),
        }
    }

    /// A literal of an integer type, with a suffix or without.
    pub(super) fn literal(&mut self, ty: &str) -> String {
        let unsigned = ty.starts_with('u');
        let number = match self.random.below(8) {
            0 => 0,
            1 => 1,
            2..=5 => self.random.below(100),
            _ => self.random.below(128),
        };
        let text = match self.random.below(8) {
            0 => format!("0x{number:x}"),
            1 => format!("0b{number:b}"),
            2 => format!("0o{number:o}"),
            3 => format!("{}_{}", number / 10, number % 10),
            _ => number.to_string(),
        };
        let suffix = if self.chance(30) { ty } else { "" };
        match self.random.below(20) {
            0 => format!("{ty}::MAX"),
            1 => format!("{ty}::MIN"),
            2 | 3 if !unsigned => format!("-{text}{suffix}"),
            _ => format!("{text}{suffix}"),
        }
    }

    fn variable(&mut self, ty: &Ty) -> Option<String> {
        let mut seen = Vec::new();
        let mut all = Vec::new();
        for (name, own) in self.variables.iter().rev() {
            if !seen.contains(name) {
                seen.push(name.clone());
                if own == ty {
                    all.push(name.clone());
                }
            }
        }
        self.random.pick(&all).cloned()
    }

    /// An expression of a type.
    pub(super) fn expr(&mut self, ty: &Ty, depth: usize) -> String {
        if depth == 0 || self.chance(15) {
            return self.leaf(ty);
        }
        match (self.random.below(14), ty) {
            (0, _) => {
                let (one, other) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
                format!("(if {} {{ {one} }} else {{ {other} }})", self.expr(&Ty::Bool, depth - 1))
            }
            (1, _) => self.block(ty, depth - 1),
            (2, _) => {
                let ty_of = Ty::Int(self.integer());
                let value = self.expr(&ty_of, depth - 1);
                let (a, b) = (self.random.below(60), 60 + self.random.below(60));
                let arms = [self.expr(ty, depth - 1), self.expr(ty, depth - 1), self.expr(ty, depth - 1)];
                format!(
                    "(match {value} {{ {a} => {}, {b}..=125 => {}, _ => {} }})",
                    arms[0], arms[1], arms[2]
                )
            }
            (3, _) => {
                let name = self.name("c");
                let given = self.ty(0);
                let argument = self.expr(&given, depth - 1);
                self.variables.push((name.clone(), given));
                let body = self.expr(ty, depth - 1);
                self.variables.pop();
                format!("(|{name}| {body})({argument})")
            }
            (4, _) => {
                let other = self.ty(0);
                let (own, other) = (self.expr(ty, depth - 1), self.expr(&other, depth - 1));
                if self.chance(50) { format!("({own}, {other}).0") } else { format!("({other}, {own}).1") }
            }
            (5, _) => {
                let (own, at) = (
                    [self.expr(ty, depth - 1), self.expr(ty, depth - 1)],
                    self.expr(&Ty::Int("usize"), depth - 1),
                );
                format!("[{}, {}][{at} % 2]", own[0], own[1])
            }
            (6, _) => {
                let own = self.expr(ty, depth - 1);
                let test = self.expr(&Ty::Bool, depth - 1);
                let other = self.expr(ty, depth - 1);
                let label = self.name("l");
                format!("'{label}: {{ if {test} {{ break '{label} {own}; }} {other} }}")
            }
            (_, Ty::Int(name)) => self.integer_expr(name, depth),
            (_, Ty::Bool) => self.truth(depth),
            (_, Ty::Float(name)) => self.float_expr(name, depth),
            (_, Ty::Tuple(one, other)) => {
                format!("({}, {})", self.expr(one, depth - 1), self.expr(other, depth - 1))
            }
            (_, Ty::Array(of, count)) => {
                let all: Vec<String> = (0..*count).map(|_| self.expr(of, depth - 1)).collect();
                format!("[{}]", all.join(", "))
            }
            (7 | 8, Ty::Option(of)) => {
                let own = self.expr(of, depth - 1);
                let name = self.name("m");
                self.variables.push((name.clone(), (**of).clone()));
                let body = self.expr(of, depth - 1);
                self.variables.pop();
                format!("Some({own}).map(|{name}| {body})")
            }
            (_, Ty::Option(of)) => format!("Some({})", self.expr(of, depth - 1)),
        }
    }

    fn leaf(&mut self, ty: &Ty) -> String {
        if self.chance(60)
            && let Some(name) = self.variable(ty)
        {
            return name;
        }
        match ty {
            Ty::Int(name) => self.literal(name),
            Ty::Bool => self.random.of(&["true", "false"]).to_owned(),
            Ty::Float(name) => {
                let text = format!("{}.{}", self.random.below(50), self.random.below(100));
                let suffix = if self.chance(30) { *name } else { "" };
                format!("{text}{suffix}")
            }
            Ty::Tuple(one, other) => format!("({}, {})", self.leaf(one), self.leaf(other)),
            Ty::Array(of, count) if self.chance(30) => format!("[{}; {count}]", self.leaf(of)),
            Ty::Array(of, count) => {
                let all: Vec<String> = (0..*count).map(|_| self.leaf(of)).collect();
                format!("[{}]", all.join(", "))
            }
            Ty::Option(of) if self.chance(70) => format!("Some({})", self.leaf(of)),
            Ty::Option(of) => format!("None::<{of}>"),
        }
    }

    fn integer_expr(&mut self, ty: &'static str, depth: usize) -> String {
        let own = Ty::Int(ty);
        let (one, other) = (self.expr(&own, depth - 1), self.expr(&own, depth - 1));
        let typed = format!("({one} as {ty})");
        match self.random.below(24) {
            0 => format!("({one} & 15) {} ({other} & 7)", self.random.of(&["+", "*", "|", "^", "&"])),
            1 => format!("({one} {} {other})", self.random.of(&["+", "-", "*"])),
            2 => format!("({one} {} ({other} | 1))", self.random.of(&["/", "%"])),
            3 | 4 => {
                let by = Ty::Int(self.integer());
                let by = self.expr(&by, depth - 1);
                format!("({one} {} ({by} & 7))", self.random.of(&["<<", ">>"]))
            }
            5 => format!("(!{one})"),
            6 | 7 => {
                let name = self.random.of(&[
                    "wrapping_add",
                    "wrapping_sub",
                    "wrapping_mul",
                    "saturating_add",
                    "saturating_sub",
                ]);
                format!("{typed}.{name}({other})")
            }
            8 => format!(
                "({typed}.{}() as {ty})",
                self.random.of(&["count_ones", "leading_zeros", "trailing_zeros", "count_zeros"])
            ),
            9 => format!(
                "{typed}.{}({})",
                self.random.of(&["rotate_left", "rotate_right", "wrapping_shl"]),
                self.random.below(200)
            ),
            10 => format!("{typed}.{}({other})", self.random.of(&["min", "max"])),
            11 => format!(
                "{typed}.{}({other}).unwrap_or({one})",
                self.random.of(&["checked_add", "checked_mul", "checked_div", "checked_sub"])
            ),
            12 => format!("{typed}.overflowing_{}({other}).0", self.random.of(&["add", "sub", "mul"])),
            13 => format!("({typed}.abs_diff({other}) as {ty})"),
            14 | 15 => {
                let from = self.ty(0);
                let from = self.expr(&from, depth - 1);
                let via = self.integer();
                if self.chance(50) {
                    format!("({from} as {ty})")
                } else {
                    format!("({from} as {via} as {ty})")
                }
            }
            16 => format!("({one} {} {other})", self.random.of(&["&", "|", "^"])),
            17 => {
                let (count, name) = (1 + self.random.below(5), self.name("i"));
                self.variables.push((name.clone(), own.clone()));
                let body = self.expr(&own, depth - 1);
                self.variables.pop();
                let total = self.name("t");
                format!(
                    "{{ let mut {total}: {ty} = {one}; for {name} in 0..{count} {{ {total} = \
                        {total}.wrapping_mul(3) ^ ({body}); }} {total} }}"
                )
            }
            18 => {
                let name = self.name("x");
                self.variables.push((name.clone(), own.clone()));
                let body = self.expr(&own, depth - 1);
                self.variables.pop();
                format!(
                    "[{one}, {other}].iter().map(|&{name}| {body}).fold(0, |a: {ty}, b| a.wrapping_add(b))"
                )
            }
            19 => {
                let value = self.expr(&Ty::Option(own.clone().into()), depth - 1);
                let name = self.name("o");
                format!("(if let Some({name}) = {value} {{ {name} }} else {{ {other} }})")
            }
            20 => format!("{typed}.rem_euclid(({other}) | 1)"),
            21 => format!("{typed}.wrapping_pow({})", self.random.below(9)),
            22 => format!("{{ let v: {ty} = {one}; v }}"),
            _ => format!("({one} & 3) + 1"),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        let of = self.ty(0);
        let (one, other) = (self.expr(&of, depth - 1), self.expr(&of, depth - 1));
        let comparison = match of {
            Ty::Float(_) => self.random.of(&["<", ">", "<=", ">="]),
            _ => self.random.of(&["==", "!=", "<", ">", "<=", ">="]),
        };
        match self.random.below(5) {
            0 => format!("({} && {})", self.expr(&Ty::Bool, depth - 1), self.expr(&Ty::Bool, depth - 1)),
            1 => format!("({} || {})", self.expr(&Ty::Bool, depth - 1), self.expr(&Ty::Bool, depth - 1)),
            2 => format!("(!{})", self.expr(&Ty::Bool, depth - 1)),
            _ => format!("(({one}) {comparison} ({other}))"),
        }
    }

    fn float_expr(&mut self, ty: &'static str, depth: usize) -> String {
        let own = Ty::Float(ty);
        let (one, other) = (self.expr(&own, depth - 1), self.expr(&own, depth - 1));
        match self.random.below(8) {
            0..=2 => format!("({one} {} {other})", self.random.of(&["+", "-", "*", "/"])),
            3 => format!("(-{one})"),
            4 => {
                let from = Ty::Int(self.integer());
                format!("({} as {ty})", self.expr(&from, depth - 1))
            }
            5 => format!(
                "({one} as {ty}).{}()",
                self.random.of(&["abs", "floor", "ceil", "trunc", "sqrt", "round"])
            ),
            6 => format!("({one} as {ty}).{}({other})", self.random.of(&["min", "max"])),
            _ => {
                let from = self.random.of(&["f32", "f64"]);
                format!("({} as {ty})", self.expr(&Ty::Float(from), depth - 1))
            }
        }
    }

    /// A block with variables, of which some shadow others and some have their type from a later use.
    pub(super) fn block(&mut self, ty: &Ty, depth: usize) -> String {
        let count = self.variables.len();
        let mut text = String::from("{ ");
        for _ in 0..=self.random.below(2) {
            let of = self.ty(1);
            let value = self.expr(&of, depth);
            let again = self.variables.last().map(|(name, _)| name.clone());
            let name = again.filter(|_| self.chance(30)).unwrap_or_else(|| self.name("v"));
            match self.random.below(4) {
                0 => text.push_str(&format!("let {name}: {of} = {value}; ")),
                1 => text.push_str(&format!("let {name} = {value}; if false {{ let _: {of} = {name}; }} ")),
                2 => text.push_str(&format!("let {name}; {name} = {value}; let _ = |u: {of}| u == {name}; ")),
                _ => {
                    let used = self.name("u");
                    text.push_str(&format!("let {name} = {value}; let {used}: {of} = {name}; "));
                    self.variables.push((used, of.clone()));
                }
            }
            self.variables.push((name, of));
        }
        let last = self.expr(ty, depth);
        self.variables.truncate(count);
        format!("{text}{last} }}")
    }

    /// A value as an `i32`.
    pub(super) fn folded(&mut self, ty: &Ty, value: &str) -> String {
        match ty {
            Ty::Int(_) => {
                let name = self.name("n");
                format!(
                    "{{ let {name} = ({value}) as u128; ({name} ^ ({name} >> 32) ^ ({name} >> 64) ^ ({name} >> \
                        96)) as i32 }}"
                )
            }
            Ty::Bool => format!("({value}) as i32"),
            Ty::Float("f32") => {
                let name = self.name("n");
                format!(
                    "{{ let {name} = {value}; if {name} != {name} {{ -1 }} else {{ {name}.to_bits() as i32 }} }}"
                )
            }
            Ty::Float(_) => {
                let name = self.name("n");
                format!(
                    "{{ let {name} = {value}; if {name} != {name} {{ -1 }} else {{ ({name}.to_bits() ^ \
                        ({name}.to_bits() >> 32)) as i32 }} }}"
                )
            }
            Ty::Tuple(one, other) => {
                let (a, b) = (self.name("a"), self.name("b"));
                let parts = [self.folded(one, &a), self.folded(other, &b)];
                format!(
                    "{{ let ({a}, {b}) = {value}; ({}).wrapping_mul(31).wrapping_add({}) }}",
                    parts[0], parts[1]
                )
            }
            Ty::Array(of, _) => {
                let (item, sum) = (self.name("e"), self.name("s"));
                let part = self.folded(of, &item);
                format!(
                    "{{ let mut {sum} = 0i32; for {item} in {value} {{ {sum} = \
                        {sum}.wrapping_mul(31).wrapping_add({part}); }} {sum} }}"
                )
            }
            Ty::Option(of) => {
                let name = self.name("e");
                let part = self.folded(of, &name);
                format!("match {value} {{ Some({name}) => {part}, None => -7 }}")
            }
        }
    }
}
