//! The description itself: every field with its unit and the chapter that gives its value.

use serde::{Deserialize, Serialize};
use visa_numerics::{DType, SumOrder};

use crate::error::MachineError;
use crate::measured::Measured;

/// A TCP machine. The default is RNGD; a missing field of a JSON description keeps RNGD's value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Machine {
    /// Name in reports.
    pub name: String,
    /// Number of each unit.
    pub topology: Topology,
    /// Capacities and geometry of the memories.
    pub memory: Memory,
    /// Capacities of the configuration of an engine.
    pub limits: Limits,
    /// Clocks, bandwidths and latencies.
    pub timing: Timing,
    /// The order in which a contraction adds: "tree" or "sequential" (book 19).
    #[serde(with = "sum_order")]
    pub sum_order: SumOrder,
    /// Measured figures; a machine that has them counts in ticks. RNGD's own description is the book's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
}

/// Number of each unit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Topology {
    /// Chips in the largest system (book 04). Assumed.
    pub max_chips: u64,
    /// Clusters a chip (books 04, 11).
    pub clusters_per_chip: u64,
    /// Processing elements a cluster (book 09: 64 slices each).
    pub pes_per_cluster: u64,
    /// Slices a cluster (books 04, 11).
    pub slices_per_cluster: u64,
    /// Data memory networks a processing element; 32 slices each (book 11).
    pub dmns_per_pe: u64,
    /// DMA engines a chip, one for each processing element (book 10).
    pub dma_engines_per_chip: u64,
}

/// Capacities and geometry of the memories.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Memory {
    /// Data memory of a slice, bytes (books 04, 11).
    pub dm_bytes_per_slice: u64,
    /// Banks of a slice's data memory (book 11).
    pub dm_banks: u64,
    /// Width of a data memory bank, bytes (book 11).
    pub dm_bank_width: u64,
    /// Rows of the tensor register file of a slice, one for each row of the Reducer (book 18).
    pub trf_rows: u64,
    /// Capacity of one of those rows, bytes (book 04).
    pub trf_bytes_per_row: u64,
    /// Columns of banks of a row, which take turns every `trf_bank_width` bytes (book 18).
    pub trf_bank_columns: u64,
    /// Bytes that a bank of the tensor register file reads or writes at once, and a cache entry holds (book 18).
    pub trf_bank_width: u64,
    /// Rows of banks, one entry a column each, that the read cache of a row holds (book 18: 4 rows x 2 columns x
    /// 32 bytes).
    pub trf_cache_rows: u64,
    /// Vector register file of a slice, bytes (book 04).
    pub vrf_bytes: u64,
    /// Scratchpad memory of a processing element, bytes. Assumed.
    pub spm_bytes_per_pe: u64,
    /// HBM of a chip, bytes (book 11).
    pub hbm_bytes: u64,
    /// HBM stacks of a chip (book 11).
    pub hbm_stacks: u64,
    /// Channels of an HBM stack (book 11).
    pub hbm_channels_per_stack: u64,
}

