//! How much work the algebra did. It is counted, never timed: whoever bounds work by it bounds it alike on every
//! machine.

use std::cell::Cell;

thread_local! {
    static EFFORT: Cell<u64> = const { Cell::new(0) };
}

/// What the algebra looked at on this thread so far: terms, runs and positions. Only the difference of two answers
/// means something.
#[must_use]
pub fn effort() -> u64 {
    EFFORT.get()
}

/// Counts so many terms, runs or positions that were looked at.
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
