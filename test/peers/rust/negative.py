"""Why each kernel that must be refused is one: the author's reason in our words, and what our error says for it.

The reasons are those of comments and of rules near the kernels of the repository. A name that two modules have is that
of the importer, with the module before it.
"""

SLICES = r"\[stream\.switch-C2\] slice mapping: "
TIMES = r"\[stream\.switch-C3\] time mapping: "
ALIGNED = r"\[stream\.align-C3\] .* is not the stream's time .*, packet "
ROWS = r"\[stream\.to_trf-C2\] .* differs from "

REFUSED = {
    "branched": ("an array index is no choice", "the index of an array is a choice by the index of a loop"),
    "ve_group_pair_over_cache": ("a group fits the register file's cache", "elements, which wait for the other one"),
    # A lane, packet or time of a contraction.
    "invalid_size_3": ("a register file has 1, 2, 4 or 8 lanes", r"to_trf-C1\] .* has 3 positions, expected 1, 2, 4, 8"),
    "invalid_size_16": ("a register file has 1, 2, 4 or 8 lanes", r"to_trf-C1\] .* has 16 positions, expected 1, 2, 4, 8"),
    "cpacket_mapping_invalid_mapping": ("the packet's flit is the stream's packet", ALIGNED),
    "invalid_one_collect_flit_no_padding": ("a packet packs the innermost time", ALIGNED),
    "invalid_one_collect_flit_no_padding_reversed": ("the packet's flit is its inner part", ALIGNED),
    "invalid_time_mismatch": ("time is the stream's, repeated", ALIGNED),
    "invalid_swapped_time_axes": ("time keeps the stream's order", ALIGNED),
    "invalid_tiling_not_innermost": ("repeated axes are innermost in time", ALIGNED),
    "invalid_lane_mapping": ("lanes match the stream", ROWS),
    "trf_mapping_invalid_mapping": ("a register file matches the stream", ROWS),
    "invalid_lane_not_divisible_by_time": ("lanes divide the stream's time", ROWS),
    "invalid_lane_exceeds_time": ("there are no more lanes than steps of time", ROWS),
    "invalid_to_trf_full": ("a row of a register file has a limited size", r"to_trf-C3\] .* of a TRF row, which has 8192"),
    # A transfer.
    "invalid_hbm_to_dm": ("a DMA does not transpose elements", r"to_dm-C5\] the transfer writes runs of 1 byte"),
    # A lift.
    "live_placement_renamed": ("a lift fills copies alone", r"\[stream\.fetch-C14\] .* only copies are read in part"),
    "unaligned_base_step": ("a fetch starts at a multiple of 8 bytes", r"\[stream\.fetch-C14\] .* expected a multiple of 8 bytes"),
    "transpose_i4_doubled_tu": ("4-bit elements have no doubled packing", r"\[stream\.transpose-C3\]"),
    # A loop that is written out.
    "unroll_dynamic_count": ("the iterations are known before the kernel runs", r"`#\[unroll\]` of a range that is known only when"),
    "unroll_empty_range": ("a loop has an iteration", r"`#\[unroll\]` of an empty range"),
    # The language.
    "gen_copy": ("a kernel is no generic function", r"a kernel with generic parameters"),
    "memset_missing_const_bf16": ("a fill value is a constant, no call", r"`memset` takes a constant.*: a call is known"),
    "runtime_if_scalar_immediate": ("an immediate is no choice by an index", r"`vector_fxp` takes a constant.*: the index of a loop"),
    "runtime_panic": ("a kernel does not stop while it runs", r"`assert!` of a value known only at run time: the kernel does not stop"),
    "scalar_cast_missing_const": ("an immediate is a constant, no cast", r"`vector_fp_div` takes a constant.*: a cast"),
    # An index that scratchpad memory has no room for.
    "invalid_gather_unscaled_index_over_spm": ("an index fits scratchpad memory", r"to_spm-C1\] .* takes 8192 bytes .* has 4096"),
    # Collecting.
    "packet_mismatch": ("a flit matches the stream", r"collect-C2\] .* differs from "),
    "collect_time_mismatch": ("flits after the first are in time", r"collect-C2\] .* differs from "),
    # Parts of a ring.
    "invalid_slice1_zero": ("no part of a ring is empty", r"switch-C1\] slice1 is 0"),
    "invalid_slice0_zero": ("no part of a ring is empty", r"switch-C1\] slice0 is 0"),
    "broadcast1_invalid_slice_size": ("parts of a ring are powers of two", r"switch-C1\] slice1 is 3"),
    "broadcast01_invalid_slice_size": ("parts of a ring are powers of two", r"switch-C1\] slice1 is 3"),
    "invalid_dims": ("parts of a ring are powers of two", r"switch-C1\] slice1 is 3"),
    "invalid_time0": ("no part of time is empty", r"switch-C1\] time0 is 0"),
    "invalid_time0_size": ("parts of time divide it", r"switch-C1\] slice1 x time0 = 12 does not divide"),
    # What slices hold after a switch.
    "broadcast1_invalid_slice2_mismatch": ("slices outside of the ring stay", SLICES + "axis C"),
    "broadcast01_invalid_slice2_mismatch": ("slices outside of the ring stay", SLICES + "axis C"),
    "broadcast1_invalid_slice0_mismatch": ("the inner part of the ring stays", SLICES + "axis C"),
    "invalid_broadcast_axes_not_new": ("a broadcast's axis is new", SLICES + "axis C.* expected the empty index"),
    "invalid_slice_axes_in_broadcast": ("a broadcast's axis is none of the slices", SLICES + "axis C.* expected the empty index"),
    "invalid_time_axes_in_broadcast": ("a broadcast's axis is none of time", SLICES + "axis A.* expected the empty index"),
    "invalid_transpose_placement": ("outer slices stay outside of the transposition", SLICES + "axis C"),
    "inter_transpose_invalid_slice2_mismatch": ("slices outside of the ring stay", SLICES),
    "inter_transpose_invalid_slice0_mismatch": ("the inner part of the ring stays", SLICES),
    "invalid_time1_mismatch": ("the part of time that moves comes to the slices", SLICES + "axis A"),
    # What time holds after a switch.
    "broadcast1_invalid_out_time": ("axes that leave the slices come to time", TIMES + "axis C"),
    "broadcast01_invalid_out_time": ("axes that leave the slices come to time", TIMES),
    "broadcast01_invalid_time_size": ("time0 cuts time at its factor", TIMES),
    "transpose_invalid_time_size": ("a transpose leaves time as it is", TIMES + "axis A"),
    "invalid_time_mapping": ("a transpose leaves time as it is", TIMES + "axis A"),
    "invalid_time2_mismatch": ("the outer part of time stays", TIMES + "axis A"),
    "invalid_time0_mismatch": ("the inner part of time stays", TIMES),
    "invalid_slice1_mismatch": ("the part of the slices that moves comes to time", TIMES + "axis C"),
    # The vector engine.
    "ve_elementwise_fxp_chain": ("a unit is used once", r"vector_fxp-C3\] `SubFxp` needs FxpAdd, which is in use"),
}