/// Capacities of the configuration of an engine. Lists are in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Entries of a sequencer, time and packet together (book 07).
    pub sequencer_entries: u64,
    /// Largest limit (iteration count) of a sequencer entry (book 07).
    pub sequencer_limit: u64,
    /// Width of a sequencer entry's signed stride, bits (book 18).
    pub sequencer_stride_bits: u64,
    /// Bytes that the main context's Fetch Engine can read at once (book 08).
    pub fetch_sizes_main: Vec<u64>,
    /// Bytes that the sub context's Fetch Engine reads at once (book 08).
    pub fetch_size_sub: u64,
    /// The same where it converts i4 to i32 (book 08).
    pub fetch_size_sub_i4_to_i32: u64,
    /// Bytes that both contexts read at once in dual channel mode (book 08: 64 bytes a cycle). Assumed: the main
    /// context's, and their width.
    pub fetch_sizes_dual: Vec<u64>,
    /// Conversions of the Fetch Adapter (book 08); in JSON a list of pairs of names.
    #[serde(with = "casts")]
    pub fetch_casts: Vec<(DType, DType)>,
    /// A fetched packet is a multiple of this many bytes (book 08).
    pub fetch_align: u64,
    /// Most bytes that one fetch may grow to when its elements are converted (book 08).
    pub cast_fetch_max_bytes: u64,
    /// Most that a fetch masks at the right end of an axis by one count, in units of 4 bits (book 08).
    pub mask_right_nibbles: u64,
    /// Most counts of a mask, one for each iteration of an entry (book 08: last_dim_rightmost_valid_count).
    pub mask_counts: u64,
    /// Largest packet of a fetch that masks, bytes (book 08).
    pub mask_packet_max_bytes: u64,
    /// A flit, the unit of streams after the Collect Engine, bytes (books 08, 14).
    pub flit_bytes: u64,
    /// A flit of dual channel mode up to the aligner, bytes (books 08, 17).
    pub dual_flit_bytes: u64,
    /// Bytes of a flit that the main context's Commit Engine can write (book 09).
    pub commit_sizes: Vec<u64>,
    /// Bytes that the sub context's Commit Engine writes at once (book 09).
    pub commit_size_sub: u64,
    /// A stride of the commit sequencer is a multiple of this many bytes (book 09).
    pub commit_stride_align: u64,
    /// Addresses and packets of a DMA into data memory or scratchpad memory are multiples of this many bytes
    /// (book 10, where both are SRAM).
    pub dma_dm_align: u64,
    /// Largest packet of a DMA sequencer, bytes (book 10).
    pub dma_packet_max_bytes: u64,
    /// Unit into which a DMA engine splits its packets, bytes (book 10).
    pub dma_request_bytes: u64,
    /// Requests that wait in the queue of a slice's data memory (book 11).
    pub dm_queue_requests: u64,
    /// Requests that an engine reads before it writes into HBM, and so the most of a transfer whose reads and
    /// writes add up (book 10, examples 1 and 6). Assumed.
    pub dma_read_ahead: u64,
    /// Elements of 8 bits and more that the Transpose Engine takes of a flit (book 27: elements_per_packet).
    pub transpose_elements: u64,
    /// Most rows of a matrix that the Transpose Engine takes, in bytes of one column (book 27: in_rows times the
    /// width).
    pub transpose_row_bytes: u64,
    /// Columns of a matrix that the Transpose Engine takes (book 27: in_cols).
    pub transpose_columns: Vec<u64>,
    /// Columns of each of its two buffers (book 27: num_buffer_cols).
    pub transpose_buffer_columns: u64,
    /// Bytes of each operand that a row of the Reducer takes in a cycle (books 17, 18, 19).
    pub mac_width_bytes: u64,
    /// Bytes that the Stream Adapter collects at once, of which shifts take the width (book 17: Flit Buffer).
    pub shift_buffer_bytes: u64,
    /// Contiguous bytes that the TRF sequencer can read from a row at once (book 18).
    pub reg_read_sizes: Vec<u64>,
    /// Alignment of base and strides where such a read takes the whole MAC width, bytes (book 18).
    pub trf_wide_align: u64,
    /// Rows of the Reducer that a contraction can use (books 17, 18, 19).
    pub row_counts: Vec<u64>,
    /// Slots of the temporal accumulator, 32-bit values (book 19).
    pub accumulator_slots: u64,
    /// Columns of the temporal accumulator (book 19).
    pub accumulator_columns: u64,
    /// Most elements inner to the outermost reduced axis, interleaved output (book 19).
    pub interleaved_inner_max: u64,
    /// Most elements inner to the outermost reduced axis, sequential output (book 19).
    pub sequential_inner_max: u64,
    /// 32-bit lanes of the Vector Engine (book 20).
    pub vector_lanes: u64,
    /// Slots of the accumulator that reduces within a slice (book 22).
    pub reduce_slots: u64,
    /// Counters of the Valid Count Generator (book 24).
    pub valid_count_counters: u64,
    /// Gates of the Valid Count Generator (book 24).
    pub valid_count_gates: u64,
    /// Immediates of a conditional operand of the Vector Engine. Assumed.
    pub vector_immediates: u64,
    /// Consecutive accesses to one bank of data memory that starve a DMA: (256 / 128) n 32 reaches the 4096 cycles
    /// after which the network gives up (book 11).
    pub dm_bank_starvation: u64,
}

