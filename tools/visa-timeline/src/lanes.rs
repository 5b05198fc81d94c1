//! Lanes: spans that overlap are drawn side by side, so that on a lane each begins when all before it have ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The lane of each span, from 0: the lowest that is free where it begins. A lane is free from the latest end of its
/// spans on.
pub(crate) fn lanes(spans: &[[u64; 2]]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|&span| spans[span]);
    let mut lanes = vec![0; spans.len()];
    let (mut taken, mut free, mut count) = (BinaryHeap::new(), BinaryHeap::new(), 0);
    for span in order {
        let [start, end] = spans[span];
        while let Some(&Reverse((ended, lane))) = taken.peek()
            && ended <= start
        {
            taken.pop();
            free.push(Reverse(lane));
        }
        lanes[span] = free.pop().map_or(count, |Reverse(lane)| lane);
        count = count.max(lanes[span] + 1);
        taken.push(Reverse((end.max(start), lanes[span])));
    }
    lanes
}

/// The same time as spans that do not overlap, in their order.
pub(crate) fn union(spans: impl IntoIterator<Item = [u64; 2]>) -> Vec<[u64; 2]> {
    let mut spans: Vec<[u64; 2]> = spans.into_iter().collect();
    spans.sort_unstable();
    let mut free = 0;
    for [start, end] in &mut spans {
        *start = (*start).max(free);
        *end = (*end).max(*start);
        free = *end;
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_support::Random;

    /// Spans from a small range of times, so that many overlap, contain each other, touch or take no time.
    fn random_spans(random: &mut Random) -> Vec<[u64; 2]> {
        let count = random.below(30);
        (0..count)
            .map(|_| {
                let start = random.under(40);
                [start, start + random.under(15)]
            })
            .collect()
    }

    #[test]
    fn the_free_time_is_the_latest_end() {
        assert_eq!(lanes(&[[0, 22_000], [1_000, 12_000], [14_000, 32_000]]), [0, 1, 1]);
        assert_eq!(lanes(&[[0, 10], [10, 20], [10, 10], [5, 7]]), [0, 0, 0, 1]);
        assert_eq!(lanes(&[]), [0_usize; 0]);
    }

    #[test]
    fn spans_of_a_lane_do_not_overlap() {
        let mut random = Random::of_case(7, 0);
        for _ in 0..2_000 {
            let spans = random_spans(&mut random);
            let lanes = lanes(&spans);
            for (one, other) in (0..spans.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
                let [first, second] = [spans[one], spans[other]];
                let overlap = first[0] < second[1] && second[0] < first[1];
                assert!(!overlap || lanes[one] != lanes[other], "{first:?} and {second:?} of {spans:?}");
            }
            // A lane is taken because all below it are.
            for (&lane, &[start, _]) in lanes.iter().zip(&spans) {
                let open = spans.iter().filter(|[begin, end]| *begin <= start && start < *end).count();
                assert!(lane <= open, "lane {lane} from {start} of {spans:?}");
            }
        }
    }

    #[test]
    fn a_union_has_each_time_once() {
        let mut random = Random::of_case(8, 0);
        for _ in 0..2_000 {
            let spans = random_spans(&mut random);
            let union = union(spans.iter().copied());
            assert!(union.windows(2).all(|pair| pair[0][1] <= pair[1][0]), "{spans:?}: {union:?}");
            for time in 0..60 {
                let at = |all: &[[u64; 2]]| {
                    all.iter().filter(|[start, end]| *start <= time && time < *end).count()
                };
                assert_eq!(at(&union), at(&spans).min(1), "{time} of {spans:?}");
            }
        }
    }
}
