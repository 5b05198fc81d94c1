//! Attributes of the tm dialect: a mapping, a number format, axis sizes.

use crate::tensor::grammar::{Rule, TmGrammar, body_syntax};
use crate::tensor::map_error;
use crate::tensor::numbers::{NUMBER, Number};
use pest::Parser as _;
use pest::iterators::Pair;
use std::fmt;
use std::rc::Rc;
use visa_algebra::{Axes, Expr, MAX_AXES};
use visa_ir::decl::{Body, BodyDef, BodyError};
use visa_ir::diag::counted;
use visa_numerics::{Comparisons, DType, LookupTable};

/// `#tm.map<[A / 8 # 256]>`.
pub static MAP: BodyDef = BodyDef {
    name: "tm.map",
    syntax: "[A / 8 # 256]",
    doc: "A mapping expression (book 03): which tensor index each position of a buffer holds.",
    parse: |text| {
        let map = Expr::parse(text).map_err(|error| map_error(error, 0))?;
        Ok(Rc::new(map) as Rc<dyn Body>)
    },
    symbols: Some(|body, with| {
        let renamed = body.as_any().downcast_ref::<Expr>()?.renamed(with)?;
        Some(Rc::new(renamed) as Rc<dyn Body>)
    }),
    ..BodyDef::BASE
};

/// `#tm.dtype<bf16>`.
pub static DTYPE: BodyDef = BodyDef {
    name: "tm.dtype",
    syntax: "i4 | i5 | i8 | i9 | i16 | i32 | u8 | f4e2m1 | f8e4m3 | f8e5m2 | f16 | bf16 | f32",
    doc: "A number format.",
    parse: |text| {
        let text = text.trim();
        let dtype = DType::parse(text)
            .ok_or_else(|| BodyError::unknown("unknown-dtype", "format", text, DType::names()))?;
        Ok(Rc::new(dtype) as Rc<dyn Body>)
    },
    ..BodyDef::BASE
};

/// `#tm.entries<i8 [0x00, 0x02]>`: a [`LookupTable`].
pub static ENTRIES: BodyDef = BodyDef {
    name: "tm.entries",
    syntax: "DTYPE [0x00, 0x02, ...]",
    doc: "The entries of a lookup table: their format, and the bits of each, from index 0 on.",
    parse: |text| {
        let table = text.parse::<LookupTable>().map_err(|why| BodyError::new("entries", why))?;
        Ok(Rc::new(table) as Rc<dyn Body>)
    },
    ..BodyDef::BASE
};

/// `#tm.comparisons<[less 0, equal 7]>`: [`Comparisons`] of [`Number`].
pub static COMPARISONS: BodyDef = BodyDef {
    name: "tm.comparisons",
    syntax: "[less NUMBER, equal NUMBER, greater NUMBER, less_unsigned NUMBER, greater_unsigned NUMBER, true, \
             false]",
    doc: "The conditions that set bits, bit 0 first: a comparison with a number, or always or never. The unsigned \
          ones compare bit patterns.",
    parse: |text| {
        let number = |text: &str| (NUMBER.parse)(text).ok()?.into_any().downcast_ref::<Number>().copied();
        let comparisons =
            Comparisons::parse(text, number).map_err(|why| BodyError::new("comparisons", why))?;
        Ok(Rc::new(comparisons) as Rc<dyn Body>)
    },
    ..BodyDef::BASE
};

/// `#tm.sizes<[A = 8, B = 512]>`.
pub static SIZES: BodyDef = BodyDef {
    name: "tm.sizes",
    syntax: "[A = 8, B = 512, B' = B - A]",
    doc: "Axes and their sizes, and skewed axes (book 03): `B' = B - A` has the size of `B`, and wraps.",
    parse: |text| AxisSizes::parse(text).map(|sizes| Rc::new(sizes) as Rc<dyn Body>),
    ..BodyDef::BASE
};

/// The declaration of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisSize {
    /// Its size in positions.
    Size(u64),
    /// It is skewed: the difference of two axes, by name.
    Skew(String, String),
}

impl fmt::Display for AxisSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(size) => size.fmt(f),
            Self::Skew(of, by) => write!(f, "{of} - {by}"),
        }
    }
}

/// The axes that a module declares, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisSizes(pub Vec<(String, AxisSize)>);

impl AxisSizes {
    /// Reads `[A = 8, B = 512, B' = B - A]`. A skewed axis may name axes of other declarations, so those are checked
    /// where all are known.
    ///
    /// # Errors
    /// Bad syntax, a malformed or repeated name, a size out of bounds.
    pub fn parse(text: &str) -> Result<Self, BodyError> {
        let pieces = TmGrammar::parse(Rule::sizes, text).map_err(|error| body_syntax(&error))?;
        let entries = pieces.flat_map(Pair::into_inner).filter(|piece| piece.as_rule() == Rule::size);
        let sizes = Self(entries.map(Self::entry).collect::<Result<_, _>>()?);
        if sizes.0.len() > MAX_AXES {
            let message = format!("{}; at most {MAX_AXES} are declared", counted(sizes.0.len(), "axis"));
            return Err(BodyError { code: "axes".into(), message, range: None, fix: None });
        }
        let mut axes = Axes::new();
        for (name, size) in &sizes.0 {
            let size = if let AxisSize::Size(size) = size { *size } else { 1 };
            axes.declare(name, size).map_err(|error| map_error(error, 0))?;
        }
        Ok(sizes)
    }

    /// `A = 8` or `B' = B - A`.
    fn entry(piece: Pair<'_, Rule>) -> Result<(String, AxisSize), BodyError> {
        let span = piece.as_span();
        let (mut name, mut size) = ("", "");
        for part in piece.into_inner() {
            match part.as_rule() {
                Rule::name => name = part.as_str().trim(),
                _ => size = part.as_str().trim(),
            }
        }
        if let Ok(positions) = size.parse() {
            return Ok((name.to_owned(), AxisSize::Size(positions)));
        }
        match size.split_once('-') {
            Some((of, by)) if !of.trim().is_empty() => {
                Ok((name.to_owned(), AxisSize::Skew(of.trim().to_owned(), by.trim().to_owned())))
            }
            _ => Err(BodyError {
                code: "axes".into(),
                message: format!(
                    "axis `{name}`: found size `{size}`, expected an integer below 2^62, or a difference `B - A`"
                ),
                range: Some(span.start()..span.end()),
                fix: None,
            }),
        }
    }

    /// Adds these axes to a table.
    ///
    /// # Errors
    /// The first one that cannot be declared; the others are.
    pub fn declare_in(&self, axes: &mut Axes) -> Result<(), visa_algebra::MapError> {
        let mut first = Ok(());
        for (name, size) in &self.0 {
            let declared = match size {
                AxisSize::Size(size) => axes.declare(name, *size),
                AxisSize::Skew(of, by) => axes.declare_skew(name, of, by),
            };
            first = first.and(declared.map(drop));
        }
        first
    }
}

impl fmt::Display for AxisSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<_> = self.0.iter().map(|(name, size)| format!("{name} = {size}")).collect();
        write!(f, "[{}]", items.join(", "))
    }
}
