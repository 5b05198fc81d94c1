//! Packing against brute force and the lower bound, the halves of the register file against all choices, and the
//! policy.

use proptest::prelude::*;
use visa_allocate::halves::{Resident, choose};
use visa_allocate::pack::{Buffer, Effort, MAX_EXACT, Packing, live_bytes, pack, pack_within, worst_point};
use visa_allocate::policy::{self, Reuse, Room};
use visa_allocate::tensors::Reach;
use visa_engine::words::RegionName;
use visa_ir::Word as _;

fn buffer(bytes: u64, live: (usize, usize)) -> Buffer {
    Buffer { bytes, align: 1, live, fixed: None }
}

/// The policy for buffers that are not read beyond.
fn place(buffers: &[Buffer], capacity: u64, roomy: &[Room], reuse: Reuse) -> Option<Packing> {
    policy::place(buffers, &vec![Reach::default(); buffers.len()], capacity, roomy, reuse)
}

fn meet(left: (usize, usize), right: (usize, usize)) -> bool {
    left.0 <= right.1 && right.0 <= left.1
}

/// Fails unless all addresses are aligned, fixed ones stay, and no buffer that is not fixed shares a byte with one
/// that is needed meanwhile.
fn check(buffers: &[Buffer], packing: &Packing) {
    let mut peak = 0;
    for (at, (buffer, &address)) in buffers.iter().zip(&packing.addresses).enumerate() {
        match buffer.fixed {
            Some(fixed) => {
                assert_eq!(address, fixed);
                continue;
            }
            None => assert_eq!(address % buffer.align.max(1), 0, "{buffers:?} {packing:?}"),
        }
        peak = peak.max(address + buffer.bytes);
        for (other, (neighbour, &start)) in buffers.iter().zip(&packing.addresses).enumerate() {
            let bytes = address < start + neighbour.bytes && start < address + buffer.bytes;
            assert!(other == at || !bytes || !meet(buffer.live, neighbour.live), "{buffers:?} {packing:?}");
        }
    }
    assert_eq!(peak, packing.peak);
}

/// The least peak, by trying every address of every buffer.
fn least(buffers: &[Buffer], limit: u64) -> u64 {
    fn search(buffers: &[Buffer], placed: &mut Vec<u64>, best: &mut u64) {
        let Some(buffer) = buffers.get(placed.len()) else {
            let free = buffers.iter().zip(&*placed).filter(|(buffer, _)| buffer.fixed.is_none());
            *best = (*best).min(free.map(|(buffer, address)| address + buffer.bytes).max().unwrap_or(0));
            return;
        };
        let tried: Vec<u64> = match buffer.fixed {
            Some(fixed) => vec![fixed],
            None => (0..=*best - 1).step_by(buffer.align.max(1) as usize).collect(),
        };
        for address in tried {
            // The fixed ones come first, so the free ones are checked against all of them.
            let collides = buffers.iter().zip(&*placed).any(|(other, &start)| {
                meet(buffer.live, other.live)
                    && address < start + other.bytes
                    && start < address + buffer.bytes
            });
            if buffer.fixed.is_some() || (!collides && address + buffer.bytes < *best) {
                placed.push(address);
                search(buffers, placed, best);
                placed.pop();
            }
        }
    }
    let mut best = limit + 1;
    search(buffers, &mut Vec::new(), &mut best);
    best
}

fn small() -> impl Strategy<Value = Vec<Buffer>> {
    let fixed = prop::collection::vec((1_u64..5, 0_usize..6, 0_usize..4, 0_u64..12), 0..2);
    let free = prop::collection::vec((1_u64..6, 0_u32..3, 0_usize..6, 0_usize..4), 1..6);
    (fixed, free).prop_map(|(fixed, free)| {
        let fixed = fixed.into_iter().map(|(bytes, from, length, address)| Buffer {
            fixed: Some(address),
            ..buffer(bytes, (from, from + length))
        });
        let free = free.into_iter().map(|(bytes, power, from, length)| Buffer {
            align: 1 << power,
            ..buffer(bytes, (from, from + length))
        });
        fixed.chain(free).collect()
    })
}

fn large() -> impl Strategy<Value = Vec<Buffer>> {
    let buffer = (1_u64..64, 0_usize..100, 0_usize..20);
    prop::collection::vec(buffer, MAX_EXACT + 1..80).prop_map(|all| {
        all.into_iter().map(|(bytes, from, length)| buffer_of(bytes * 32, from, length)).collect()
    })
}

