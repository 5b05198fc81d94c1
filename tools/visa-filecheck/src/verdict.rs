//! The compared texts, and the result.

/// A text and the name that messages give it.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// Its name, such as a path.
    pub name: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// 0 if the input matches, 1 if it does not, 2 if the checks or the options are wrong.
    pub code: i32,
    /// Messages, empty on a match unless the options ask for more.
    pub report: String,
}
