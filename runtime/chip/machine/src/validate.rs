//! Valid values of a machine description.
//!
//! The bounds keep every derived figure within `u64` and every allocation within reason; they are far above RNGD.

use visa_numerics::{DType, FETCH_CASTS, cast_targets, fetch_cast};

use crate::error::{FieldError, MachineError};
use crate::machine::{Limits, Machine, Memory, Timing, Topology};
use crate::measured::Measured;

/// Valid range of a number of the description.
#[derive(Clone, Copy)]
enum Rule {
    /// From the first to the second number, both included.
    Within(u64, u64),
    /// A power of two, from the first to the second number.
    Power(u64, u64),
    /// The same, or 0 if the machine lacks the part.
    PowerOrNone(u64, u64),
}

impl Rule {
    fn holds(self, value: u64) -> bool {
        match self {
            Rule::Within(least, most) => (least..=most).contains(&value),
            Rule::Power(least, most) => value.is_power_of_two() && (least..=most).contains(&value),
            Rule::PowerOrNone(least, most) => value == 0 || Rule::Power(least, most).holds(value),
        }
    }

    fn describe(self) -> String {
        match self {
            Rule::Within(least, most) => format!("{least} to {most}"),
            Rule::Power(least, most) => format!("a power of two from {least} to {most}"),
            Rule::PowerOrNone(least, most) => format!("0, or {}", Rule::Power(least, most).describe()),
        }
    }
}