fn buffer_of(bytes: u64, from: usize, length: usize) -> Buffer {
    Buffer { align: 32, ..buffer(bytes, (from, from + length)) }
}

/// Five of these meet each other, three are alone, which are eight. By hand: the second on the first, the third on
/// both; the fourth instead of the second, which it does not meet, and the fifth on it, at 1376 + 1792, clear of the
/// second, which ends at 2400.
#[test]
fn buffers_that_the_rest_does_not_meet_are_packed_by_themselves() {
    let met = [(1376, 21, 6), (1024, 15, 10), (1408, 23, 0), (1792, 27, 0), (416, 24, 3)];
    let alone = [(32, 40, 3), (32, 50, 1), (32, 60, 0)];
    let buffers: Vec<_> =
        met.iter().chain(&alone).map(|&(bytes, from, length)| buffer_of(bytes, from, length)).collect();
    let packing = pack(&buffers).expect("small addresses");
    check(&buffers, &packing);
    // At 23 the first three are needed.
    assert_eq!((packing.peak, live_bytes(&buffers)), (1376 + 1024 + 1408, 3808));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn few_buffers_take_the_least_memory(buffers in small()) {
        let packing = pack(&buffers).expect("small addresses");
        check(&buffers, &packing);
        prop_assert_eq!(packing.peak, least(&buffers, packing.peak), "{:?}", buffers);
    }

    #[test]
    fn a_packing_that_is_low_enough_is_not_improved(buffers in large()) {
        let within = |effort| pack_within(&buffers, effort).expect("small addresses");
        let least = pack(&buffers).expect("small addresses");
        prop_assert_eq!(&within(Effort::LEAST), &least);
        let unsearched = within(Effort { steps: 0, ..Effort::LEAST });
        check(&buffers, &unsearched);
        prop_assert_eq!(&within(Effort { enough: u64::MAX, ..Effort::LEAST }), &unsearched);
        prop_assert_eq!(&within(Effort { enough: unsearched.peak, ..Effort::LEAST }), &unsearched);
        let enough = within(Effort { enough: least.peak, ..Effort::LEAST });
        prop_assert_eq!(enough.peak, least.peak);
        prop_assert!(least.peak <= unsearched.peak);
    }

    #[test]
    fn many_buffers_take_at_most_a_fifth_more_than_the_lower_bound(buffers in large()) {
        let packing = pack(&buffers).expect("small addresses");
        check(&buffers, &packing);
        let bound = live_bytes(&buffers);
        prop_assert!(bound <= packing.peak && packing.peak <= bound + bound / 5, "{} of {bound}", packing.peak);
    }

    #[test]
    fn halves_are_found_whenever_there_are_any(
        drawn in prop::collection::vec((0_usize..8, 0_usize..3, prop::bool::weighted(0.8), 0_u8..8), 0..7)
    ) {
        let mut residents: Vec<_> = drawn
            .into_iter()
            .map(|(from, length, small, fixed)| Resident {
                small,
                live: (from, from + length),
                fixed: match fixed {
                    0 => Some(RegionName::First),
                    1 => Some(RegionName::Second),
                    2 => Some(RegionName::Full),
                    _ => None,
                }
                .filter(|half| small || *half == RegionName::Full),
            })
            .collect();
        residents.sort_by_key(|resident| resident.live.0);
        let found = choose(&residents);
        prop_assert_eq!(found.is_some(), some_choice(&residents, &mut Vec::new()), "{:?}", residents);
        if let Some(parts) = found {
            prop_assert!(legal(&residents, &parts), "{:?} {:?}", residents, parts);
        }
    }

    #[test]
    fn what_fits_apart_shares_nothing_and_what_fits_at_all_is_placed(buffers in small(), capacity in 1_u64..30) {
        let found = place(&buffers, capacity, &[Room::Multiple(8)], Reuse::Needed);
        let always: Vec<_> = buffers.iter().map(|buffer| Buffer { live: (0, 100), ..*buffer }).collect();
        let apart = pack(&always).is_some_and(|packing| packing.peak <= capacity);
        match found {
            Some(packing) => {
                check(&buffers, &packing);
                prop_assert!(packing.peak <= capacity);
            }
            None => prop_assert!(least(&buffers, capacity) > capacity && !apart),
        }
    }
}