/// Clocks, bandwidths and latencies. A cycle is one of `clock_ghz`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timing {
    /// Clock, GHz (book 10 counts its cycles at this rate).
    pub clock_ghz: f64,
    /// Cycles from the launch of a kernel to its first command.
    pub launch_cycles: u64,
    /// Cycles before a DMA command moves its first byte (book 10).
    pub dma_startup_cycles: u64,
    /// Bytes a cycle of one DMA engine (book 10).
    pub dma_bytes_per_cycle: u64,
    /// Bytes a cycle of a chip's HBM, reads and writes together (books 10, 11).
    pub hbm_bytes_per_cycle: u64,
    /// Bytes a cycle of one data memory network (books 10, 11).
    pub dm_bytes_per_cycle_per_dmn: u64,
    /// Bytes a cycle of one scratchpad memory (book 11).
    pub spm_bytes_per_cycle: u64,
    /// Bytes a cycle between chips (book 10). Assumed.
    pub pcie_bytes_per_cycle: u64,
    /// Cycles of a channel of HBM for a request of another row than the open one (book 10, example 4). Assumed.
    pub hbm_row_switch_cycles: u64,
    /// Factor by which a channel of HBM takes longer for a write of a part of its unit (book 11). Assumed.
    pub hbm_partial_write_times: u64,
    /// Cycles that an element takes longer through the Fetch Adapter for a table lookup (book 08 has no figure).
    /// Assumed.
    pub fetch_table_cycles: u64,
    /// Cycles that an element takes longer through the Fetch Adapter for a conversion (book 08: 1 to 2). Assumed.
    pub fetch_cast_cycles: u64,
    /// Cycles of writing one number by generate mode (book 09 has no figure). Assumed: those of one access.
    pub generate_cycles: u64,
    /// Cycles of writing 32 bits of a switch's snoop bitmap to registers (book 13 has no figure). Assumed: those
    /// of one number written by generate mode.
    pub bitmap_word_cycles: u64,
    /// Cycles that a packet takes longer through the Stream Adapter where more flits are collected than the width
    /// takes (book 17 has no figure). Assumed.
    pub shift_reuse_cycles: u64,
    /// Cycles that a load of the tensor register file takes to set up where it goes through the whole pipeline,
    /// more than a short command (book 18 has no figure). Assumed.
    pub trf_load_setup_cycles: u64,
    /// Cycles of one level of the reduction tree (book 19).
    pub tree_level_cycles: u64,
    /// Cycles of one ALU of the Vector Engine (book 21).
    pub alu_latency_cycles: u64,
    /// Cycles of an inter-slice reduction for each slice of its ring, once a command (book 25: about one ring
    /// traversal). Assumed.
    pub inter_slice_cycles: u64,
}

/// A field whose value the book does not settle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assumption {
    /// Path of the field, as in a JSON description.
    pub field: &'static str,
    /// Reason for the assumption.
    pub why: &'static str,
}

