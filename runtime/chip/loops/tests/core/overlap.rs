//! Overlap of programs, against lists of the units that they touch, for all pairs of small programs.

use crate::program;
use std::collections::BTreeSet;
use visa_loops::{Program, first_overlap};

fn units(program: &Program) -> BTreeSet<i64> {
    let packet = program.packet.cast_signed();
    program.addresses().flat_map(|at| at..at + packet).collect()
}

#[test]
fn as_lists_of_units_say() {
    let mut programs = Vec::new();
    for outer in ["", "2 : 12, ", "3 : 4, 2 : 24, ", "2 : 7, 3 : 3, "] {
        for packet in [1, 3] {
            for base in [0, 1, 2, 3, 5, 8, 13, 30] {
                programs.push(program(&format!("[{outer}{packet} : 1] : {packet} @ {base}")));
            }
        }
    }
    let (mut met, mut apart) = (0, 0);
    for one in &programs {
        for other in &programs {
            let expected = !units(one).is_disjoint(&units(other));
            let found = first_overlap(&[one.clone(), other.clone()]);
            assert_eq!(found, expected.then_some((0, 1)), "{one} and {other}");
            if expected { met += 1 } else { apart += 1 }
        }
    }
    assert!(met > 500 && apart > 500, "{met} overlap, {apart} do not");
}
