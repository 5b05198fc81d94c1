//! The declarations of stages for the scheduler, the cost model and reports.

use crate::{exec, exec_text, program};
use visa_engine::{Access, BankUse, Flow, Space, TreeUse};
use visa_hw::program::{CommandKind, PlacedStage};
use visa_machine::Machine;

const FLIT: Flow = Flow { packets: 1, packet: 32 };

const CONTRACTION: &str = "hw.fetch bf16, packet 64, loops [256 : 1] : 32; hw.collect flits 2; hw.align second, \
                           flits 2, repeat 2, rows 8, data 64, loops [4 : 0, 2 : 128, 64 : 1] : 64; hw.contract \
                           bf16, depth 5; hw.accumulate interleaved, rows 8, columns 1, slots [8 : 1] : 1; \
                           hw.commit bytes 32, loops [256 : 1] : 32 @ 4096";

/// A load of 2 rows of 32 bytes into the second halves.
const LOAD: &str = "hw.fetch i8, packet 32, loops [64 : 1] : 8; hw.collect flits 1; hw.store_trf second, rows 2, \
                    row_bytes 32";

const PACKED: &str = "hw.fetch i32, packet 32, loops [64 : 1] : 8; hw.collect flits 1; hw.commit_packed most 8, \
                      counts 8192, stride 4, loops [64 : 1] : 8 @ 4096, slices [8, 9, 63, 64]";

/// The stages of a run in the sub context.
fn in_sub(stages: &str) -> Vec<PlacedStage> {
    let command = program(&exec_text("sub", stages)).commands.pop().map(|command| command.kind);
    let Some(CommandKind::Exec(run)) = command else { panic!("no run in {stages}") };
    run.stages
}

/// The last stage of a run in the sub context.
fn last(stages: &str) -> PlacedStage {
    in_sub(stages).pop().expect("a stage")
}

fn access(space: Space, write: bool, range: std::ops::Range<u64>) -> Access {
    Access { space, write, range }
}

/// A stage has the name and the place of its operation.
#[test]
fn names_and_places() {
    let fetched = "hw.fetch i32, packet 32, loops [128 : 1] : 32; hw.collect flits 1";
    let after = |stages: &str| format!("{fetched}; {stages}");
    let stored = "hw.commit bytes 32, loops [128 : 1] : 32 @ 4096";
    for stages in [
        CONTRACTION.to_owned(),
        after("hw.filter keep [xxx1]; hw.commit_packed most 8, loops [128 : 1] : 8 @ 4096"),
        after("hw.store_vrf at 0"),
        after("hw.vector_branch comparison, compare [less 0]; hw.store_ids at 0"),
        after(&format!("hw.vector_stash; hw.vector AddFxp, stash; {stored}")),
        after("hw.vector_zip AddFxp, stage clip, apart 1; hw.commit bytes 32, loops [64 : 1] : 32 @ 4096"),
        after(&format!("hw.vector_valid_count counters [4]; {stored}")),
        after("hw.vector AddFxp, constant 1; hw.cast i8; hw.commit bytes 8, loops [32 : 1] : 8 @ 4096"),
        "hw.fetch i8, packet 32, loops [256 : 1] : 8; hw.switch broadcast01, slice1 1, slice0 1, time0 1; \
         hw.collect flits 1; hw.store_vrf at 0"
            .to_owned(),
        "hw.fetch i8, packet 8, loops [64 : 1] : 8; hw.collect flits 1; hw.transpose double, bits 8, rows 4, \
         columns 16, kept 12; hw.commit bytes 8, loops [96 : 1] : 8 @ 8192"
            .to_owned(),
        "hw.fetch f32, packet 32, loops [384 : 1] : 32; hw.collect flits 1; hw.vector_lanes split; \
         hw.vector_reduce Max, lanes tree, slots [2 : 1, 12 : 0] : 1; hw.vector_lanes pad; hw.commit bytes 8, \
         loops [16 : 1] : 8 @ 4096"
            .to_owned(),
        "hw.fetch f32, packet 32, loops [128 : 1] : 32; hw.collect flits 1; hw.vector_inter_reduce Mul, bits 12, \
         parts 2, packets 2, width 4; hw.commit bytes 32, loops [64 : 1] : 32 @ 8192"
            .to_owned(),
    ] {
        named_as_written(&exec_text("main", &stages), &exec(&stages).stages, &stages);
    }
    for stages in [LOAD, PACKED, "hw.generate 5, at 4096"] {
        named_as_written(&exec_text("sub", stages), &in_sub(stages), stages);
    }
}

fn named_as_written(text: &str, stages: &[PlacedStage], written: &str) {
    for (stage, written) in stages.iter().zip(written.split(';')) {
        assert_eq!(Some(stage.name), written.split_whitespace().next());
        assert!(text[stage.span.range()].starts_with(stage.name), "{}", &text[stage.span.range()]);
    }
}

