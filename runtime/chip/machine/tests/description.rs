//! Machine descriptions as JSON: the accepted ones, and the refused ones with their messages.
// One JSON object holds the whole machine.
#![recursion_limit = "256"]

use serde_json::{Value, json};
use visa_machine::{ASSUMED, FIGURES, Machine, MachineError};
use visa_numerics::SumOrder;

/// Fields that may be zero: latencies, and a memory that a machine may lack.
const MAY_BE_ZERO: [&str; 13] = [
    "/memory/spm_bytes_per_pe",
    "/limits/valid_count_gates",
    "/timing/launch_cycles",
    "/timing/dma_startup_cycles",
    "/timing/hbm_row_switch_cycles",
    "/timing/fetch_table_cycles",
    "/timing/fetch_cast_cycles",
    "/timing/bitmap_word_cycles",
    "/timing/shift_reuse_cycles",
    "/timing/trf_load_setup_cycles",
    "/timing/tree_level_cycles",
    "/timing/alu_latency_cycles",
    "/timing/inter_slice_cycles",
];

fn load(value: &Value) -> Result<Machine, MachineError> {
    Machine::from_json(&value.to_string())
}

fn refusal(text: &str) -> String {
    let error = Machine::from_json(text).expect_err("a refused description");
    error.to_string()
}

/// JSON pointers of all numbers of the description, those in lists included.
fn numbers(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                numbers(value, &format!("{path}/{key}"), found);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                numbers(value, &format!("{path}/{index}"), found);
            }
        }
        Value::Number(_) => found.push(path.to_owned()),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn rngd_as_json() -> Value {
    serde_json::to_value(Machine::rngd()).expect("a machine is JSON")
}

#[test]
fn an_empty_description_is_rngd() {
    assert_eq!(Machine::from_json("{}"), Ok(Machine::rngd()));
    assert_eq!(load(&rngd_as_json()), Ok(Machine::rngd()));
    for machine in Machine::builtin() {
        assert_eq!(machine.validate(), Ok(()), "{}", machine.name);
    }
}

#[test]
fn a_description_overrides_single_fields() {
    let text = r#"{"name": "half", "topology": {"clusters_per_chip": 1}, "timing": {"clock_ghz": 1.5},
                   "limits": {"fetch_sizes_main": [8, 32]}, "sum_order": "sequential"}"#;
    let mut expected = Machine::rngd();
    expected.name = "half".to_owned();
    expected.topology.clusters_per_chip = 1;
    expected.timing.clock_ghz = 1.5;
    expected.limits.fetch_sizes_main = vec![8, 32];
    expected.sum_order = SumOrder::Sequential;
    assert_eq!(Machine::from_json(text), Ok(expected));
}

/// Every number of the description is bounded on both sides: a new field without bounds fails here.
#[test]
fn every_number_is_bounded() {
    let rngd = rngd_as_json();
    let mut paths = Vec::new();
    numbers(&rngd, "", &mut paths);
    assert!(paths.len() > 40);
    for path in paths {
        for (extreme, taken) in [
            (json!(0), MAY_BE_ZERO.contains(&path.as_str())),
            (json!(u64::MAX), false),
            (json!(u64::MAX / 2 + 1), false),
            (json!(-1), false),
        ] {
            let mut changed = rngd.clone();
            *changed.pointer_mut(&path).expect("a path of it") = extreme.clone();
            assert_eq!(load(&changed).is_ok(), taken, "{path} = {extreme}");
        }
    }
}

