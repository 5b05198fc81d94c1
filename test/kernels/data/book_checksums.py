"""What the CRC lines of test/book must say, as checksums.py has them for test/kernels: a function for each file, named like it."""

import numpy as np

from checksums import (
    contracted,
    in_order,
    integer_sums,
    packets,
    rand_i4,
    sigmoid,
)
from make import exactly, iota, rand_bf16, rand_f32, rand_f8, rand_i8, round_to_bf16

# Fetch, commit and DMA: elements change places.


def c1_commit_sizes():
    return {
        "NO": iota(np.int8, 4, 2, 8),
        "TRANSPOSE": iota(np.int32, 4, 2, 8).swapaxes(0, 1),
        "TRUNCATION": rand_bf16(1, 4, 2, 16)[:, :, :8].swapaxes(0, 1),
        "CHUNKING": iota(np.int8, 2, 4, 8),
    }


def c2_truncation():
    return {
        "EIGHT": iota(np.int8, 4, 2, 8),
        "LIVE": rand_f32(1, 4, 2, 8)[:, :, :4],
        "BF16": rand_bf16(1, 4, 2, 16)[:, :, :8].swapaxes(0, 1),
        "FULL": iota(np.int8, 4, 2, 32).swapaxes(0, 1),
        "FOUR": rand_i4(7, 4, 2, 64).swapaxes(0, 1),
    }


def f1_contiguous():
    return {"DATA": rand_i8(1, 4, 3, 4, 8)}


def f2_chosen():
    return {"OUT": iota(np.int8, 3, 5, 2)}


def f2_padding_packets():
    return {prefix: iota(np.int8, 3, 5, 2) for prefix in ("C", "BC", "ABC")}


def f3_batching():
    return {prefix: rand_i8(1, 4, 3, 4, 8) for prefix in ("C1", "C2", "C3", "C4")}


def f4_masking():
    return {"CHECK": rand_i8(1, 32, 96)[:, :90]}


def f5_masking_counts():
    return {"CHECK": rand_f32(1, 32, 128)[:, :97]}


def f7_tables_and_zero_points():
    x = iota(np.int8, 256, 8).astype(np.int32)
    return {"ZERO": x - 10, "ZEROS": np.stack([x - 100, x + 100], axis=1), "SECOND": x + 100}


def f8_40_byte_packet():
    return {"COST": iota(np.int8, 256, 4, 40)}


def k1_identity():
    return {"RUN8": iota(np.int8, 256, 8, 32)}


def k1_pad():
    return {"RUN8": iota(np.int8, 256, 8, 16)}


def k1_split():
    return {"RUN16": round_to_bf16(iota(np.float32, 256, 8, 32))}


def s2_rearranging():
    return {"DATA": rand_i8(1, 8, 8, 8).swapaxes(0, 1)}


def s4_slicing():
    return {"DATA": rand_i8(1, 4, 4, 2, 4, 8)[:, :3, :, :2]}


def s6_merging():
    return {"DATA": rand_i8(1, 8, 8, 8, 32).transpose()}


def t1_32_columns():
    return {"CYCLES": np.moveaxis(iota(np.int8, 256, 2, 8, 4, 8), 2, 4)}


def t1_8x8():
    return {"CYCLES": iota(np.int8, 256, 8, 8, 8).swapaxes(2, 3)}


def t1_bf16():
    return {"CYCLES": round_to_bf16(iota(np.float32, 256, 8, 4, 8)).swapaxes(2, 3)}


def t1_small():
    return {"CYCLES": iota(np.int8, 64, 4, 2).swapaxes(1, 2)}


def t1_chosen():
    x = rand_i8(1, 256, 2, 8, 4, 8)
    return {
        "COLUMNS_DATA": np.moveaxis(x, 2, 4),
        "HALF_DATA": rand_bf16(1, 256, 8, 4, 8).swapaxes(2, 3),
        "SMALL_DATA": rand_i8(1, 256, 8, 2).swapaxes(1, 2),
        "COMMITS_DATA": rand_i8(1, 256, 2, 8, 8).swapaxes(1, 2),
        "SLICES_DATA": rand_i8(1, 32, 8, 8, 8).swapaxes(1, 2),
    }


def x1_axis_permutation():
    return {"DATA": iota(np.int8, 3, 5, 2).swapaxes(0, 1)}


def x2_full_flit():
    return {"DATA": iota(np.int8, 3, 5, 2)}


def x3_chosen():
    return {"OUT": iota(np.int8, 2, 72)[:, :65]}


def x3_tail_padding():
    return {prefix: iota(np.int8, 2, 72)[:, :65] for prefix in ("SEVEN", "FIFTEEN", "TWENTYTHREE", "THIRTYONE")}


def x4_segmentation():
    x = iota(np.int8, 2048, 32)
    return {"SEGMENTS out0": x[:1024], "SEGMENTS out1": x[1024:], "ONE": x}


# The switch. What it broadcasts is there once for each new index.


def w1_two_slices():
    return {"JSON": np.stack([rand_i8(1, 2, 2, 32)] * 2)}