fn legal(residents: &[Resident], parts: &[RegionName]) -> bool {
    let shares = |left: RegionName, right: RegionName| {
        left == right || left == RegionName::Full || right == RegionName::Full
    };
    let all = residents.iter().zip(parts).enumerate();
    let fits = all.clone().all(|(_, (resident, part))| {
        resident.fixed.is_none_or(|fixed| fixed == *part) && (resident.small || *part == RegionName::Full)
    });
    fits && all.clone().all(|(at, (one, part))| {
        let later = residents.iter().zip(parts).skip(at + 1);
        later.into_iter().all(|(other, half)| !meet(one.live, other.live) || !shares(*part, *half))
    })
}

/// Returns true if some choice of parts is legal, by trying all.
fn some_choice(residents: &[Resident], parts: &mut Vec<RegionName>) -> bool {
    if parts.len() == residents.len() {
        return legal(residents, parts);
    }
    RegionName::ALL.iter().any(|&half| {
        parts.push(half);
        let found = some_choice(residents, parts);
        parts.pop();
        found
    })
}

#[test]
fn an_order_by_size_is_not_always_the_best() {
    // At point 1 all of 4 + 3 + 2 bytes are needed, at point 2 2 + 5: 9 bytes do, with the 5 below or above the 2.
    let buffers = [buffer(4, (0, 1)), buffer(3, (1, 1)), buffer(2, (1, 2)), buffer(5, (2, 2))];
    assert_eq!(pack(&buffers).expect("small").peak, 9);
    assert_eq!((live_bytes(&buffers), worst_point(&buffers)), (9, Some((1, 9))));
}

#[test]
fn fixed_buffers_stay_and_free_ones_go_around_them() {
    let fixed = |address, bytes, live| Buffer { fixed: Some(address), ..buffer(bytes, live) };
    // The gap of 4 bytes takes the buffer of 4, the other one goes after; at point 3 the fixed ones are gone.
    let buffers =
        [fixed(0, 8, (0, 2)), fixed(12, 4, (0, 2)), buffer(4, (1, 2)), buffer(5, (2, 2)), buffer(16, (3, 3))];
    let packing = pack(&buffers).expect("small");
    assert_eq!((packing.addresses, packing.peak), (vec![0, 12, 8, 16, 0], 21));
}

#[test]
fn nothing_takes_no_memory() {
    assert_eq!(pack(&[]), Some(Packing { addresses: vec![], peak: 0 }));
    assert_eq!((live_bytes(&[]), worst_point(&[])), (0, None));
    assert_eq!(pack(&[buffer(0, (0, 9)), buffer(3, (2, 2))]).expect("small").peak, 3);
}

#[test]
fn an_address_beyond_64_bits_is_no_address() {
    let half = u64::MAX / 2 + 1;
    assert_eq!(pack(&[buffer(half, (0, 0)), buffer(half, (0, 0))]), None);
    assert_eq!(pack(&[buffer(half, (0, 0)), buffer(half, (1, 1))]).expect("one at a time").peak, half);
    assert_eq!(place(&[buffer(half, (0, 0)), buffer(half, (0, 0))], u64::MAX, &[], Reuse::Needed), None);
}

#[test]
fn bytes_are_used_again_only_if_they_must_and_then_the_longest_at_rest() {
    // Four buffers of 8 bytes, each needed for one operation.
    let buffers: Vec<_> = (0..4).map(|point| buffer(8, (point, point))).collect();
    let addresses = |capacity, reuse| place(&buffers, capacity, &[], reuse).map(|packing| packing.addresses);
    assert_eq!(addresses(32, Reuse::Needed), Some(vec![0, 8, 16, 24]));
    // One byte less: the last one takes the bytes that have rested longest, those of the first.
    assert_eq!(addresses(31, Reuse::Needed), Some(vec![0, 8, 16, 0]));
    let two = addresses(23, Reuse::Needed).expect("two do");
    assert!(two[0] != two[1] && two[1] != two[2] && two[2] != two[3] && two[0] == two[2], "{two:?}");
    assert_eq!(addresses(8, Reuse::Needed), Some(vec![0; 4]));
    assert_eq!(addresses(7, Reuse::Needed), None);
    assert_eq!(addresses(32, Reuse::Always), Some(vec![0; 4]));
}