/// Just inside and just outside; the numbers are worked out from the rules, not from the code's output.
#[test]
fn limits_at_their_edges() {
    for (path, inside, outside) in [
        ("/topology/max_chips", json!(1024), json!(1025)),
        ("/limits/vector_immediates", json!(16), json!(17)),
        ("/topology/clusters_per_chip", json!(16), json!(3)),
        ("/topology/slices_per_cluster", json!(8), json!(4)), // 8 networks a cluster
        ("/topology/slices_per_cluster", json!(4096), json!(8192)),
        ("/memory/dm_bytes_per_slice", json!(128), json!(64)), // 16 banks of 8 bytes
        ("/memory/trf_rows", json!(4), json!(16)),
        ("/memory/hbm_bytes", json!(1_u64 << 40), json!((1_u64 << 40) + 1)),
        ("/limits/fetch_size_sub", json!(32), json!(64)), // a flit
        ("/limits/fetch_casts", json!([["i4", "i9"]]), json!([["i9", "i4"]])),
        ("/limits/fetch_casts", json!([]), json!([["i4"]])),
        ("/limits/fetch_casts", json!([["f8e5m2", "bf16"]]), json!([["i8", "f32"]])),
        ("/limits/fetch_casts", json!([["f16", "f32"]]), json!([["f64", "f32"]])),
        ("/limits/mac_width_bytes", json!(64), json!(128)),
        ("/limits/shift_buffer_bytes", json!(64), json!(63)), // the width
        ("/limits/interleaved_inner_max", json!(128), json!(129)), // 1024 slots, 8 rows
        ("/limits/sequential_inner_max", json!(32), json!(33)), // 1024 slots, 32 columns
        ("/limits/vector_lanes", json!(8), json!(4)),         // 32-byte flits
        ("/limits/reduce_slots", json!(1024), json!(0)),
        ("/limits/valid_count_counters", json!(32), json!(33)),
        ("/limits/valid_count_gates", json!(0), json!(33)),
        ("/limits/transpose_elements", json!(8), json!(16)), // of 4 bytes in a flit of 32
        ("/limits/transpose_row_bytes", json!(32), json!(64)), // a flit
        ("/limits/transpose_row_bytes", json!(4), json!(2)), // a row of 4-byte elements
        ("/limits/transpose_columns", json!([8, 256]), json!([8, 257])),
        ("/limits/transpose_buffer_columns", json!(256), json!(257)),
        ("/limits/commit_sizes", json!([8, 32]), json!([8, 40])),
        ("/limits/row_counts", json!([1]), json!([])),
        ("/limits/row_counts", json!([1, 2]), json!([2, 1])),
        ("/limits/row_counts", json!([1, 4]), json!([1, 1, 4])),
        ("/limits/fetch_sizes_main", json!([4, 8]), json!([4, 12])),
        ("/limits/fetch_sizes_dual", json!([32, 64]), json!([64, 128])), // a flit of 64
        ("/limits/dual_flit_bytes", json!(64), json!(128)),              // two flits
        ("/timing/clock_ghz", json!(100.0), json!(100.5)),
        ("/timing/clock_ghz", json!(0.001), json!(0.0009)),
        ("/timing/launch_cycles", json!(0), json!(1_048_577)),
        ("/timing/dma_startup_cycles", json!(0), json!(1_048_577)),
        ("/timing/hbm_row_switch_cycles", json!(1_048_576), json!(1_048_577)),
        ("/timing/hbm_partial_write_times", json!(1), json!(0)),
        ("/limits/dm_queue_requests", json!(1024), json!(1025)),
        ("/limits/dma_read_ahead", json!(1), json!(0)),
        ("/sum_order", json!("tree"), json!("pairs")),
        ("/name", json!("x"), json!("")),
    ] {
        for (value, taken) in [(inside, true), (outside, false)] {
            let mut changed = rngd_as_json();
            *changed.pointer_mut(path).expect("a field") = value.clone();
            assert_eq!(load(&changed).is_ok(), taken, "{path} = {value}");
        }
    }
}