/// The assumed fields; a report whose figures rest on one lists it.
pub const ASSUMED: &[Assumption] = &[
    Assumption {
        field: "topology.max_chips",
        why: "the number of chips depends on the system; 8 is the largest that book 04 mentions",
    },
    Assumption {
        field: "memory.spm_bytes_per_pe",
        why: "book 11 leaves the capacity pending; the value is the vendor's CPU model's",
    },
    Assumption {
        field: "limits.vector_immediates",
        why: "book 21 shows conditional operands without a limit; the value is ours",
    },
    Assumption {
        field: "limits.fetch_sizes_dual",
        why: "book 08 gives the bandwidth of dual channel mode, and no sizes of its accesses; those of main and 64 \
              bytes are taken",
    },
    Assumption {
        field: "timing.launch_cycles",
        why: "the book gives no cycles for a launch; about what is measured on silicon",
    },
    Assumption { field: "timing.dma_startup_cycles", why: "book 10 gives the start-up time as approximate" },
    Assumption {
        field: "timing.pcie_bytes_per_cycle",
        why: "book 10 gives bytes a cycle without the link's clock; taken to be the chip's",
    },
    Assumption {
        field: "limits.dma_read_ahead",
        why: "book 10's examples 1 and 6 add up reads and writes of up to 128 requests; the value is theirs",
    },
    Assumption {
        field: "timing.hbm_row_switch_cycles",
        why: "book 11 gives 40 to 50 ns for another row; the value is that of book 10's example 4",
    },
    Assumption {
        field: "timing.hbm_partial_write_times",
        why: "book 11 gives the cost of writing a part of a unit as roughly 50 times that of the whole",
    },
    Assumption {
        field: "timing.fetch_table_cycles",
        why: "book 08 says that a table lookup has a latency, and gives no figure",
    },
    Assumption {
        field: "timing.fetch_cast_cycles",
        why: "book 08 gives 1 to 2 cycles for a conversion; the longer is taken",
    },
    Assumption {
        field: "timing.generate_cycles",
        why: "book 09 gives no cycles for generate mode; the value is one access",
    },
    Assumption {
        field: "timing.bitmap_word_cycles",
        why: "book 13 says that a custom switch's bitmap is written to registers first, and gives no figure; 32 \
              bits a cycle are taken",
    },
    Assumption {
        field: "timing.shift_reuse_cycles",
        why: "book 17 says that collecting three flits has a latency, and gives no figure; the value is the third \
              flit's",
    },
    Assumption {
        field: "timing.inter_slice_cycles",
        why: "book 25 gives the tail of an inter-slice reduction as about one ring traversal; a cycle a slice is \
              taken",
    },
    Assumption {
        field: "timing.trf_load_setup_cycles",
        why: "book 18 says that a load through the pipeline has a higher set-up than a short command, and gives \
              no figure",
    },
    Assumption {
        field: "sum_order",
        why: "book 19 gives the tree but not which elements are neighbours in it",
    },
];

/// The conversions of RNGD's Fetch Adapter (book 08).
const RNGD_CASTS: &[(DType, DType)] = &[
    (DType::I4, DType::I5),
    (DType::I4, DType::I32),
    (DType::I8, DType::I9),
    (DType::I8, DType::I32),
    (DType::I16, DType::I32),
    (DType::F8e4m3, DType::F32),
    (DType::F8e5m2, DType::F32),
    (DType::Bf16, DType::F32),
    (DType::F16, DType::F32),
    (DType::F32, DType::Bf16),
];

/// Conversions of RNGD-S in addition to RNGD's (book 08).
const RNGD_S_CASTS: &[(DType, DType)] = &[
    (DType::I4, DType::I9),
    (DType::I16, DType::I9),
    (DType::F8e4m3, DType::Bf16),
    (DType::F8e5m2, DType::Bf16),
];

/// RNGD as measured on silicon, and as the vendor's schedules have it. A test reads them; test/peers/silicon writes
/// them.
const MEASURED: [&str; 2] =
    [include_str!("../machines/rngd-silicon.json"), include_str!("../machines/rngd-schedule.json")];

impl Machine {
    /// The machines that have a name, which stands for their description.
    pub fn builtin() -> impl Iterator<Item = Self> {
        let measured = MEASURED.into_iter().filter_map(|text| Self::from_json(text).ok());
        [Self::rngd(), Self::rngd_s()].into_iter().chain(measured)
    }

    /// The machine that has this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::builtin().find(|machine| machine.name == name)
    }

    /// RNGD-S: RNGD with more conversions at the fetch (book 08). The book specifies no other difference, so all other
    /// figures are assumed to be RNGD's.
    pub fn rngd_s() -> Self {
        let mut machine = Self { name: "rngd-s".to_owned(), ..Self::rngd() };
        machine.limits.fetch_casts.extend(RNGD_S_CASTS);
        machine
    }

    /// RNGD.
    pub fn rngd() -> Self {
        Self {
            name: "rngd".to_owned(),
            topology: Topology::default(),
            memory: Memory::default(),
            limits: Limits::default(),
            timing: Timing::default(),
            sum_order: SumOrder::Tree,
            measured: None,
        }
    }

    /// The machine that a JSON description makes of RNGD, checked. A byte order mark before the text is skipped.
    pub fn from_json(text: &str) -> Result<Self, MachineError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let written = serde_json::from_str(text).map_err(MachineError::from_serde)?;
        MachineError::check_figures(&written)?;
        let machine: Self = serde_json::from_str(text).map_err(MachineError::from_serde)?;
        MachineError::check_objects(&written)?;
        machine.validate()?;
        Ok(machine)
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::rngd()
    }
}