def w2_broadcast01():
    return {"W2": rand_i8(1, 256, 64, 2, 2, 64), "CUSTOM": np.stack([rand_i8(1, 256, 64, 64)] * 4, axis=1)}


def w3_regular_topologies():
    x = rand_i8(1, 256, 64, 64)
    return {
        "BROADCAST": np.stack([x] * 4, axis=1),
        "RING64": x,
        "INTER": rand_i8(1, 256, 8, 32),
        "TRANSPOSED": np.stack([x] * 8, axis=1),
    }


def w4_custom():
    x = rand_i8(1, 16, 16, 8, 8, 8)
    part = x.reshape(16, 4, 4, 8, 8, 8)[:, :, :3]  # A, W, U = 3, and what a slice holds
    return {
        "ALL": x,
        "TWO": np.stack([x] * 4, axis=2),
        "PART": np.stack([part] * 4, axis=2),
    }


# Contractions.


def dots(x, w):
    """Sums over the last axis, which is one packet."""
    return contracted(x[..., None, :], w[..., None, :])


def n1_tree_depths():
    sums = lambda total, rand, count: total(rand(1, 1, count), rand(2, 1, count))
    f8 = lambda name: lambda seed, *shape: rand_f8(name, seed, *shape)
    return {
        "I4_SUM": sums(integer_sums, rand_i4, 128),
        "I8_SUM": sums(integer_sums, rand_i8, 64),
        "F8E4M3_SUM": sums(contracted, f8("f8e4m3"), 64),
        "F8E5M2_SUM": sums(contracted, f8("f8e5m2"), 64),
        "BF16_SUM": sums(contracted, rand_bf16, 32),
    }


def n10_address_fields():
    x = rand_bf16(1, 64, 1, 32)  # R, N, K
    halves = [dots(x, half.swapaxes(0, 1)) for half in rand_bf16(2, 2, 8, 64, 32)]
    whole = dots(x, rand_bf16(2, 8, 64, 32).swapaxes(0, 1))
    return {"HALVES out0": halves[0], "HALVES out1": halves[1], "WHOLE": whole}


def n10_read_cache():
    out = {}
    for prefix, count in [("CHECK", 512), ("SMALL", 32)]:
        x = packets(rand_bf16(1, 64, count), 32)[:, None, None]
        for index, seed in enumerate((2, 3)):
            w = packets(rand_bf16(seed, 8, 4, count), 32).swapaxes(0, 1)  # T, N
            out[f"{prefix} out{index}"] = contracted(x, w)
    return out


def n2_aligner():
    x, w = rand_bf16(1, 32, 2, 2, 16), rand_bf16(2, 8, 2, 32, 16)  # MOLK, NOMK
    return {"RUN8": dots(x[:, :, :, None], w.transpose(2, 1, 0, 3)[:, :, None])}


def n3_basic_matmul():
    return {"RUN8": dots(rand_bf16(1, 32, 1, 32), rand_bf16(2, 8, 32))}


def n4_small_read():
    x, w = rand_bf16(1, 2, 32, 2, 16), rand_bf16(2, 8, 2, 16)  # OMLK, NOK
    return {"RUN8": dots(x[:, :, :, None], w.swapaxes(0, 1)[:, None, None])}


def n5_collect_flits():
    x, w = rand_bf16(1, 32, 2, 2, 16), rand_bf16(2, 8, 2, 16)  # MOLK, NOK
    rows, tiles = rand_bf16(1, 32, 16), rand_bf16(2, 8, 5, 16)  # MK, NTK
    return {
        "TWO": dots(x[:, :, :, None], w.swapaxes(0, 1)[:, None]),
        "ONE": dots(rows[:, None], rand_bf16(2, 8, 16)),
        "TILED": dots(rows[:, None, None], tiles.swapaxes(0, 1)),
    }


def n6_temporal_accumulation():
    return {"RANDOM": contracted(packets(rand_bf16(1, 2048, 8), 4), packets(rand_bf16(2, 8), 4))}


def n7_accumulator_modes():
    # K is packet, sum and neighbour; M, N, sum, packet, neighbour are what is summed and what stays.
    split = lambda x: np.moveaxis(x.reshape(-1, 4, 4, 4), 1, 2)
    operands = split(rand_bf16(1, 4, 64))[:, None], split(rand_bf16(2, 8, 64))[None]
    return {"VALUES": contracted(*operands), "IN_ORDER": contracted(*operands, sequential=True)}


def n8_full_reduction():
    numbers = round_to_bf16(iota(np.float32, 256, 8, 32))
    return {"SUM": in_order(contracted(numbers, np.ones_like(numbers)))}


def n8_within_a_slice():
    return {"VALUES": contracted(rand_bf16(1, 256, 8, 32), rand_bf16(2, 32))}


# The vector engine.


