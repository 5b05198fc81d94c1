//! Operations of a function.

pub(crate) mod body;
pub(crate) mod choice;
pub(crate) mod combine;
pub(crate) mod composite;
pub(crate) mod constants;
pub(crate) mod contract;
pub(crate) mod elements;
pub(crate) mod extract;
pub(crate) mod generic;
pub(crate) mod loops;
pub(crate) mod operation;
pub(crate) mod packs;
pub(crate) mod reduce;
pub(crate) mod shapes;
pub(crate) mod slices;
pub(crate) mod softmax;
