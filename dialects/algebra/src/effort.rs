//! The amount of work of the algebra. It is counted, never timed, so a limit on it is the same on every machine.

use std::cell::Cell;

thread_local! {
    static EFFORT: Cell<u64> = const { Cell::new(0) };
}

/// The number of terms, runs and positions that the algebra visited on this thread so far. Only differences between
/// two results are meaningful.
#[must_use]
pub fn effort() -> u64 {
    EFFORT.get()
}

/// Counts `looked_at` visited terms, runs or positions.
pub fn count_effort(looked_at: u64) {
    EFFORT.set(EFFORT.get().wrapping_add(looked_at));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;
    use crate::expr::axes::Axes;
    use crate::meaning::cell::Map;

    /// The effort of looking at each position of a mapping.
    fn of_all(map: &str) -> u64 {
        let mut axes = Axes::new();
        axes.declare("A", 64).unwrap();
        let map = Map::new(&Expr::parse(map).unwrap(), &axes).unwrap();
        let before = effort();
        (0..map.size()).for_each(|at| drop(map.cell(at)));
        effort() - before
    }

    #[test]
    fn each_position_counts_and_each_run_alike() {
        assert_eq!([of_all("[A]"), of_all("[A # 128]"), of_all("[A]")], [64, 128, 64]);
    }
}