def v1_pipelines():
    k = np.arange(512, dtype=np.int32)
    x = k.astype(np.float32)
    return {
        "STAGED": (k >= 256).astype(np.int32),
        "ADD_CONSTANT": k + 100,
        "SIGMOID": sigmoid(x),
        "ALU_PLANNING": exactly(np.exp, exactly(np.sqrt, (x + 1) * 6)),
        "RESIDUAL_MAX": 2 * x,
        "STASH_AT_FXP": k - 256,
        "STASH_ACROSS": np.maximum(sigmoid(x), x),
        "VRF_ADD": iota(np.int32, 256, 512) + k,
        "BIAS_MINUS_X": 7 - k,
    }


# The sums of v4 are of whole numbers that f32 has, so that their order does not matter.


def v4_aligned():
    return {"CHECK": iota(np.float32, 64, 4, 24).sum(axis=2)}


def v4_fewer_lanes():
    return {"CHECK": iota(np.float32, 64, 7, 8).sum(axis=1)}


def v4_flexible():
    return {"CHECK": iota(np.float32, 256, 2, 45, 4).sum(axis=2)}


def v4_packet_only():
    return {"CHECK": iota(np.float32, 64, 3, 8).sum(axis=1)}


def v4_several_in_slice():
    # Of each two neighbours the first is the smaller one.
    return {"VALUES": iota(np.int32, 32, 15, 2)[:, ::2].reshape(32, 2, 4, 2)}


def v4_slice_time():
    x = iota(np.int32, 32, 17, 4)
    return {"CHECK": np.stack([x[:, start : start + 3].sum(axis=1, dtype=np.int32) for start in range(0, 17, 3)], axis=1)}


def v4_time_only():
    return {"CHECK": iota(np.int32, 64, 12, 8).sum(axis=1, dtype=np.int32)}


def v4_time_packet():
    return {"CHECK": iota(np.float32, 64, 19, 8).max(axis=1)}


def v4_transposed():
    x = iota(np.int32, 64, 5, 2)
    return {"CHECK": np.concatenate([x[:, :1] + x[:, 4:], x[:, 1:4]], axis=1)}


def v7_inter_slice():
    total = iota(np.int32, 4, 512).sum(axis=0, dtype=np.int32)
    each = iota(np.float32, 64, 4, 8).sum(axis=1, keepdims=True)
    return {
        "SUM": total,
        "BEHIND": total + 100,
        "BEFORE": total + 400,
        "BROADCAST": np.repeat(each, 4, axis=1),
        "PROMOTION": iota(np.float32, 32, 4, 2, 4, 2, 8).sum(axis=1),
    }


def v8_two_group():
    a, b = iota(np.int32, 2, 512)
    x, y = a.astype(np.float32), b.astype(np.float32)
    with np.errstate(over="ignore"):  # infinities from e^89 on
        weighted = exactly(np.exp, x) * y
    return {
        "PAIR_ADD": a + b,
        "PAIR_PREPROCESS_ONE_SIDE": 10 * a + b,
        "PAIR_FP_MUL_ZIP": x * y,
        "PAIR_ASYMMETRIC_PREPROCESS": weighted,
        "PAIR_SUB_REVERSE": y - x,
        "MODE00": a - a,
        "MODE11": b & b,
        "AN_OPERAND_EACH": (a ^ 1) - (b ^ 1024),
    }


def v8_arguments():
    k = np.arange(512, dtype=np.int32)
    x = k.astype(np.float32)
    of = lambda number: np.full(512, number)
    return {
        "MODE0": np.sqrt(x),
        "MODE1": of(np.float32(4)),
        "MODE00": k * k,
        "MODE01": k - 7,
        "MODE10": 7 - k,
        "MODE11": of(np.int32(49)),
        "MODE012": x * 3 + 5,
        "MODE002": x * x + 5,
        "MODE102": 3 * x + 5,
        "MODE112": of(np.float32(14)),
        "MODE020": x * 5 + x,
        "MODE021": x * 5 + 3,
        "MODE120": 3 * of(np.float32(5)) + x,
    }


FILES = {
    function.__name__.replace("_", "-"): function
    for function in [
        c1_commit_sizes, c2_truncation, f1_contiguous, f2_chosen, f2_padding_packets, f3_batching, f4_masking, f5_masking_counts,
        f7_tables_and_zero_points, f8_40_byte_packet, k1_identity, k1_pad, k1_split, n10_address_fields, n10_read_cache,
        n1_tree_depths, n2_aligner, n3_basic_matmul, n4_small_read, n5_collect_flits, n6_temporal_accumulation,
        n7_accumulator_modes, n8_full_reduction, n8_within_a_slice, s2_rearranging, s4_slicing, s6_merging, t1_32_columns, t1_8x8,
        t1_bf16, t1_chosen, t1_small, v1_pipelines, v4_aligned, v4_fewer_lanes, v4_flexible, v4_packet_only, v4_several_in_slice,
        v4_slice_time, v4_time_only, v4_time_packet, v4_transposed, v7_inter_slice, v8_arguments, v8_two_group, w1_two_slices,
        w2_broadcast01, w3_regular_topologies, w4_custom, x1_axis_permutation, x2_full_flit, x3_chosen, x3_tail_padding,
        x4_segmentation,
    ]
}  # fmt: skip
FILES["w1-chosen"] = w1_two_slices
