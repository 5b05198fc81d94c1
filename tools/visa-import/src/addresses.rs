//! The treatment of addresses, and those that authors give tensors.

/// The treatment of the addresses of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Addresses {
    /// Drops them: `--allocate` chooses addresses.
    #[default]
    Drop,
    /// Keeps them: tensors in use at the same bytes are an error.
    Keep,
}

/// The author's address of a tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AuthorAddress {
    /// The address.
    pub(crate) at: Option<i64>,
    /// True if the tensor is made by its address alone.
    pub(crate) alone: bool,
}
