//! Kernels as text.

use std::fmt::Write as _;

/// A digit of a mapping as text, and its size.
pub type Digit = (String, u64);

/// Terms with commas between them; a mapping of none is `1`.
#[must_use]
pub fn list<T: AsRef<str>>(terms: &[T]) -> String {
    let terms: Vec<&str> = terms.iter().map(AsRef::as_ref).collect();
    if terms.is_empty() { "1".to_owned() } else { terms.join(", ") }
}

/// Digits as the inside of a mapping.
#[must_use]
pub fn bare(digits: &[Digit]) -> String {
    list(&digits.iter().map(|(text, _)| text).collect::<Vec<_>>())
}

/// Digits as a mapping.
#[must_use]
pub fn mapping(digits: &[Digit]) -> String {
    format!("[{}]", bare(digits))
}

/// One function `@f` under construction. Tensors are in clusters `[1 # 2]`.
#[derive(Clone, Debug)]
pub struct Kernel {
    declarations: String,
    arguments: Vec<String>,
    addresses: Vec<String>,
    lines: String,
}

impl Kernel {
    /// A kernel of these axes, as in `S = 8, A = 4`.
    #[must_use]
    pub fn new(axes: &str) -> Self {
        let declarations = format!("visa 1\ntm.axes [{axes}]\n");
        Self { declarations, arguments: Vec::new(), addresses: Vec::new(), lines: String::new() }
    }

    /// Adds a declaration beside the axes.
    #[must_use]
    pub fn declare(mut self, line: &str) -> Self {
        let _ = writeln!(self.declarations, "{line}");
        self
    }

    /// Adds an argument `%name` of one chip at an address.
    #[must_use]
    pub fn argument(mut self, name: &str, dtype: &str, element: &str, at: u64) -> Self {
        self.arguments.push(format!("%{name}: !tm.hbm<{dtype}, [1], [{element}]>"));
        self.addresses.push(at.to_string());
        self
    }

    /// Adds `%to`, the tensor `%from` in data memory.
    #[must_use]
    pub fn to_dm(self, to: &str, from: &str, at: u64, slice: &str, element: &str) -> Self {
        self.line(&format!(
            "%{to} = tm.to_dm %{from} at {at}, cluster [1 # 2], slice [{slice}], element [{element}]"
        ))
    }

    /// Adds a line, if there is anything on it.
    #[must_use]
    pub fn line(mut self, line: &str) -> Self {
        if !line.trim().is_empty() {
            let _ = writeln!(self.lines, "  {}", line.trim());
        }
        self
    }

    /// Adds the lines of a text.
    #[must_use]
    pub fn lines(self, text: &str) -> Self {
        text.lines().fold(self, Self::line)
    }

    /// Stores `%from` in HBM, returns it, and gives the text of all.
    #[must_use]
    pub fn returns(self, from: &str, at: u64, element: &str) -> String {
        let kernel = self
            .line(&format!("%out = tm.to_hbm %{from} at {at}, element [{element}]"))
            .line("tm.return %out");
        let Self { declarations, arguments, addresses, lines } = kernel;
        format!(
            "{declarations}tm.func @f({}) at [{}] {{\n{lines}}}\n",
            arguments.join(", "),
            addresses.join(", ")
        )
    }
}