/// 8 reads of 64 bytes at 0 and 128 of each row's second half, alternately. Their lines of 32 bytes stay in the cache:
/// 2 reads miss.
#[test]
fn an_aligner_reads_its_part_of_every_row() {
    let machine = Machine::rngd();
    let align = &exec(CONTRACTION).stages[2];
    let rows: Vec<_> =
        (0..8).map(|row| access(Space::Trf, false, row * 8192 + 4096..row * 8192 + 4096 + 192)).collect();
    assert_eq!(align.accesses(), rows);
    let Some(BankUse::Reads(reads)) = align.bank_use(&machine, FLIT) else { panic!("no reads") };
    assert_eq!((reads.reads, reads.misses, reads.occupied), (8, 2, [2, 2]));
    assert!(align.assumed().is_empty());
    // 3 flits are collected for packets of 2.
    let shifted = exec(
        "hw.fetch i8, packet 32, loops [96 : 1] : 32; hw.collect flits 1; hw.align full, flits 3, shifts 1, \
         shift_bytes 32, repeat 1, rows 8, data 64, loops [128 : 1] : 64; hw.contract i8, depth 6; hw.accumulate \
         interleaved, rows 8, columns 1, slots [2 : 1] : 1; hw.commit bytes 32, loops [64 : 1] : 32 @ 4096",
    );
    assert_eq!(shifted.stages[2].assumed(), ["timing.shift_reuse_cycles"]);
}

/// 8 packets of 32 elements against 8 rows: 2048 products. Five levels of 2 cycles.
#[test]
fn a_contraction_uses_rows_and_levels() {
    let mut machine = Machine::rngd();
    machine.timing.tree_level_cycles = 2;
    let contract = &exec(CONTRACTION).stages[3];
    let flow = Flow { packets: 8, packet: 64 };
    assert_eq!(contract.cost(&machine, flow).macs, 2048);
    let used = TreeUse { rows: 8, all_rows: 8, depth: 5, latency: 10, most_macs: 2048 };
    assert_eq!(contract.tree_use(&machine, flow), Some(used));
    let others = exec(CONTRACTION).stages;
    assert!(others.iter().enumerate().all(|(at, other)| at == 3 || other.tree_use(&machine, flow).is_none()));
}

#[test]
fn stores_write_where_they_say() {
    let machine = Machine::rngd();
    let load = last(LOAD);
    let rows = [access(Space::Trf, true, 4096..4128), access(Space::Trf, true, 12288..12320)];
    assert_eq!(load.accesses(), rows);
    // 70 bytes are three flits.
    assert_eq!(load.bank_use(&machine, Flow { packets: 2, packet: 35 }), Some(BankUse::Writes(3)));
    assert_eq!(load.assumed(), ["timing.trf_load_setup_cycles"]);
    assert!(last(&format!("{LOAD}, load short")).assumed().is_empty());
    let vrf = last("hw.fetch i8, packet 32, loops [64 : 1] : 8; hw.collect flits 1; hw.store_vrf at 32");
    assert_eq!(vrf.accesses(), [access(Space::Vrf, true, 32..96)]);
    let generate = last("hw.generate 5, at 4096");
    assert_eq!(generate.accesses(), [access(Space::DM, true, 4096..4100)]);
    assert_eq!(generate.assumed(), ["timing.generate_cycles"]);
    let commit = last(
        "hw.fetch i8, packet 32, loops [64 : 1] : 8; hw.collect flits 1; hw.commit bytes 32, loops [64 : 1] : 8, \
         slices [8, 9, 63, 64]",
    );
    assert_eq!(commit.accesses(), [access(Space::DM, true, 0..64)]);
    assert_eq!(commit.stored_slices(), Some(&[8..9, 63..64][..]));
    // Two counts are read, and at most everything is kept.
    let packed = last(PACKED);
    assert_eq!(
        packed.accesses(),
        [access(Space::DM, false, 8192..8200), access(Space::DM, true, 4096..4160)]
    );
    assert_eq!(packed.stored_slices(), Some(&[8..9, 63..64][..]));
}

/// Stages without declarations: the first two touch no register file and assume nothing, and every slice stores.
#[test]
fn what_is_not_said() {
    let machine = Machine::rngd();
    for stage in &in_sub(LOAD)[..2] {
        assert!(
            stage.as_exchange().is_none() && stage.assumed().is_empty() && stage.stored_slices().is_none()
        );
        assert!(stage.bank_use(&machine, FLIT).is_none() && stage.excludes().is_none());
    }
    assert!(last(LOAD).stored_slices().is_none());
}