impl Default for Topology {
    fn default() -> Self {
        Self {
            max_chips: 8,
            clusters_per_chip: 2,
            pes_per_cluster: 4,
            slices_per_cluster: 256,
            dmns_per_pe: 2,
            dma_engines_per_chip: 8,
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            dm_bytes_per_slice: 512 << 10,
            dm_banks: 16,
            dm_bank_width: 8,
            trf_rows: 8,
            trf_bytes_per_row: 8 << 10,
            trf_bank_columns: 2,
            trf_bank_width: 32,
            trf_cache_rows: 4,
            vrf_bytes: 8 << 10,
            spm_bytes_per_pe: 4 << 10,
            hbm_bytes: 48 << 30,
            hbm_stacks: 2,
            hbm_channels_per_stack: 16,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sequencer_entries: 8,
            sequencer_limit: 65_536,
            sequencer_stride_bits: 32,
            fetch_sizes_main: vec![1, 2, 4, 8, 16, 32],
            fetch_size_sub: 8,
            fetch_size_sub_i4_to_i32: 4,
            fetch_sizes_dual: vec![1, 2, 4, 8, 16, 32, 64],
            fetch_casts: RNGD_CASTS.to_vec(),
            fetch_align: 8,
            cast_fetch_max_bytes: 32,
            mask_right_nibbles: 255,
            mask_counts: 8,
            mask_packet_max_bytes: 256,
            flit_bytes: 32,
            dual_flit_bytes: 64,
            commit_sizes: vec![8, 16, 24, 32],
            commit_size_sub: 8,
            commit_stride_align: 8,
            dma_dm_align: 8,
            dma_packet_max_bytes: 4096,
            dma_request_bytes: 256,
            dm_queue_requests: 2,
            dma_read_ahead: 128,
            transpose_elements: 8,
            transpose_row_bytes: 8,
            transpose_columns: vec![8, 16, 32],
            transpose_buffer_columns: 16,
            mac_width_bytes: 64,
            shift_buffer_bytes: 96,
            reg_read_sizes: vec![1, 2, 4, 8, 16, 32, 64],
            trf_wide_align: 64,
            row_counts: vec![1, 2, 4, 8],
            accumulator_slots: 1024,
            accumulator_columns: 32,
            interleaved_inner_max: 128,
            sequential_inner_max: 32,
            vector_lanes: 8,
            reduce_slots: 8,
            valid_count_counters: 8,
            valid_count_gates: 3,
            vector_immediates: 3,
            dm_bank_starvation: 64,
        }
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            clock_ghz: 1.0,
            launch_cycles: 100,
            dma_startup_cycles: 500,
            dma_bytes_per_cycle: 256,
            hbm_bytes_per_cycle: 1536,
            dm_bytes_per_cycle_per_dmn: 128,
            spm_bytes_per_cycle: 128,
            pcie_bytes_per_cycle: 30,
            hbm_row_switch_cycles: 40,
            hbm_partial_write_times: 50,
            fetch_table_cycles: 1,
            fetch_cast_cycles: 2,
            generate_cycles: 1,
            bitmap_word_cycles: 1,
            shift_reuse_cycles: 1,
            trf_load_setup_cycles: 16,
            tree_level_cycles: 1,
            alu_latency_cycles: 1,
            inter_slice_cycles: 1,
        }
    }
}

/// Conversions travel as pairs of names.
mod casts {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::{Serialize, Serializer};
    use visa_numerics::DType;

    pub(super) fn serialize<S: Serializer>(
        casts: &[(DType, DType)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let names: Vec<_> = casts.iter().map(|(from, to)| [from.name(), to.name()]).collect();
        names.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(DType, DType)>, D::Error> {
        let format = |name: &String| {
            DType::parse(name).ok_or_else(|| {
                let known: Vec<_> = DType::names().collect();
                D::Error::custom(format!("format {name:?} is unknown, expected one of {}", known.join(", ")))
            })
        };
        let names = Vec::<[String; 2]>::deserialize(deserializer)?;
        names.iter().map(|[from, to]| Ok((format(from)?, format(to)?))).collect()
    }
}

/// A sum order travels by its name.
mod sum_order {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;
    use visa_numerics::SumOrder;

    pub(super) fn serialize<S: Serializer>(order: &SumOrder, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(order.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SumOrder, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(D::Error::custom)
    }
}
