//! Names of operations as constants, so that a row of a table is all that an operation takes.

use super::AluOp;

/// How many names the rows of `tables` have between them.
pub(super) const fn count(tables: &[&[AluOp]]) -> usize {
    let (mut count, mut table) = (0, 0);
    while table < tables.len() {
        let mut row = 0;
        while row < tables[table].len() {
            count += is_first(tables, table, row) as usize;
            row += 1;
        }
        table += 1;
    }
    count
}

/// Those names, in the order of the tables.
pub(super) const fn distinct<const N: usize>(tables: &[&[AluOp]]) -> [&'static str; N] {
    let mut names = [""; N];
    let (mut at, mut table) = (0, 0);
    while table < tables.len() {
        let mut row = 0;
        while row < tables[table].len() {
            if is_first(tables, table, row) {
                names[at] = tables[table][row].name;
                at += 1;
            }
            row += 1;
        }
        table += 1;
    }
    names
}

/// Whether no row before this one has its name.
const fn is_first(tables: &[&[AluOp]], table: usize, row: usize) -> bool {
    let name = tables[table][row].name;
    let mut earlier = 0;
    while earlier <= table {
        let end = if earlier < table { tables[earlier].len() } else { row };
        let mut at = 0;
        while at < end {
            if equal(tables[earlier][at].name, name) {
                return false;
            }
            at += 1;
        }
        earlier += 1;
    }
    true
}

/// `left == right`, which constants cannot ask yet.
const fn equal(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() && left[at] == right[at] {
        at += 1;
    }
    at == left.len() && at == right.len()
}