#[test]
fn a_collect_makes_flits_of_packets() {
    let collect = &exec(CONTRACTION).stages[1];
    let out = collect.cost(&Machine::rngd(), Flow { packets: 4, packet: 64 }).out;
    assert_eq!(out, Flow { packets: 8, packet: 32 });
}

#[test]
fn a_zip_makes_one_packet_of_two() {
    let stages = "hw.fetch i32, packet 32, loops [128 : 1] : 32; hw.collect flits 1; hw.vector_zip AddFxp, stage \
                  clip, apart 1; hw.commit bytes 32, loops [64 : 1] : 32 @ 4096";
    let out = exec(stages).stages[2].cost(&Machine::rngd(), Flow { packets: 4, packet: 32 }).out;
    assert_eq!(out, Flow { packets: 2, packet: 32 });
}

#[test]
fn an_operand_is_read_from_the_register_file() {
    let stages = "hw.fetch i32, packet 32, loops [128 : 1] : 32; hw.collect flits 1; hw.vector AddFxp, vrf [4 : \
                  32, 32 : 1] : 32 @ 64; hw.commit bytes 32, loops [128 : 1] : 32 @ 4096";
    assert_eq!(exec(stages).stages[2].accesses(), [access(Space::Vrf, false, 64..192)]);
}

/// The bitmap of a custom topology is written first.
#[test]
fn a_bitmap_takes_time_that_is_assumed() {
    let assumed = |switch: &str| {
        let stages = format!(
            "hw.fetch i8, packet 32, loops [32 : 1] : 32; hw.switch {switch}; hw.collect flits 1; hw.store_vrf at \
             0"
        );
        exec(&stages).stages[1].assumed()
    };
    assert_eq!(assumed("custom, ring 2, snoop [{0}, {1}, {3}, {2}]"), ["timing.bitmap_word_cycles"]);
    assert!(assumed("broadcast01, slice1 1, slice0 1, time0 1").is_empty());
}

/// Bit 2 alone, `bits 4`, is slices 0 and 4, which a ring of eight holds. 5 cycles a slice come on top of the
/// packets; of two parts a slice receives one.
#[test]
fn slices_are_reduced_along_a_ring() {
    let mut machine = Machine::rngd();
    machine.timing.inter_slice_cycles = 5;
    let cost = |clauses: &str, kept: u64| {
        let stages = format!(
            "hw.fetch i32, packet 32, loops [256 : 1] : 32; hw.collect flits 1; hw.vector_inter_reduce Add, \
             {clauses}; hw.commit bytes 32, loops [{} : 1] : 32 @ 4096",
            kept * 32
        );
        let stages = exec(&stages).stages;
        assert_eq!(stages[2].assumed(), ["timing.inter_slice_cycles"]);
        let cost = stages[2].cost(&machine, Flow { packets: 8, packet: 32 });
        (cost.cycles, cost.latency, cost.out)
    };
    assert_eq!(cost("bits 1", 8), (8, 10, Flow { packets: 8, packet: 32 }));
    assert_eq!(cost("bits 4", 8), (8, 40, Flow { packets: 8, packet: 32 }));
    assert_eq!(cost("bits 5", 8), (8, 40, Flow { packets: 8, packet: 32 }));
    assert_eq!(cost("bits 3, parts 2, packets 2, width 1", 4), (8, 20, Flow { packets: 4, packet: 32 }));
}

/// Reads of 32 bytes for two packets, from 64 on; one word for each of sixteen ids, from 96 on.
#[test]
fn ids_are_read_and_stored_where_they_say() {
    let stages = "hw.fetch i32, packet 32, loops [64 : 1] : 32; hw.collect flits 1; hw.vector_branch vrf, vrf [2 \
                  : 32, 32 : 1] : 32 @ 64; hw.store_ids at 96";
    let stages = exec(stages).stages;
    assert_eq!(stages[2].accesses(), [access(Space::Vrf, false, 64..128)]);
    assert_eq!(stages[3].accesses(), [access(Space::Vrf, true, 96..160)]);
}

/// A report on marks names both ways to keep padding out.
#[test]
fn a_reduction_says_what_keeps_padding_out() {
    let stages = "hw.fetch i32, packet 32, loops [32 : 1] : 32; hw.collect flits 1; hw.vector_lanes trim; \
                  hw.vector_reduce Max, lanes tree, slots [1 : 1] : 1; hw.vector_lanes pad; hw.commit bytes 32, \
                  loops [32 : 1] : 32 @ 4096";
    let stages = exec(stages).stages;
    let excludes = stages[3].excludes().expect("a reduction of padding");
    assert!(excludes.contains("mask") && excludes.contains("hw.vector_valid_count"), "{excludes}");
    assert_eq!(stages[2].excludes(), None);
}
