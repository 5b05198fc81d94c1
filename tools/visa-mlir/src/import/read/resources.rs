//! The resources of a file: the bytes of constants, which MLIR prints after the module. Its C API reads them without a
//! check of their number.

use crate::mlir::printed;
use melior::ir::Attribute;
use melior::ir::operation::{OperationLike as _, OperationRef};
use std::collections::HashMap;

/// Bytes of the alignment, in front of the elements.
const ALIGNMENT: usize = 4;

/// The bytes of each resource, by its name.
pub(crate) struct Resources(HashMap<String, Vec<u8>>);

impl Resources {
    /// The resources of the module of an operation.
    pub(crate) fn of(op: OperationRef<'_, '_>) -> Self {
        let mut module = op;
        while let Some(parent) = module.parent_operation() {
            module = parent;
        }
        Self::read(&printed(&module))
    }

    /// Reads the section of resources that a text ends with.
    fn read(text: &str) -> Self {
        let section = text.rsplit_once("\n{-#").map_or("", |(_, section)| section);
        let entries = section.lines().filter_map(|line| {
            let (name, bytes) = line.trim().trim_end_matches(',').rsplit_once(": \"0x")?;
            Some((name.trim_matches('"').to_owned(), decoded(bytes.strip_suffix('"')?)?))
        });
        Self(entries.collect())
    }

    /// The bytes of the elements of an attribute that names a resource; `None` if the file lacks it.
    pub(crate) fn bytes(&self, attribute: Attribute<'_>) -> Option<&[u8]> {
        let text = printed(&attribute);
        let (_, rest) = text.split_once("dense_resource<")?;
        let (name, _) = rest.rsplit_once("> :")?;
        self.0.get(name.trim_matches('"'))?.get(ALIGNMENT..)
    }
}

/// The bytes of hexadecimal digits.
fn decoded(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