#[test]
fn what_is_read_beyond_a_buffer_is_memory_and_while_there_is_room_nobody_elses() {
    let buffers = [Buffer { align: 8, ..buffer(8, (0, 0)) }, Buffer { align: 8, ..buffer(8, (1, 1)) }];
    let reaches = [Reach { before: 0, after: 4 }, Reach { before: 3, after: 2 }];
    let addresses = |capacity, reuse| {
        policy::place(&buffers, &reaches, capacity, &[], reuse).map(|packing| packing.addresses)
    };
    // Bytes 0 to 12; then 16 to 34, of which the first 8 are in front of the second buffer: it is at 24.
    assert_eq!(addresses(34, Reuse::Needed), Some(vec![0, 24]));
    // One byte less: nothing is in the first 3 bytes nor in the last 4, and both keep apart as long as that fits.
    assert_eq!(addresses(33, Reuse::Needed), Some(vec![8, 16]));
    assert_eq!(addresses(27, Reuse::Needed), Some(vec![8, 8]));
    assert_eq!(addresses(28, Reuse::Always), Some(vec![8, 8]));
    assert_eq!(addresses(19, Reuse::Needed), None);
    assert_eq!(policy::least(&buffers, &reaches), Some(20));
}

#[test]
fn a_fixed_buffer_may_be_read_beyond_and_stays() {
    let buffers = [Buffer { fixed: Some(0), ..buffer(8, (0, 1)) }, buffer(8, (0, 1))];
    let reaches = [Reach { before: 2, after: 4 }, Reach::default()];
    let packing = policy::place(&buffers, &reaches, 20, &[], Reuse::Needed).expect("room");
    assert_eq!((packing.addresses, packing.peak), (vec![0, 12], 20));
    let packing = policy::place(&buffers, &reaches, 19, &[], Reuse::Needed).expect("room");
    assert_eq!((packing.addresses, packing.peak), (vec![0, 8], 16));
}

#[test]
fn coarse_alignment_gives_way_before_bytes_are_shared() {
    let buffers = [buffer(8, (0, 0)), buffer(8, (1, 1))];
    let addresses = |capacity| {
        place(&buffers, capacity, &[64, 16].map(Room::Multiple), Reuse::Needed)
            .map(|packing| packing.addresses)
    };
    assert_eq!(addresses(72), Some(vec![0, 64]));
    assert_eq!(addresses(71), Some(vec![0, 16]));
    assert_eq!(addresses(23), Some(vec![0, 8]));
    assert_eq!(addresses(15), Some(vec![0, 0]));
}

#[test]
fn a_buffer_is_at_a_multiple_of_the_power_of_two_that_it_fits_in() {
    let sizes = [3, 5, 8, 9, 100, 16];
    let buffers = sizes.map(|bytes| buffer(bytes, (0, 0)));
    let whole = [Room::Whole { least: 4, most: 32 }];
    let addresses =
        |capacity| place(&buffers, capacity, &whole, Reuse::Needed).map(|packing| packing.addresses);
    assert_eq!(addresses(164), Some(vec![0, 8, 16, 32, 64, 48]));
    // Less room: side by side, as they demand.
    assert_eq!(addresses(163), Some(vec![0, 3, 8, 16, 25, 125]));
}

#[test]
fn loads_alternate_between_the_halves() {
    let small = |from, until| Resident { small: true, live: (from, until), fixed: None };
    let alone = [small(0, 1), small(2, 3), small(4, 5), small(6, 7)];
    assert_eq!(
        choose(&alone),
        Some(vec![RegionName::First, RegionName::Second, RegionName::First, RegionName::Second])
    );
    // The second one stays: the third follows the first.
    let stays = [small(0, 1), small(1, 9), small(2, 3), small(4, 5)];
    assert_eq!(
        choose(&stays),
        Some(vec![RegionName::First, RegionName::Second, RegionName::First, RegionName::First])
    );
    // A resident that needs all of it is between.
    let whole = Resident { small: false, ..small(2, 3) };
    assert_eq!(
        choose(&[small(0, 1), whole, small(4, 5)]),
        Some(vec![RegionName::First, RegionName::Full, RegionName::First])
    );
}

#[test]
fn three_at_a_time_or_a_whole_one_beside_another_are_too_many() {
    let small = |from, until| Resident { small: true, live: (from, until), fixed: None };
    assert_eq!(choose(&[small(0, 2), small(1, 2), small(2, 3)]), None);
    assert_eq!(choose(&[small(0, 2), Resident { small: false, ..small(2, 3) }]), None);
    let written = |half, from, until| Resident { fixed: Some(half), ..small(from, until) };
    // Both halves are written at the ends of a chain of even length.
    let chain = [written(RegionName::First, 0, 1), small(1, 2), written(RegionName::Second, 2, 3)];
    assert_eq!(choose(&chain), None);
    assert_eq!(choose(&[written(RegionName::Full, 0, 1), small(1, 2)]), None);
}
