//! Attributes of the tm dialect: a mapping, a number format, axis sizes.

use crate::tensor::map_error;
use crate::{Axes, Expr, MAX_AXES};
use std::fmt;
use std::rc::Rc;
use visa_ir::decl::{Body, BodyDef, BodyError};
use visa_ir::diag::nearest;
use visa_numerics::DType;

/// `#tm.map<[A / 8 # 256]>`.
pub static MAP: BodyDef = BodyDef {
    name: "tm.map",
    syntax: "[A / 8 # 256]",
    doc: "A mapping expression (book 03): which tensor index each position of a buffer holds.",
    parse: |text| {
        let map = Expr::parse(text).map_err(|error| map_error(error, 0))?;
        Ok(Rc::new(map) as Rc<dyn Body>)
    },
};

/// `#tm.dtype<bf16>`.
pub static DTYPE: BodyDef = BodyDef {
    name: "tm.dtype",
    syntax: "bf16",
    doc: "A number format.",
    parse: |text| {
        let text = text.trim();
        let dtype = DType::parse(text).ok_or_else(|| {
            let known: Vec<_> = DType::names().collect();
            BodyError {
                code: "unknown-dtype".into(),
                message: format!("unknown format `{text}`; known are `{}`", known.join("`, `")),
                range: None,
                fix: nearest(text, known).map(|near| format!("did you mean `{near}`?")),
            }
        })?;
        Ok(Rc::new(dtype) as Rc<dyn Body>)
    },
};

/// `#tm.sizes<[A = 8, B = 512]>`.
pub static SIZES: BodyDef = BodyDef {
    name: "tm.sizes",
    syntax: "[A = 8, B = 512]",
    doc: "Axes and their sizes.",
    parse: |text| AxisSizes::parse(text).map(|sizes| Rc::new(sizes) as Rc<dyn Body>),
};

/// The axes that a module declares, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisSizes(pub Vec<(String, u64)>);

impl AxisSizes {
    fn parse(text: &str) -> Result<Self, BodyError> {
        let error = |message: String| BodyError { code: "axes".into(), message, range: None, fix: None };
        let inside = text.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let inside = inside.ok_or_else(|| error(format!("found `{text}`, expected `[A = 8, B = 512]`")))?;
        let mut sizes = Vec::new();
        for item in inside.split(',').map(str::trim) {
            let (name, size) = item
                .split_once('=')
                .ok_or_else(|| error(format!("found `{item}`, expected an axis and its size, like `A = 8`")))?;
            let (name, size) = (name.trim(), size.trim());
            let size = size
                .parse()
                .map_err(|_| error(format!("axis `{name}`: found size `{size}`, expected an integer below 2^62")))?;
            sizes.push((name.to_owned(), size));
        }
        if sizes.len() > MAX_AXES {
            return Err(error(format!("{} axes; at most {MAX_AXES} are declared", sizes.len())));
        }
        let sizes = Self(sizes);
        sizes.declare().map_err(|error| map_error(error, 0))?;
        Ok(sizes)
    }

    /// The table of these axes.
    ///
    /// # Errors
    /// A malformed or repeated name, or a size out of bounds.
    pub fn declare(&self) -> Result<Axes, crate::MapError> {
        let mut axes = Axes::new();
        for (name, size) in &self.0 {
            axes.declare(name, *size)?;
        }
        Ok(axes)
    }
}

impl fmt::Display for AxisSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<_> = self.0.iter().map(|(name, size)| format!("{name} = {size}")).collect();
        write!(f, "[{}]", items.join(", "))
    }
}