#[test]
fn refusals_name_the_field_and_the_rule() {
    assert_eq!(
        refusal(r#"{"topology": {"clusters_per_chip": 3, "max_chips": 0}}"#),
        "machine description: topology.max_chips is 0, expected 1 to 1024; topology.clusters_per_chip is 3, \
         expected a power of two from 1 to 16"
    );
    assert_eq!(
        refusal(r#"{"limits": {"row_counts": [2, 1]}}"#),
        "machine description: limits.row_counts is [2, 1], expected 1 to 64 ascending values, each a power of two \
         from 1 to 8"
    );
    assert_eq!(
        refusal(r#"{"topology": {"slices_per_cluster": 4}}"#),
        "machine description: topology.slices_per_cluster is 4, expected a multiple of the 8 data memory networks \
         of a cluster"
    );
}

#[test]
fn refusals_of_conversions_say_what_there_is() {
    assert_eq!(
        refusal(r#"{"limits": {"fetch_casts": [["i8", "f32"]]}}"#),
        "machine description: limits.fetch_casts is i8 to f32, expected i8 to i9, i32"
    );
    let message = refusal(r#"{"limits": {"fetch_casts": [["f8", "f32"]]}}"#);
    assert!(message.contains("format \"f8\" is unknown, expected one of i4, i5, i8"), "{message}");
}

#[test]
fn refusals_of_texts_say_where() {
    for (text, words) in [
        ("", "line 1 column 0: EOF"),
        ("[]]", "line 1 column 3: trailing characters"),
        ("{", "line 1 column 1: EOF"),
        ("{\n \"cpu\": 1}", "line 2 column 6: unknown field `cpu`"),
        (r#"{"memory": {"dm": 1}}"#, "unknown field `dm`"),
        (r#"{"memory": {"vrf_bytes": "8K"}}"#, "invalid type: string \"8K\", expected u64"),
        (r#"{"memory": {"vrf_bytes": 1.5}}"#, "expected u64"),
        (r#"{"memory": {"vrf_bytes": 1, "vrf_bytes": 2}}"#, "duplicate field `vrf_bytes`"),
        (r#"{"timing": {"clock_ghz": 1e999}}"#, "number out of range"),
        (r#"{"sum_order": "pairs"}"#, "sum order \"pairs\" is unknown, expected \"tree\" or \"sequential\""),
        ("\u{0}", "line 1 column 1: expected value"),
    ] {
        let message = refusal(text);
        assert!(message.contains(words), "{text:?} gives {message}");
        assert!(!message.contains(" at line "), "the position stands twice: {message}");
    }
    let deep = "[".repeat(100_000);
    assert!(refusal(&deep).starts_with("machine description, line 1"));
}

#[test]
fn long_lists_are_refused_in_one_line() {
    let values: Vec<u64> = (1..=1000).collect();
    let message = refusal(&json!({"limits": {"commit_sizes": values}}).to_string());
    assert!(message.contains("limits.commit_sizes is a list of 1000 values"), "{message}");
}

#[test]
fn assumed_fields_exist() {
    let rngd = rngd_as_json();
    for assumption in ASSUMED {
        let path = format!("/{}", assumption.field.replace('.', "/"));
        assert!(rngd.pointer(&path).is_some(), "{} is no field", assumption.field);
        assert!(!assumption.why.is_empty());
    }
}

/// RNGD's numbers once more, from the book: a changed default must be a decision.
#[test]
fn rngd_in_numbers() {
    let expected = json!({
        "name": "rngd",
        "topology": {"max_chips": 8, "clusters_per_chip": 2, "pes_per_cluster": 4, "slices_per_cluster": 256,
                     "dmns_per_pe": 2, "dma_engines_per_chip": 8},
        "memory": {"dm_bytes_per_slice": 524_288, "dm_banks": 16, "dm_bank_width": 8, "trf_rows": 8,
                   "trf_bytes_per_row": 8192, "trf_bank_columns": 2, "trf_bank_width": 32, "trf_cache_rows": 4,
                   "vrf_bytes": 8192, "spm_bytes_per_pe": 4096,
                   "hbm_bytes": 51_539_607_552_u64, "hbm_stacks": 2, "hbm_channels_per_stack": 16},
        "limits": {"sequencer_entries": 8, "sequencer_limit": 65_536, "sequencer_stride_bits": 32,
                   "fetch_sizes_main": [1, 2, 4, 8, 16, 32], "fetch_size_sub": 8,
                   "fetch_sizes_dual": [1, 2, 4, 8, 16, 32, 64], "dual_flit_bytes": 64,
                   "fetch_size_sub_i4_to_i32": 4, "fetch_align": 8,
                   "fetch_casts": [["i4", "i5"], ["i4", "i32"], ["i8", "i9"], ["i8", "i32"], ["i16", "i32"],
                                   ["f8e4m3", "f32"], ["f8e5m2", "f32"], ["bf16", "f32"], ["f16", "f32"],
                                   ["f32", "bf16"]],
                   "cast_fetch_max_bytes": 32, "mask_right_nibbles": 255, "mask_counts": 8,
                   "mask_packet_max_bytes": 256, "flit_bytes": 32, "commit_sizes": [8, 16, 24, 32],
                   "commit_size_sub": 8, "commit_stride_align": 8, "dma_dm_align": 8,
                   "transpose_elements": 8, "transpose_row_bytes": 8, "transpose_columns": [8, 16, 32],
                   "transpose_buffer_columns": 16,
                   "dma_packet_max_bytes": 4096, "dma_request_bytes": 256, "dm_queue_requests": 2, "dma_read_ahead": 128,
                   "mac_width_bytes": 64, "shift_buffer_bytes": 96,
                   "reg_read_sizes": [1, 2, 4, 8, 16, 32, 64], "trf_wide_align": 64,
                   "row_counts": [1, 2, 4, 8], "accumulator_slots": 1024, "accumulator_columns": 32,
                   "interleaved_inner_max": 128, "sequential_inner_max": 32, "vector_lanes": 8,
                   "reduce_slots": 8, "valid_count_counters": 8, "valid_count_gates": 3, "vector_immediates": 3,
                   "dm_bank_starvation": 64},
        "timing": {"clock_ghz": 1.0, "launch_cycles": 100, "dma_startup_cycles": 500, "dma_bytes_per_cycle": 256,
                   "hbm_bytes_per_cycle": 1536, "dm_bytes_per_cycle_per_dmn": 128, "spm_bytes_per_cycle": 128,
                   "pcie_bytes_per_cycle": 30, "hbm_row_switch_cycles": 40, "hbm_partial_write_times": 50, "fetch_table_cycles": 1, "fetch_cast_cycles": 2, "generate_cycles": 1,
                   "shift_reuse_cycles": 1, "trf_load_setup_cycles": 16, "tree_level_cycles": 1,
                   "alu_latency_cycles": 1, "inter_slice_cycles": 1, "bitmap_word_cycles": 1},
        "sum_order": "tree"
    });
    assert_eq!(rngd_as_json(), expected);
}

/// Book 11: a DMA waits at most (256 / 128) n 32 cycles after n accesses of each of 32 slices, and is given up
/// after 4096.
#[test]
fn b2_the_64_access_rule_follows_from_the_network() {
    let rngd = Machine::rngd();
    let (timing, topology) = (&rngd.timing, &rngd.topology);
    let dmns = topology.pes_per_cluster * topology.dmns_per_pe;
    let cycles = |accesses: u64| {
        timing.dma_bytes_per_cycle / timing.dm_bytes_per_cycle_per_dmn
            * accesses
            * (topology.slices_per_cluster / dmns)
    };
    let starving = rngd.limits.dm_bank_starvation;
    assert!(cycles(starving - 1) < 4096 && cycles(starving) >= 4096, "{}", cycles(starving));
}

/// Book 19: 1024 slots; interleaved keeps at most 128 inner sums of 8 rows, sequential 32 of 32 columns.
#[test]
fn the_accumulator_buffer_holds_what_the_book_says() {
    let machine = Machine::rngd();
    let fits =
        |interleaved, rows, columns, kept| machine.accumulator(interleaved, rows, columns, kept).fits();
    assert!(fits(true, 8, 1, 128) && !fits(true, 8, 1, 129));
    // Idle rows take slots all the same.
    assert!(fits(true, 1, 4, 32) && !fits(true, 1, 4, 33));
    assert!(fits(false, 8, 4, 4) && !fits(false, 8, 4, 5));
    assert!(fits(false, 1, 32, 32) && !fits(false, 1, 32, 33));
    assert!(!fits(true, 8, u64::MAX, 2), "products saturate");
}

#[test]
fn lists_are_no_descriptions() {
    for (text, field) in
        [("[]", "the description"), (r#"{"topology": []}"#, "topology"), (r#"{"timing": []}"#, "timing")]
    {
        let error = Machine::from_json(text).expect_err(text).to_string();
        assert!(error.contains(field) && error.contains("an object with named fields"), "{error}");
    }
    assert_eq!(Machine::from_json(r#"{"topology": {}, "timing": {}}"#), Ok(Machine::rngd()));
}

/// Clusters, processing elements and slices of a cluster, engines, for each number of processing elements of a chip.
#[test]
fn devices_are_parts_of_a_cluster_or_whole_clusters() {
    let machine = Machine::rngd();
    for (pes, clusters, per_cluster, slices, engines) in
        [(1, 1, 1, 64, 1), (2, 1, 2, 128, 2), (4, 1, 4, 256, 4), (8, 2, 4, 256, 8)]
    {
        let device = machine.device(pes).expect("a device");
        let topology = &device.topology;
        let found = (
            topology.clusters_per_chip,
            topology.pes_per_cluster,
            topology.slices_per_cluster,
            topology.dma_engines_per_chip,
        );
        assert_eq!(found, (clusters, per_cluster, slices, engines), "{pes} processing elements");
        assert_eq!(device.slices_per_chip(), 64 * pes);
        assert_eq!(device.slices_per_dmn(), machine.slices_per_dmn());
        assert_eq!(device.memory, machine.memory);
    }
    assert_eq!(machine.device(8), Ok(machine.clone()));
    assert_eq!(machine.device(1).expect("a device").name, "rngd with 1 PE");
    for pes in [0, 3, 5, 6, 7, 9, 12, 16, u64::MAX] {
        let refused = machine.device(pes).expect_err("no device");
        assert_eq!(refused, format!("{pes} of 8 processing elements, expected 1, 2, 4, 8"));
    }
}

/// The book's machine, and ten figures. No row fixes those that the vendor's schedules do not charge: rows of operands,
/// and a later start of contractions.
#[test]
fn measured_machines_are_the_books_beside_their_figures() {
    for name in ["rngd-silicon", "rngd-schedule"] {
        let machine = Machine::named(name).expect(name);
        let measured = machine.measured.clone().expect("figures");
        assert_eq!(Machine { name: "rngd".to_owned(), measured: None, ..machine }, Machine::rngd());
        assert_eq!((measured.figures().len(), FIGURES.len()), (10, 10));
        for (field, figure) in FIGURES.iter().zip(measured.figures()) {
            let [low, high] = figure.interval;
            assert!(low <= figure.value && figure.value <= high, "{name}: {field}");
            // A cycle of a schedule is one by definition.
            let free = [
                "measured.ticks_per_cycle",
                "measured.register_row_ticks",
                "measured.contraction_startup_ticks",
            ];
            let defined = name == "rngd-schedule" && free.contains(field);
            assert_eq!(figure.rows == 0, defined, "{name}: {field}");
            assert!(!figure.source.is_empty(), "{name}: {field}");
        }
        assert_eq!(measured.counts_cycles(), name == "rngd-schedule");
    }
}

/// A figure that is missing, out of its bounds, or out of its interval.
#[test]
fn measured_figures_are_checked() {
    let machine = Machine::named("rngd-silicon").expect("it is built in");
    let json = serde_json::to_value(&machine).expect("a machine is JSON");
    assert_eq!(load(&json), Ok(machine));
    for field in FIGURES {
        let path = format!("/{}", field.replace('.', "/"));
        for wrong in [json!(-1.0), json!(1e9), json!("2")] {
            let mut changed = json.clone();
            *changed.pointer_mut(&format!("{path}/value")).expect("a value") = wrong.clone();
            assert!(load(&changed).is_err(), "{field} = {wrong}");
        }
        let mut outside = json.clone();
        *outside.pointer_mut(&format!("{path}/interval")).expect("an interval") = json!([1e5, 1e6]);
        assert!(load(&outside).is_err(), "{field} out of its interval");
        let mut missing = json.clone();
        let own = field.trim_start_matches("measured.");
        missing["measured"].as_object_mut().expect("an object").remove(own);
        assert!(load(&missing).is_err(), "{field} is missing");
    }
    for (path, wrong) in [
        ("/measured/noise/jobs", json!([0.02, 0.01])),
        ("/measured/noise/cold", json!([-0.1, 0.1])),
        ("/measured/noise/cold", json!([0.1, 1.0])),
        ("/measured/syncs/reload", json!([300, 200, 400])),
        ("/measured/syncs/reload", json!([100, 200])),
        ("/measured/syncs/reload", json!([100, 200, 1_000_001])),
        ("/measured/syncs/kernel", json!(-1)),
        ("/measured", json!([])),
    ] {
        let mut changed = json.clone();
        *changed.pointer_mut(path).expect("a path of it") = wrong.clone();
        assert!(load(&changed).is_err(), "{path} = {wrong}");
    }
    let mut odd = json.clone();
    odd["measured"]["odd_fetch"] = json!({ "ticks": [9.0, 9.5], "source": "" });
    // Each access counts the middle of 9 and 9.5.
    let reported = load(&odd).ok().and_then(|machine| machine.measured?.odd_fetch).expect("the effect");
    assert_eq!([0, 1, 480].map(|accesses| reported.ticks(accesses)), [0.0, 9.25, 4440.0]);
    for wrong in [json!([9.5, 9.0]), json!([0.0, 9.0]), json!([9.0, 1e5]), json!([9.0]), json!("9")] {
        odd["measured"]["odd_fetch"]["ticks"] = wrong.clone();
        assert!(load(&odd).is_err(), "odd_fetch of {wrong}");
    }
    odd["measured"]["odd_fetch"] = json!({ "ticks": [9.0, 9.5] });
    assert!(load(&odd).is_err(), "an effect without a source");
    let mut parallel = json.clone();
    parallel["measured"]["parallel"] = json!({ "ticks": [0.0, 500.0], "source": "" });
    assert!(load(&parallel).is_ok());
    for wrong in [json!([500.0, 0.0]), json!([-1.0, 9.0]), json!([0.0, 1e7]), json!([0.0]), json!("9")] {
        parallel["measured"]["parallel"]["ticks"] = wrong.clone();
        assert!(load(&parallel).is_err(), "parallel of {wrong}");
    }
    let mut crossing = json.clone();
    crossing["measured"]["crossing"] = json!({ "share": [0.4, 0.6], "source": "" });
    // Each request counts half of its bytes more.
    let observed = load(&crossing).ok().and_then(|machine| machine.measured?.crossing).expect("the effect");
    assert_eq!([0, 1, 704].map(|requests| observed.bytes(requests, 256)), [0, 128, 90_112]);
    for wrong in [json!([0.6, 0.4]), json!([-0.1, 0.5]), json!([0.4, 10.1]), json!([0.4]), json!(0.5)] {
        crossing["measured"]["crossing"]["share"] = wrong.clone();
        assert!(load(&crossing).is_err(), "crossing of {wrong}");
    }
    crossing["measured"]["crossing"] = json!({ "share": [0.4, 0.6] });
    assert!(load(&crossing).is_err(), "an effect without a source");
    let mut shared = json.clone();
    shared["measured"]["shared_networks"] = json!({ "source": "" });
    let law = load(&shared).ok().and_then(|machine| machine.measured?.shared_networks);
    assert!(law.is_some_and(|law| law.source.is_empty()));
    for wrong in [json!({}), json!(true), json!({ "source": "", "share": 0.5 })] {
        shared["measured"]["shared_networks"] = wrong.clone();
        assert!(load(&shared).is_err(), "shared networks of {wrong}");
    }
    // A tick of no length would divide by 0.
    let mut still = json.clone();
    still["measured"]["ticks_per_cycle"] =
        json!({ "value": 0.0, "interval": [0.0, 1.0], "rows": 1, "source": "" });
    assert!(load(&still).is_err());
    still["measured"]["ticks_per_cycle"] =
        json!({ "value": 0.01, "interval": [0.0, 1.0], "rows": 1, "source": "" });
    assert!(load(&still).is_ok());
}