/// A field's path, its value and its rule.
type Check = (&'static str, u64, Rule);

/// Longest list of sizes, and longest name in bytes.
const LENGTH_MAX: usize = 64;

/// Cycles that a latency may be set to.
const LATENCY_MAX: u64 = 1 << 20;

/// Bytes a cycle that a bandwidth may be set to.
const BANDWIDTH_MAX: u64 = 1 << 20;

impl Machine {
    /// Checks every field, then how they fit together; reports all fields that are wrong.
    pub fn validate(&self) -> Result<(), MachineError> {
        let mut errors = self.wrong_fields();
        // Relations divide and multiply the fields, so they wait for sound ones.
        if errors.is_empty() {
            errors = self.wrong_relations();
        }
        if errors.is_empty() { Ok(()) } else { Err(MachineError::Invalid(errors)) }
    }

    fn wrong_fields(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if self.name.is_empty() || self.name.len() > LENGTH_MAX {
            let found = format!("{} bytes long", self.name.len());
            errors.push(error("name", found, &format!("1 to {LENGTH_MAX} bytes")));
        }
        let checks =
            [topology(&self.topology), memory(&self.memory), limits(&self.limits), timing(&self.timing)];
        for (field, value, rule) in checks.into_iter().flatten() {
            if !rule.holds(value) {
                errors.push(error(field, value.to_string(), &rule.describe()));
            }
        }
        let clock = self.timing.clock_ghz;
        if !(0.001..=100.0).contains(&clock) {
            errors.push(error("timing.clock_ghz", clock.to_string(), "0.001 to 100 GHz"));
        }
        errors.extend(wrong_lists(&self.limits));
        errors.extend(wrong_casts(&self.limits));
        errors.extend(self.measured.iter().flat_map(Measured::wrong_fields));
        errors
    }

    fn wrong_relations(&self) -> Vec<FieldError> {
        let Self { topology, memory, limits, .. } = self;
        let dmns = topology.pes_per_cluster * topology.dmns_per_pe;
        let columns = limits.accumulator_columns;
        let relations = [
            (
                "topology.slices_per_cluster",
                topology.slices_per_cluster,
                topology.slices_per_cluster.is_multiple_of(dmns),
                format!("a multiple of the {dmns} data memory networks of a cluster"),
            ),
            (
                "memory.dm_bytes_per_slice",
                memory.dm_bytes_per_slice,
                memory.dm_bytes_per_slice >= memory.dm_banks * memory.dm_bank_width,
                "at least one row of all banks".to_owned(),
            ),
            (
                "limits.vector_lanes",
                limits.vector_lanes,
                limits.vector_lanes * 4 == limits.flit_bytes,
                "the 32-bit elements of one flit (limits.flit_bytes / 4)".to_owned(),
            ),
            (
                "limits.dual_flit_bytes",
                limits.dual_flit_bytes,
                limits.dual_flit_bytes <= limits.mac_width_bytes,
                "at most what the aligner gives at once (limits.mac_width_bytes)".to_owned(),
            ),
            (
                "limits.transpose_elements",
                limits.transpose_elements,
                limits.transpose_elements * 4 <= limits.flit_bytes,
                "at most the 32-bit elements of one flit (limits.flit_bytes / 4)".to_owned(),
            ),
            (
                "limits.transpose_row_bytes",
                limits.transpose_row_bytes,
                limits.transpose_row_bytes <= limits.flit_bytes,
                "at most one flit (limits.flit_bytes)".to_owned(),
            ),
            (
                "memory.trf_rows",
                memory.trf_rows,
                memory.trf_rows <= limits.vector_lanes,
                "at most limits.vector_lanes, since a flit carries one sum of each row".to_owned(),
            ),
            (
                "limits.interleaved_inner_max",
                limits.interleaved_inner_max,
                limits.interleaved_inner_max * memory.trf_rows <= limits.accumulator_slots,
                "at most limits.accumulator_slots / memory.trf_rows".to_owned(),
            ),
            (
                "limits.sequential_inner_max",
                limits.sequential_inner_max,
                limits.sequential_inner_max * columns <= limits.accumulator_slots,
                "at most limits.accumulator_slots / limits.accumulator_columns".to_owned(),
            ),
        ];
        relations
            .into_iter()
            .filter(|(_, _, holds, _)| !holds)
            .map(|(field, value, _, expected)| error(field, value.to_string(), &expected))
            .collect()
    }
}

fn error(field: &'static str, found: String, expected: &str) -> FieldError {
    FieldError { field, found, expected: expected.to_owned() }
}

// Each function below takes its struct apart without `..`, so that a new field cannot go unchecked.

fn topology(topology: &Topology) -> Vec<Check> {
    let &Topology {
        max_chips,
        clusters_per_chip,
        pes_per_cluster,
        slices_per_cluster,
        dmns_per_pe,
        dma_engines_per_chip,
    } = topology;
    vec![
        ("topology.max_chips", max_chips, Rule::Within(1, 1024)),
        ("topology.clusters_per_chip", clusters_per_chip, Rule::Power(1, 16)),
        ("topology.pes_per_cluster", pes_per_cluster, Rule::Power(1, 64)),
        ("topology.slices_per_cluster", slices_per_cluster, Rule::Power(1, 4096)),
        ("topology.dmns_per_pe", dmns_per_pe, Rule::Power(1, 16)),
        ("topology.dma_engines_per_chip", dma_engines_per_chip, Rule::Within(1, 1024)),
    ]
}

fn memory(memory: &Memory) -> Vec<Check> {
    let &Memory {
        dm_bytes_per_slice,
        dm_banks,
        dm_bank_width,
        trf_rows,
        trf_bytes_per_row,
        trf_bank_columns,
        trf_bank_width,
        trf_cache_rows,
        vrf_bytes,
        spm_bytes_per_pe,
        hbm_bytes,
        hbm_stacks,
        hbm_channels_per_stack,
    } = memory;
    vec![
        ("memory.dm_bytes_per_slice", dm_bytes_per_slice, Rule::Power(64, 1 << 24)),
        ("memory.dm_banks", dm_banks, Rule::Power(1, 256)),
        ("memory.dm_bank_width", dm_bank_width, Rule::Power(1, 256)),
        ("memory.trf_rows", trf_rows, Rule::Power(1, 8)),
        ("memory.trf_bytes_per_row", trf_bytes_per_row, Rule::Power(64, 1 << 20)),
        ("memory.trf_bank_columns", trf_bank_columns, Rule::Power(1, 2)),
        ("memory.trf_bank_width", trf_bank_width, Rule::Power(8, 64)),
        ("memory.trf_cache_rows", trf_cache_rows, Rule::Power(1, 1024)),
        ("memory.vrf_bytes", vrf_bytes, Rule::Power(32, 1 << 20)),
        ("memory.spm_bytes_per_pe", spm_bytes_per_pe, Rule::PowerOrNone(32, 1 << 24)),
        // A page table of the interpreter stays small up to a tebibyte.
        ("memory.hbm_bytes", hbm_bytes, Rule::Within(1 << 20, 1 << 40)),
        ("memory.hbm_stacks", hbm_stacks, Rule::Power(1, 16)),
        ("memory.hbm_channels_per_stack", hbm_channels_per_stack, Rule::Power(1, 64)),
    ]
}

fn limits(limits: &Limits) -> Vec<Check> {
    let &Limits {
        sequencer_entries,
        sequencer_limit,
        sequencer_stride_bits,
        fetch_sizes_main: _,
        fetch_size_sub,
        fetch_size_sub_i4_to_i32,
        fetch_sizes_dual: _,
        fetch_casts: _,
        fetch_align,
        cast_fetch_max_bytes,
        mask_right_nibbles,
        mask_counts,
        mask_packet_max_bytes,
        flit_bytes,
        dual_flit_bytes,
        commit_sizes: _,
        commit_size_sub,
        commit_stride_align,
        dma_dm_align,
        dma_packet_max_bytes,
        dma_request_bytes,
        dm_queue_requests,
        dma_read_ahead,
        transpose_elements,
        transpose_row_bytes,
        transpose_columns: _,
        transpose_buffer_columns,
        mac_width_bytes,
        shift_buffer_bytes,
        reg_read_sizes: _,
        trf_wide_align,
        row_counts: _,
        accumulator_slots,
        accumulator_columns,
        interleaved_inner_max,
        sequential_inner_max,
        vector_lanes,
        reduce_slots,
        valid_count_counters,
        valid_count_gates,
        vector_immediates,
        dm_bank_starvation,
    } = limits;
    let flit = Rule::Power(1, flit_bytes);
    let engines = [
        ("limits.sequencer_entries", sequencer_entries, Rule::Within(1, 32)),
        ("limits.sequencer_limit", sequencer_limit, Rule::Within(1, 1 << 24)),
        ("limits.sequencer_stride_bits", sequencer_stride_bits, Rule::Within(8, 48)),
        ("limits.fetch_size_sub", fetch_size_sub, flit),
        ("limits.fetch_size_sub_i4_to_i32", fetch_size_sub_i4_to_i32, flit),
        ("limits.fetch_align", fetch_align, flit),
        ("limits.cast_fetch_max_bytes", cast_fetch_max_bytes, flit),
        ("limits.mask_right_nibbles", mask_right_nibbles, Rule::Within(1, 1 << 16)),
        ("limits.mask_counts", mask_counts, Rule::Within(1, 64)),
        ("limits.mask_packet_max_bytes", mask_packet_max_bytes, Rule::Within(1, 1 << 20)),
        ("limits.flit_bytes", flit_bytes, Rule::Power(8, 32)),
        ("limits.dual_flit_bytes", dual_flit_bytes, Rule::Power(flit_bytes, flit_bytes.saturating_mul(2))),
        ("limits.commit_size_sub", commit_size_sub, flit),
        ("limits.commit_stride_align", commit_stride_align, flit),
        ("limits.dma_dm_align", dma_dm_align, Rule::Power(1, 256)),
        ("limits.dma_packet_max_bytes", dma_packet_max_bytes, Rule::Within(1, 1 << 20)),
        ("limits.dma_request_bytes", dma_request_bytes, Rule::Power(1, 4096)),
        ("limits.dm_queue_requests", dm_queue_requests, Rule::Within(1, 1024)),
        ("limits.dma_read_ahead", dma_read_ahead, Rule::Within(1, 1 << 20)),
        ("limits.dm_bank_starvation", dm_bank_starvation, Rule::Within(1, 1 << 20)),
    ];
    let contraction = [
        // The reduction trees add 64 bytes of each format and no more (book 19).
        ("limits.mac_width_bytes", mac_width_bytes, Rule::Power(4, 64)),
        ("limits.shift_buffer_bytes", shift_buffer_bytes, Rule::Within(mac_width_bytes, 256)),
        ("limits.trf_wide_align", trf_wide_align, Rule::Power(1, mac_width_bytes)),
        ("limits.accumulator_slots", accumulator_slots, Rule::Power(8, 1 << 16)),
        ("limits.accumulator_columns", accumulator_columns, Rule::Power(1, 256)),
        ("limits.interleaved_inner_max", interleaved_inner_max, Rule::Within(1, accumulator_slots)),
        ("limits.sequential_inner_max", sequential_inner_max, Rule::Within(1, accumulator_slots)),
        ("limits.vector_lanes", vector_lanes, Rule::Power(2, 8)),
        ("limits.reduce_slots", reduce_slots, Rule::Within(1, 1024)),
        ("limits.valid_count_counters", valid_count_counters, Rule::Within(1, 32)),
        ("limits.valid_count_gates", valid_count_gates, Rule::Within(0, 32)),
        ("limits.vector_immediates", vector_immediates, Rule::Within(1, 16)),
    ];
    let transpose = [
        ("limits.transpose_elements", transpose_elements, flit),
        ("limits.transpose_row_bytes", transpose_row_bytes, Rule::Power(4, 32)),
        ("limits.transpose_buffer_columns", transpose_buffer_columns, Rule::Within(1, 256)),
    ];
    engines.into_iter().chain(contraction).chain(transpose).collect()
}

fn timing(timing: &Timing) -> Vec<Check> {
    let &Timing {
        clock_ghz: _,
        launch_cycles,
        dma_startup_cycles,
        dma_bytes_per_cycle,
        hbm_bytes_per_cycle,
        dm_bytes_per_cycle_per_dmn,
        spm_bytes_per_cycle,
        pcie_bytes_per_cycle,
        hbm_row_switch_cycles,
        hbm_partial_write_times,
        fetch_table_cycles,
        fetch_cast_cycles,
        generate_cycles,
        bitmap_word_cycles,
        shift_reuse_cycles,
        trf_load_setup_cycles,
        tree_level_cycles,
        alu_latency_cycles,
        inter_slice_cycles,
    } = timing;
    let latency = Rule::Within(0, LATENCY_MAX);
    let bandwidth = Rule::Within(1, BANDWIDTH_MAX);
    vec![
        ("timing.launch_cycles", launch_cycles, latency),
        ("timing.dma_startup_cycles", dma_startup_cycles, latency),
        ("timing.dma_bytes_per_cycle", dma_bytes_per_cycle, bandwidth),
        ("timing.hbm_bytes_per_cycle", hbm_bytes_per_cycle, bandwidth),
        ("timing.dm_bytes_per_cycle_per_dmn", dm_bytes_per_cycle_per_dmn, bandwidth),
        ("timing.spm_bytes_per_cycle", spm_bytes_per_cycle, bandwidth),
        ("timing.pcie_bytes_per_cycle", pcie_bytes_per_cycle, bandwidth),
        ("timing.hbm_row_switch_cycles", hbm_row_switch_cycles, latency),
        ("timing.hbm_partial_write_times", hbm_partial_write_times, Rule::Within(1, LATENCY_MAX)),
        ("timing.fetch_table_cycles", fetch_table_cycles, latency),
        ("timing.fetch_cast_cycles", fetch_cast_cycles, latency),
        ("timing.generate_cycles", generate_cycles, Rule::Within(1, LATENCY_MAX)),
        ("timing.bitmap_word_cycles", bitmap_word_cycles, latency),
        ("timing.shift_reuse_cycles", shift_reuse_cycles, latency),
        ("timing.trf_load_setup_cycles", trf_load_setup_cycles, latency),
        ("timing.tree_level_cycles", tree_level_cycles, latency),
        ("timing.alu_latency_cycles", alu_latency_cycles, latency),
        ("timing.inter_slice_cycles", inter_slice_cycles, latency),
    ]
}

/// A machine can leave conversions out, or have those that another machine has.
fn wrong_casts(limits: &Limits) -> Option<FieldError> {
    let (from, to) = limits.fetch_casts.iter().find(|(from, to)| fetch_cast(*from, *to).is_none())?;
    let targets: Vec<_> = cast_targets(FETCH_CASTS, *from).map(DType::name).collect();
    let expected = match targets.is_empty() {
        true => format!("none from {from}, which no machine converts"),
        false => format!("{from} to {}", targets.join(", ")),
    };
    Some(error("limits.fetch_casts", format!("{from} to {to}"), &expected))
}

/// Lists ascend strictly, hold at least one value, and each value obeys the list's rule.
fn wrong_lists(limits: &Limits) -> Vec<FieldError> {
    let lists = [
        ("limits.fetch_sizes_main", &limits.fetch_sizes_main, Rule::Power(1, limits.flit_bytes)),
        ("limits.fetch_sizes_dual", &limits.fetch_sizes_dual, Rule::Power(1, limits.dual_flit_bytes)),
        ("limits.commit_sizes", &limits.commit_sizes, Rule::Within(1, limits.flit_bytes)),
        ("limits.reg_read_sizes", &limits.reg_read_sizes, Rule::Power(1, limits.mac_width_bytes)),
        ("limits.row_counts", &limits.row_counts, Rule::Power(1, 8)),
        ("limits.transpose_columns", &limits.transpose_columns, Rule::Within(1, 256)),
    ];
    lists
        .into_iter()
        .filter(|(_, values, rule)| !list_holds(values, *rule))
        .map(|(field, values, rule)| {
            let expected = format!("1 to {LENGTH_MAX} ascending values, each {}", rule.describe());
            error(field, show_list(values), &expected)
        })
        .collect()
}

fn list_holds(values: &[u64], rule: Rule) -> bool {
    (1..=LENGTH_MAX).contains(&values.len())
        && values.is_sorted_by(|a, b| a < b)
        && values.iter().all(|&value| rule.holds(value))
}

/// The list, or its length where it is too long for a message.
fn show_list(values: &[u64]) -> String {
    if values.len() > LENGTH_MAX {
        format!("a list of {} values", values.len())
    } else {
        format!("{values:?}")
    }
}
