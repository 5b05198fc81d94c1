//! The ring network router by router, and the short form that runs: the book's table, and equality on random rings.

use crate::exec;
use visa_engine::Flow;
use visa_hw::route::{Packet, Pick, Route};
use visa_hw::router::{Action, Collision, Neighbour, Origin, simulate};
use visa_hw::snoop::Snoop;
use visa_machine::Machine;
use visa_support::Random;

/// Book 13's table of two slices: slice 0 is the root, slice 1 the leaf; packets 0 and 1 are slice 0's, 2 and 3
/// slice 1's.
#[test]
fn w1() {
    // Both packets of slice 0 first: [slice1, time0].
    let route = Route { burst: 2, group: 1, ..Route::plain(2, Snoop { rows: vec![vec![0, 1]; 2] }) };
    let trace = simulate(&route, 0, 2).expect("no collision");
    let expected = "0 | 0: from input, to (output, right) |  | 0: [0] 1: []
1 | 1: from input, to (output, right) | 0: from left, to output; 2: from input, to left | 0: [0, 1] 1: [0]
2 | 2: from right, to (output, right) | 1: from left, to output; 3: from input, to left | 0: [0, 1, 2] 1: [0, 1]
3 | 3: from right, to (output, right) | 2: from left, to output | 0: [0, 1, 2, 3] 1: [0, 1, 2]
4 |  | 3: from left, to output | 0: [0, 1, 2, 3] 1: [0, 1, 2, 3]
";
    assert_eq!(trace.to_string(), expected);
}

/// The same with the registers of `hw.switch`, and its price: 4 cycles and a hop.
#[test]
fn w1_as_configured() {
    let stages = "hw.fetch i8, packet 32, loops [64 : 1] : 32; hw.switch broadcast01, slice1 2, slice0 1, time0 \
                  2; hw.collect flits 1; hw.store_vrf at 0";
    let cost = exec(stages).stages[1].cost(&Machine::rngd(), Flow { packets: 2, packet: 32 });
    assert_eq!((cost.cycles, cost.latency), (4, 1));
    assert_eq!(cost.out, Flow { packets: 4, packet: 32 });
}

/// A ring of four, packet by packet: the middle routers hand on in both directions at once.
#[test]
fn middle_routers_hand_on_both_ways() {
    let route = Route::plain(4, Snoop { rows: vec![vec![0, 1, 2, 3], vec![3], vec![0, 2], vec![1]] });
    let trace = simulate(&route, 0, 1).expect("no collision");
    let packet = |source| Packet { source, time: 0 };
    // Cycle 2: slice 1's packet, turned in cycle 1, is at slice 1 again; slice 3's is there on its way to the root.
    let to = |packet, from, to, output| Action { packet, from, output, to: Some(to) };
    let expected = [
        to(packet(1), Origin::Left, Neighbour::Right, false),
        to(packet(3), Origin::Right, Neighbour::Left, false),
    ];
    assert_eq!(trace.cycles[2][1], expected);
    assert_eq!(trace.outputs()[2], [packet(0), packet(2)]);
    assert_eq!(trace.outputs()[3], [packet(1)]);
    // Four packets turn in cycles 0 to 3, and the last one takes three hops.
    assert_eq!(trace.cycles.len(), 4 + 3);
}

/// Rings of two: slices 2 and 3 are the second one, and a snoop's rows name members of the same ring.
#[test]
fn every_ring_snoops_its_own_members() {
    let route = Route::plain(2, Snoop { rows: vec![vec![0], vec![0, 1]] });
    let outputs = |slice, source| route.outputs(slice, Packet { source, time: 0 });
    assert!(outputs(2, 2) && outputs(3, 2) && outputs(3, 3));
    assert!(!outputs(2, 3) && !outputs(2, 0) && !outputs(3, 1));
}

/// Two parts of a packet each, alternately; two neighbours take the same one.
#[test]
fn neighbours_take_the_same_part() {
    let route = Route { pick: Some(Pick { parts: 2, packets: 1, width: 2 }), ..Route::forwarding() };
    let taken = |slice| {
        (0..4).filter(|&time| route.outputs(slice, Packet { source: slice, time })).collect::<Vec<_>>()
    };
    assert_eq!([0, 1, 2, 3, 4].map(taken), [[0, 2], [0, 2], [1, 3], [1, 3], [0, 2]]);
}

/// Registers that no topology has: a group's members would all send in the same cycles.
#[test]
fn packets_that_meet_are_reported() {
    let route = Route { group: 3, ..Route::plain(4, Snoop { rows: vec![vec![0]; 4] }) };
    assert!(matches!(simulate(&route, 0, 2), Err(Collision { .. })));
}

/// A power of two up to 2^most.
fn power(random: &mut Random, most: u32) -> usize {
    1 << random.below(most as usize + 1)
}

/// A ring of up to 16 slices, one of up to 4, a bitmap with random bits, random order registers, and packets to send.
fn random_ring(random: &mut Random) -> (Route, usize, usize) {
    let ring = power(random, 4);
    let rings = power(random, 2);
    let rows = (0..ring * rings).map(|slice| {
        let first = slice / ring * ring;
        (first..first + ring).filter(|_| random.below(2) == 0).collect()
    });
    let snoop = Snoop { rows: rows.collect() };
    let group = power(random, ring.ilog2());
    let burst = random.below(4) + 1;
    let pick = (random.below(3) == 0).then(|| {
        let (parts, packets) = (power(random, ring.ilog2()), random.below(3) + 1);
        Pick { parts, packets, width: ring / parts }
    });
    let step = burst * pick.map_or(1, |pick| pick.parts * pick.packets);
    let packets = step * (random.below(3) + 1);
    (Route { ring, snoop, group, burst, pick }, rings, packets)
}

/// The interpreter's short form delivers the packets of the routers, no two packets meet, and the cost is the routers'
/// cycles.
#[test]
fn short_form_and_routers_agree() {
    let seed = 13;
    let mut random = Random(seed);
    for case in 0..600 {
        let (route, rings, packets) = random_ring(&mut random);
        for ring in 0..rings {
            let trace = simulate(&route, ring, packets);
            let trace = trace
                .unwrap_or_else(|collision| panic!("seed {seed}, case {case}: {collision:?}\n{route:?}"));
            for (member, output) in trace.outputs().into_iter().enumerate() {
                let mut short = Vec::new();
                route.deliver(ring * route.ring + member, packets, |packet| short.push(packet));
                assert_eq!(output, short, "seed {seed}, case {case}, slice {member}: {route:?}");
            }
            assert_eq!(trace.cycles.len(), route.ring * packets + route.ring - 1, "{route:?}");
        }
    }
}
