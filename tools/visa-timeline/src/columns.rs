//! Rows as columns: a table that data frames read as it is, and that has each name once.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// A row of a table.
pub(crate) trait Row: Sized {
    /// Writes each column of some rows.
    fn columns<M: SerializeMap>(rows: &[Self], map: &mut M) -> Result<(), M::Error>;
}

/// Writes rows as a map from the names of their fields to all values.
pub(crate) fn as_columns<R: Row, S: Serializer>(rows: &[R], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    R::columns(rows, &mut map)?;
    map.end()
}

/// A field of all rows.
pub(crate) struct Column<'a, R, F>(pub(crate) &'a [R], pub(crate) F);

impl<R, V: Serialize, F: Fn(&R) -> V> Serialize for Column<'_, R, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(&self.1))
    }
}
