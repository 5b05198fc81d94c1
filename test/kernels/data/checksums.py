"""What the kernels' CRC lines must say: `NAME: ... crc32 0x...` of a kernel's file, where NAME is a FileCheck prefix.

Each result is computed here by NumPy from the kernel's text as a person reads it: which elements meet, in which order they are summed. A
kernel without `--arg` gets `rand:1` for its first argument, `rand:2` for its second, and so on. make.py compares the lines.
"""

import functools
import re
import zlib

import numpy as np

from make import (
    HERE,
    exactly,
    flush,
    gemm_auto_operands,
    iota,
    rand_bf16,
    rand_f32,
    rand_f4,
    rand_f8,
    rand_i32,
    rand_i4,
    rand_i8,
    relu,
    round_to_bf16,
    splitmix64,
    tree_sum,
)

KERNELS = HERE.parent
BOOK = KERNELS.parent / "book"
TOOL = KERNELS.parent / "tools" / "visa-run"
LEAST, GREATEST = np.int64(-(2**31)), np.int64(2**31 - 1)


# Numbers.


def rand_i16(seed, *shape):
    return splitmix64(seed, int(np.prod(shape))).astype(np.uint16).view(np.int16).reshape(shape)


def wrap(x):
    """Integers to i32, the low 32 bits."""
    return np.asarray(x).astype(np.int64).astype(np.uint32).view(np.int32)


def iota_i4(*shape):
    return wrap_to(4, np.arange(np.prod(shape))).astype(np.int8).reshape(shape)


def wrap_to(bits, x):
    """The low bits of integers, read as signed numbers."""
    return (x.astype(np.int64) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def saturate(x):
    return np.clip(np.asarray(x).astype(np.int64), LEAST, GREATEST).astype(np.int32)


def to_fixed(x):
    """f32 to i32: half away from zero, clamped."""
    wide = x.astype(np.float64)
    return saturate(np.clip(np.copysign(np.floor(np.abs(wide) + 0.5), wide), float(LEAST), float(GREATEST)))


def in_order(elements, add=lambda total, x: flush(total + x)):
    """One after the other along the first axis."""
    return functools.reduce(add, elements)


def sigmoid(x):
    return exactly(lambda x: 1 / (1 + np.exp(-x)), x)


def fma(x, y, z):
    """Rounded once: a product of two f32 is exact in f64, and for the numbers here the sum's second rounding is no tie."""
    return flush((np.float64(1) * x * y + z).astype(np.float32))


# Contractions. `x` and `w` have the summed packets and elements as their last two axes.


def contracted(x, w, sequential=False):
    """f32 sums: each packet by the tree, packets in time order, or one product after the other."""
    products = flush(flush(x) * flush(w))
    if sequential:
        return in_order(np.moveaxis(products.reshape(*products.shape[:-2], -1), -1, 0))
    return in_order(np.moveaxis(tree_sum(products), -1, 0))


def integer_sums(x, w):
    return wrap((x.astype(np.int64) * w.astype(np.int64)).sum(axis=(-2, -1)))


def packets(x, size):
    """The last axis in packets, zeros after its end."""
    missing = -x.shape[-1] % size
    padded = np.concatenate([x, np.zeros((*x.shape[:-1], missing), x.dtype)], axis=-1)
    return padded.reshape(*x.shape[:-1], -1, size)


def contract_formats():
    out = {}
    for name, rand, count in [("I4", rand_i4, 128), ("I8", rand_i8, 64)]:
        sums = integer_sums(rand(1, 1, count), rand(2, 1, count))
        # The wider formats hold the same numbers.
        out |= {f"{name}_RANDOM": sums, f"{name[0]}{int(name[1]) + 1}_RANDOM": sums}
    for name in ("f8e4m3", "f8e5m2"):
        out[f"{name.upper()}_RANDOM"] = contracted(rand_f8(name, 1, 1, 8), rand_f8(name, 2, 1, 8))
    return out


def contract_formats_in_time():
    out = {}
    in_time = lambda m, v: (np.moveaxis(m, 2, 3), v.swapaxes(0, 1))  # [I, R, P, T, E] and [P, T, E]
    for name, rand, count in [("I4", rand_i4, 32), ("I5", rand_i4, 32), ("I9", rand_i8, 16)]:
        out[name] = integer_sums(*in_time(rand(1, 256, 4, 16, 4, count), rand(2, 16, 4, count)))
    for name in ("f8e4m3", "f8e5m2"):
        operands = in_time(rand_f8(name, 1, 256, 4, 16, 4, 16), rand_f8(name, 2, 16, 4, 16))
        out[name.upper()] = contracted(*operands)
        out[f"{name.upper()}_SEQUENTIAL"] = contracted(*operands, sequential=True)
    rows = lambda x, v: (x[:, :, None, None, None, :], v.swapaxes(0, 1)[:, :, None, :])  # [I, M, B, N, 1, K]
    for name, rand in [("I4", rand_i4), ("I5", rand_i4), ("I9", rand_i8)]:
        out[f"{name}_ROWS"] = integer_sums(*rows(rand(1, 256, 32, 16), rand(2, 8, 5, 16)))
    operands = rows(rand_f8("f8e5m2", 1, 256, 32, 16), rand_f8("f8e5m2", 2, 8, 5, 16))
    out["F8_ROWS"] = contracted(*operands)
    out["F8_ROWS_SEQUENTIAL"] = contracted(*operands, sequential=True)
    out["SWITCHED"] = integer_sums(rand_i8(1, 256, 1, 64), rand_i8(2, 1, 64))
    return out


def contract_truncated():
    sums = lambda rand: wrap(
        np.einsum("smtk,ntk->smnk", rand(1, 256, 4, 3, 32).astype(np.int64), rand(2, 2, 3, 32).astype(np.int64))
    )
    return {"I8": sums(rand_i8), "I4": sums(rand_i4)}


def i8_sums():
    m, v = rand_i8(1, 256, 4, 16, 4, 16), rand_i8(2, 16, 4, 16)
    return {"CHECK": integer_sums(np.moveaxis(m, 2, 3), v.swapaxes(0, 1))}


def time_broadcast():
    x, v = rand_bf16(1, 256, 32, 16), rand_bf16(2, 8, 5, 16)
    return {"CHECK": contracted(x[:, :, None, None, None, :], v.swapaxes(0, 1)[:, :, None, :])}


def reduce_max():
    x, w = rand_bf16(1, 256, 8, 64), rand_bf16(2, 256, 64)
    r, s = rand_f8("f8e4m3", 1, 64, 16, 4), rand_f8("f8e4m3", 2, 64, 16, 4)
    least = iota(np.int8, 8, 128).astype(np.int32) * iota(np.int8, 128)
    return {"LEAST": least.max(axis=-1), "FLOATS": flush(x * w[:, None]).max(axis=-1), "KEPT": (r * s).max(axis=(0, 2))}


def slices():
    dot = contracted(packets(rand_bf16(1, 2048)[1024:1536], 32), packets(rand_bf16(2, 2048)[1024:1536], 32))
    moved = contracted(packets(rand_bf16(1, 256, 64)[:, 48:], 32), packets(rand_bf16(2, 64)[48:], 32))
    x, z = rand_i32(1, 4096)[2048:], rand_i32(2, 4096)[2048:]
    return {
        "DOT": round_to_bf16(dot),
        "MOVED": round_to_bf16(moved),
        "ADDED": wrap(x.astype(np.int64) + z),
    }


def gemm_auto():
    a, b = gemm_auto_operands().values()
    return {"EXACT": round_to_bf16(a.astype(np.float32) @ b.astype(np.float32))}


def fetch_casts_rngd_s():
    x = wrap_to(9, rand_i16(1, 64))
    return {"WRAPPED": wrap((x * x).sum())}


# Masks.


def unmasked():
    return {"MASKED": contracted(packets(rand_bf16(1, 28), 32), packets(rand_bf16(2, 28), 32))}


def masked_adapter():
    x, y = rand_i8(1, 1, 64)[:, :63].astype(np.int64), rand_i8(2, 1, 64)[:, :63]
    values = np.array([3, 4, 5, 6, 7, 8, 9, 10, -5, -4, -3, -2, -1, 0, 1, 2])
    looked_up = values[rand_i4(1, 1, 64)[:, :63] & 15]
    return {
        "ZERO_RANDOM": integer_sums(x - 10, y),
        "TABLE_RANDOM": integer_sums(looked_up, y),
        "BOTH_RANDOM": integer_sums(looked_up - 1, y),
    }


def masked_cast():
    return {"OUT": rand_i8(1, 8, 16)[:, :13]}


def masked_dot():
    long = contracted(packets(rand_bf16(1, 2048)[:2029], 32), packets(rand_bf16(2, 2048)[:2029], 32))
    return {
        "DOT_RANDOM": integer_sums(rand_i8(1, 1, 64)[:, :63], rand_i8(2, 1, 64)[:, :63]),
        "LONG_RANDOM": round_to_bf16(long),
    }


def masked_interleaved():
    both = np.stack([rand_i8(1, 4, 64), rand_i8(2, 4, 64)], axis=1)[:, :, None]
    v = rand_i8(3, 1, 64)
    rows = np.stack([rand_i8(1, 4, 96), rand_i8(2, 4, 96)], axis=1)[:, :, :88]
    return {
        "PACKET_RANDOM": integer_sums(both[..., :63], v[:, :63]),
        "ZERO_RANDOM": integer_sums(both[..., :63].astype(np.int64) - 10, v[:, :63]),
        "CASE_1": rows,
        "OUTER": rows,
        "CASE_3": integer_sums(both[..., :33], v[:, :33]),
    }


def masked_one_side():
    integers = integer_sums(rand_i8(1, 1, 56), rand_i8(2, 1, 56))
    operands = packets(rand_bf16(1, 28), 32), packets(rand_bf16(2, 28), 32)
    return {
        "I8": integers,
        "BF16": contracted(*operands),
        "SEQUENTIAL": contracted(*operands, sequential=True),
    }


def masked_store():
    return {"OUT": integer_sums(rand_i8(1, 1, 64)[:, :63], rand_i8(2, 1, 64)[:, :63])}


def tree_of_four(x, add):
    """[rows, elements] reduced within a slice: packets of four by a tree, then one after the other."""
    fours = np.moveaxis(x.reshape(len(x), -1, 4), 1, 0)
    return in_order(add(add(fours[..., 0], fours[..., 1]), add(fours[..., 2], fours[..., 3])), add)


def masked_reduce():
    integers, floats = rand_i32(1, 512, 20), rand_f32(1, 512, 20)
    add = lambda total, x: flush(total + x)
    add_sat = lambda total, x: saturate(total.astype(np.int64) + x)
    return {
        "SUM": tree_of_four(integers, add_sat),
        "LARGEST": floats.max(axis=1),
        "SMALLEST": integers.min(axis=1),
        # A valid count leaves the zeros out.
        "ZEROS": floats.max(axis=1),
        "LOWEST": tree_of_four(floats, add),
        "CHANGED": tree_of_four(exactly(np.exp, floats), add),
        "NO_INFINITY": rand_f8("f8e4m3", 1, 20, 512).max(axis=0),
    }


def zero_points():
    x, y = rand_i8(1, 256, 8, 3, 16)[..., :8].astype(np.int32), rand_i8(2, 256, 8, 3, 16)[..., :8].astype(np.int32)
    return {
        "TURNS": np.stack([x - 7, y + 9], axis=1),
        "BOTH": np.stack([x - 7, y - 7], axis=1),
        "SUB": wrap(iota(np.int8, 256, 8).astype(np.int64) - GREATEST),
    }


# The vector engine.


def conditional():
    x = rand_f32(1, 2048)
    tenth = flush(x * np.float32(0.1))
    k = np.arange(2048)
    ids = k % 16
    factor = np.select([ids == 1, (ids & 0b1010) == 0b0010, ids == 14, (ids & 0b1100) == 0b0100], [7, -1, 0, k], 1)
    # The mask is a number, 2^31 in f32: it leaves four bits of the exponent.
    mask = np.float32(2**31).view(np.uint32)
    masked = np.where(x < 0, (x.view(np.uint32) & mask).view(np.float32), x)
    threefold = fma(masked, np.where(x < 0, np.float32(-3), np.float32(3)), np.float32(0.25))
    grown = np.where(x > 0.5, threefold, exactly(np.exp, threefold))
    # Bit 3 holds where the bits are more than those of 1: of negative numbers.
    inverse = np.where(x < 0, grown, flush(np.float32(1) / grown))
    return {
        "CMP": np.select([k < 2, k <= 5], [k * 10, k + 100], k).astype(np.int32),
        "AXIS": np.where(k % 2, k * 0.5, np.sqrt(2.0 * (4096 - k))).astype(np.float32),
        "VRF": wrap(k * factor),
        "FLOATS": np.maximum(inverse, np.float32(0.5)),
        # Mode11: both arguments are what was stashed.
        "STASHED": np.where(x < 0, flush(tenth + tenth), flush(tenth * np.float32(10))),
        "VALID": np.arange(2048, dtype=np.int32) + 5,
    }


def toggles():
    x = iota(np.int32, 256, 1, 8)
    rows = iota(np.int32, 256, 9, 8)
    return {
        "BROADCAST": np.concatenate([x, x + 100, x], axis=1),
        "DIGITS": np.where(np.arange(9)[:, None] % 2, 0, rows).astype(np.int32).swapaxes(1, 2),
    }


def cumsum():
    return {"TWO": np.cumsum(iota(np.float32, 4, 16, 8), axis=1, dtype=np.float32)}


def fast():
    """What no regrouping touches. The other results have no bits of their own."""
    x = rand_f32(1, 2048)
    tenth = flush(x * np.float32(0.1))
    return {"BESIDE out1": flush(tenth + np.float32(0.3)), "ALONE": exactly(np.exp, flush(x + np.float32(0.1)))}


# Commits that drop elements. What lies after the kept ones is undefined, so only the first of them and their number are compared.


def kept_in(slices, prefix, size):
    """The lines of a result of `size` elements a slice, of which only `slices` are defined."""
    assert len(slices[0]) >= 8
    first = ", ".join(map(str, slices[0][:8].tolist()))
    count = sum(map(len, slices))
    return {
        prefix: f"out: i32, shape [256, {size}], first [{first}, ...]",
        f"{prefix}-NEXT": f"check: {count} elements compared, 0 differ, {256 * size - count} undefined",
    }


def filter():
    x = iota(np.int32, 256, 4, 8)
    negative = rand_i32(1, 256, 32) < 0
    logged = [row[where] for row, where in zip(rand_i32(2, 256, 32), negative)]
    return {"OTHER": x[:, :, 1::2], "PADDED": x[:, :, :5], **kept_in(logged, "LOGGED", 32)}


def commit_packed():
    # A count below zero keeps nothing, one above 8 all.
    counts = np.clip(rand_i32(2, 256, 4, 1), 0, 8)
    kept = [x[np.arange(8) < count] for x, count in zip(rand_i32(1, 256, 4, 8), counts)]
    return {
        **kept_in(kept, "RANDOM", 32),
        "ONE": iota(np.int32, 256, 4, 8)[:, :, :3],
        "CLAMPED": iota(np.int8, 256, 4, 8)[:, :, :5],
    }


def slice_bitmap():
    x = iota(np.int32, 256, 8)
    below_64 = np.where(np.arange(256)[:, None] < 64, x, np.int32(0))
    return {"HALF": x[:128], "MERGED": below_64, "MASKED": below_64}


def generate():
    return {"NUMBERS out2": iota(np.int32, 256, 2), "SPREAD": np.full((256, 8), 4, np.int32)}


def inter_slice():
    add = lambda total, x: flush(total + x)
    turned = rand_f32(1, 64, 4, 8, 8)  # W, R, T, P
    sums = in_order(turned.swapaxes(0, 1), add)
    then = in_order(rand_i32(1, 64, 4, 8, 8).swapaxes(0, 1), lambda total, x: saturate(total.astype(np.int64) + x))
    product = in_order(rand_f32(1, 16, 16, 8), lambda total, x: flush(total * x))
    return {
        "OUTER": in_order(rand_f32(1, 4, 64, 8, 8), add),
        "MIDDLE": rand_f32(1, 8, 4, 2, 8).max(axis=1),
        "APART": np.stack([product] * 4, axis=1),
        "BOTH_CLUSTERS": rand_i32(1, 2, 64, 4, 8).min(axis=2),
        "TWO_RULES": sums,
        "TWO_RULES_TURNED": np.stack([sums, sums], axis=1),
        "FEWER": wrap(rand_i32(1, 64, 2, 8).astype(np.int64).sum(axis=1)),
        "SWITCHED": in_order(turned, add),
        "THEN_MORE": np.minimum(wrap(then.astype(np.int64) - 7), then),
    }


def in_fours(x):
    """Sum over the last axis: fours by a tree, one after the other."""
    fours = x.reshape(*x.shape[:-1], -1, 4)
    return in_order(np.moveaxis(tree_sum(fours), -1, 0))


def split_reduce_layer_norm():
    """Rows of two chunks of 4096 numbers, each of which is summed by itself."""
    x, each = rand_bf16(1, 8, 8, 2, 4096), np.float32(1 / 8192)
    both = lambda sums: flush(flush(sums[..., 0] + sums[..., 1]) * each)
    centred = flush(x - both(in_fours(x))[..., None, None])
    variance = both(in_fours(flush(centred * centred)))
    deviation = np.sqrt(flush(variance + np.float32(0.00001)))
    return {"CHECK": round_to_bf16(centred / deviation[..., None, None])}


def split_reduce_batch_norm():
    """Means of 256 pixels, whose sums over 256 images are halved and divided by 256."""
    batches = [rand_bf16(seed, 256, 4, 256) for seed in (1, 2)]
    a, b = (in_order(flush(in_fours(batch) / np.float32(256))) for batch in batches)
    return {"CHECK": flush(flush(a + b) * np.float32(1 / 512))}


def split_reduce_experts():
    a, b = rand_bf16(1, 1024, 64), rand_bf16(2, 1024, 64)
    return {"CHECK": round_to_bf16(flush(flush(a * np.float32(0.7)) + flush(b * np.float32(0.3))))}


def split_reduce_windows():
    return {"CHECK": np.max([rand_bf16(seed, 8, 16384) for seed in (1, 2, 3, 4)], axis=(0, 1))}


def two_groups():
    a, b, w = (rand_i32(seed, 4096) for seed in (1, 2, 3))
    quarter = to_fixed(flush(a.astype(np.float32) / np.float32(4)))
    sixth = to_fixed(flush(flush(b.astype(np.float32) * np.float32(0.5)) / np.float32(3)))
    larger = np.abs(quarter.astype(np.int64)) > np.abs(sixth.astype(np.int64))
    sums = saturate(rand_i32(1, 16, 16, 16).astype(np.int64) + rand_i32(2, 16, 16, 16))
    return {
        "CONVERTED": np.where(larger, quarter, sixth),
        "REGISTER_FILE": np.maximum(wrap((b ^ w).astype(np.int64) - a), -1000),
        "BETWEEN_SLICES": np.repeat(sums.max(axis=1, keepdims=True), 16, axis=1),
    }


def vector_expr():
    x, b = rand_f32(1, 2048), rand_f32(2, 2048)
    i, j = rand_i32(1, 2048).astype(np.int64), rand_i32(2, 2048).astype(np.int64)
    return {
        "BIAS_RELU": np.maximum(flush(x + b), np.float32(0)),
        "GATE": flush(x * sigmoid(b)),
        "QUANTIZE": np.clip(to_fixed(flush(x * np.float32(127))), -100, 100),
        "INTEGERS": np.maximum(wrap(wrap(i << 3) - j), wrap(i)),
        "FORMATS": exactly(np.exp, b),
    }


def mish(x):
    softplus = exactly(np.log, flush(exactly(np.exp, x) + np.float32(1)))
    return flush(x * exactly(np.tanh, softplus))


def gelu_tanh(x):
    inner = fma(flush(x * x), np.float32(0.035677408136300125), np.float32(0.7978845608028654))
    half = fma(exactly(np.tanh, flush(x * inner)), np.float32(0.5), np.float32(0.5))
    return flush(x * half)


def vector_expr_passes():
    x, b, one = rand_f32(1, 2048), rand_f32(2, 2048), np.float32(1)
    i, j = rand_i32(1, 2048).astype(np.int64), rand_i32(2, 2048).astype(np.int64)
    exps = flush(exactly(np.exp, x) * exactly(np.exp, b))
    return {
        "TANH_SQRT": exactly(np.tanh, exactly(np.sqrt, np.abs(x))),
        "GELU_TANH": gelu_tanh(x),
        "MISH": mish(x),
        "BOTH": flush(exps + flush(x / flush(b + np.float32(2)))),
        "FEW": flush(sigmoid(exactly(np.tanh, x)) * x),
        "SHARED": flush(np.maximum(exactly(np.exp, -x), exactly(np.sqrt, flush(x * x))) * flush(x + one)),
        "INTEGERS": wrap(np.maximum(wrap(wrap(i * 3) + j), wrap(wrap(j * i) + np.int64(7))).astype(np.int64) + i),
    }


def gemm_expr():
    from make import gelu

    a, b = packets(rand_bf16(1, 64, 64), 32), packets(np.ascontiguousarray(rand_bf16(2, 64, 64).T), 32)
    product = contracted(a[:, None], b[None])
    return {"GELU": round_to_bf16(gelu(product)), "MISH": round_to_bf16(mish(product))}


# Movement.


def i4():
    rows = rand_i4(2, 4, 16).copy()
    rows[1] = rand_i4(1, 4, 16)[1]
    return {
        "TRANSPOSED": rand_i4(1, 8, 16, 16).swapaxes(1, 2),
        "TRIMMED": rand_i4(1, 4, 16, 12).swapaxes(1, 2),
        "CHIPS": rand_i4(1, 8192),
        "OVER": rows,
        "MOVED": iota_i4(8192),
        "VIEWED": iota_i4(128)[18:34],
        "APART": iota_i4(8192),
    }


def four_chips():
    return {"CHECK": wrap(rand_i32(1, 4, 256, 8).astype(np.int64) * 3 + 7).astype(np.int8)}


def gather():
    x, replaced = rand_i32(1, 256, 8, 32), rand_i32(2, 256, 8, 32).copy()
    replaced[:, 4:] = x[:, 4:]
    return {"SCATTER": rand_bf16(1, 256, 8, 32), "RANDOM": replaced}


def commit_view():
    part = lambda x, y, where: np.where(where, x, y).astype(x.dtype)
    columns, rows = np.arange(32)[None] // 8 == 1, np.isin(np.arange(4), [1, 2])[None, :, None]
    x, y = rand_i32(1, 256, 32), rand_i32(2, 256, 32)
    r, s = rand_i32(1, 256, 4, 8), rand_i32(2, 256, 4, 8)
    t = rand_i16(1, 256, 4, 8).swapaxes(1, 2)
    return {
        "COLUMNS_RANDOM": part(x, y, columns),
        "ROWS_RANDOM": part(wrap(r.astype(np.int64) + 1), s, rows),
        "SUB_RANDOM": part(r, s, rows),
        "TRANSPOSED_RANDOM": part(t, rand_i16(2, 256, 8, 4), (np.arange(8) >= 4)[None, :, None]),
    }


def interleaved():
    x, y = rand_i8(1, 256, 8, 3, 16), rand_i8(2, 256, 2, 8, 3, 16)[:, 1]
    return {"RANDOM": np.stack([x, y], axis=2)[..., :8]}


def narrow_sums(x):
    """Sums over the first axis of i8; what the Cast Engine makes of them wraps."""
    return wrap_to(8, x.astype(np.int64).sum(axis=0)).astype(np.int8)


def reduce_scatter():
    """Chip b holds the sum over the chips a of their part b; then each of four chips all of them."""
    sums = narrow_sums(rand_i8(1, 4, 4))
    return {"RANDOM out7": sums, "RANDOM out8": np.tile(sums, (4, 1))}


def all_reduce():
    """What chip a + k has; then the sums, on each chip."""
    x = iota(np.int8, 4, 4)
    shuffled = {f"CHECK out{k - 1}": np.roll(x, -k, axis=0) for k in (1, 2, 3)}
    return shuffled | {"CHECK out3": np.tile(narrow_sums(x), (4, 1)), "RANDOM": np.tile(narrow_sums(rand_i8(1, 4, 4)), (4, 1))}


def collectives():
    """Sums of what chips or clusters hold, in f32, one after the other."""

    def in_order(x):
        total = x[0]
        for part in x[1:]:
            total = flush(total + part)
        return total

    parts, halves = in_order(rand_f32(1, 4, 4, 512, 8)), in_order(rand_f32(1, 2, 256, 2, 8)).swapaxes(0, 1)
    copies = np.broadcast_to(parts, (4, *parts.shape))
    return {
        "ONE": copies,
        "TWO out0": parts,
        "TWO out1": copies,
        "CLUSTERS out0": halves,
        "CLUSTERS out1": halves.swapaxes(0, 1),
        "CLUSTER": in_order(rand_f32(1, 2, 256, 8)),
    }


def views():
    x = iota(np.int32, 8, 64)
    return {
        "PARTS out0": x[4:],
        "PARTS out1": x[:, 32:48],
        "LABELS out0": x.T,
        "LABELS out1": x.ravel(),
        "UNIT": x[:, 32:64],
        "PADDING": rand_i32(1, 8, 60),
    }


def ragged_padding():
    return {"BEHIND": rand_i8(1, 4, 5, 2), "BEFORE": rand_i8(1, 3, 4, 2)}


def movement():
    x = rand_i8(1, 4096).astype(np.int32)
    return {"F": np.stack([x] * 3, axis=1), "SWITCH": rand_i32(1, 2048)}


def movement_combined():
    x, y = rand_i8(1, 256, 32), rand_i8(2, 256, 32)
    rows = np.stack([rand_i8(1, 256, 4, 32), rand_i8(2, 256, 4, 32)], axis=1)
    nine_bits = (y.astype(np.int64) - 200 + 256) % 512 - 256
    masked = rand_i8(1, 4, 1, 64)[..., :63], rand_i8(2, 1, 64)[..., :63]
    return {
        "TWICE": np.stack([np.stack([x, y], axis=1)] * 2, axis=1),
        "PICKED": rows,
        "I9": integer_sums(x[:, None], nine_bits[:, None]),
        "MASKED_RANDOM": integer_sums(*masked),
        "EIGHT": rand_f8("f8e4m3", 1, 256, 8, 8).swapaxes(1, 2),
        "SIXTEEN": rand_i16(1, 256, 4, 8).swapaxes(1, 2),
        "TABLE": iota_i4(256, 32) ** 2,
        "SUB": iota(np.int32, 256, 8, 8),
        "FOUR": iota_i4(4, 16),
    }


def switch_copies():
    x, f = rand_i32(1, 256, 1, 2, 8).astype(np.int64), rand_i32(2, 1, 4, 1, 8)
    copied = wrap(x * f)
    two = wrap(x[:, None] * rand_i32(2, 1, 4, 2, 1, 8))
    return {"BROADCAST01": copied, "BROADCAST1": copied, "TRANSPOSED_BROADCAST1": copied, "TWO_AXES": two}


def switch_custom():
    twice = lambda x: np.stack([x, x], axis=1)
    return {
        "PADDED": twice(rand_i8(1, 200, 32)),
        "COPIES": twice(twice(rand_i8(1, 128, 32))),
        "SHARED": twice(rand_i8(1, 2048, 32)),
    }


def padded_rows():
    return {"COPY": rand_bf16(1, 256, 33), "SINGLE": iota(np.int8, 256), "NIBBLES": rand_i4(1, 256, 33)}


def lane_copies():
    rows = np.arange(128, dtype=np.float32)[:, None]
    counted = np.arange(48, dtype=np.float32).reshape(2, 3, 8)
    return {
        "ROWS": np.arange(8192, dtype=np.float32).reshape(128, 64) * rows,
        "PAIRS": np.arange(8, dtype=np.float32).reshape(4, 2) + np.arange(2, dtype=np.float32),
        "RUNNING": np.cumsum(counted, axis=1),
    }


def stash_widths():
    x = np.arange(64, dtype=np.float32)
    return {"CHECK": x * (x + 1)}


def fill():
    x = rand_i32(1, 256, 4, 8)
    x[..., 6:] = -1
    x[:, 2] = 7
    around = np.zeros((256, 64), np.int32)
    around[:, :60] = iota(np.int32, 256, 60)
    again = np.full((256, 8), 5, np.int32)
    again[:, 2:6] = 6
    again[:128, 4:6] = 7
    return {"RANDOM": x, "AROUND": around, "NUMPY": again}


def tiles():
    """The last matrix first."""
    return {"RANDOM": wrap(rand_i32(1, 4, 512, 16)[::-1].astype(np.int64) + 1000)}


def dm_views():
    x = rand_i32(1, 256, 4, 8)
    return {
        "RANDOM out0": x[:, 1:3],
        "RANDOM out1": x[:, 2:4],
        "RANDOM out2": x[:, :, 2:6],
        "RANDOM out3": x.reshape(256, 32),
    }


def storage_formats():
    u8 = lambda seed, *shape: splitmix64(seed, int(np.prod(shape))).astype(np.uint8).reshape(shape)
    x, w = rand_f8("f8e4m3", 1, 128, 256), rand_f4(2, 128, 256)
    # All products are multiples of 2^-10, and their sums below 2^8: exact in any order.
    return {"RANDOM": u8(1, 32, 8).astype(np.int32) + 1000, "WEIGHTS": (x.astype(np.float64) @ w.T).astype(np.float32)}


def fma_values():
    x = np.arange(64, dtype=np.float32)
    a, b = x, 2 * x
    return {
        "BOTH": x * a + b,
        "TURNED": x * a + b,
        "STASH-FIRST": 2 * x * x + b,
        "STASH-SECOND": 2 * x * b + x,
        "FIRST-CONSTANT": 3 * x + a,
        "SECOND-CONSTANT": x * a + 3,
        "CONDITIONAL": np.where(x < 20, x * a + b, x),
    }


FILES = {
    "i8_interleaved": i8_sums,
    "i8_sequential": i8_sums,
    **{
        function.__name__: function
        for function in [
            all_reduce, collectives, commit_packed, commit_view, conditional, contract_formats, contract_formats_in_time, contract_truncated, cumsum, dm_views, fast,
            fetch_casts_rngd_s, fill, filter, fma_values, four_chips, gather, gemm_auto, gemm_expr, generate, i4, inter_slice, interleaved,
            lane_copies, masked_adapter, masked_cast, masked_dot, masked_interleaved, masked_one_side, masked_reduce, masked_store,
            movement, movement_combined, padded_rows, ragged_padding, reduce_max, reduce_scatter, slice_bitmap, slices, split_reduce_batch_norm,
            split_reduce_experts, split_reduce_layer_norm, split_reduce_windows,
            stash_widths, storage_formats, switch_copies, switch_custom, tiles, time_broadcast, toggles, two_groups, unmasked, vector_expr, vector_expr_passes,
            views, zero_points,
        ]
    },
}  # fmt: skip


def tensor_level():
    """Sums of the tensor level: one product after the other without `tree`, in blocks of 32 with it."""
    a, b, bias = rand_bf16(1, 64, 128), rand_bf16(2, 128, 32), rand_f32(3, 32)
    rows, columns = packets(a, 32)[:, None], packets(np.ascontiguousarray(b.T), 32)[None]
    tree, sequential = contracted(rows, columns), contracted(rows, columns, sequential=True)
    return {"GEMM": round_to_bf16(relu(flush(sequential + bias))), "TREE": tree, "SEQ": sequential, "MACHINE": sequential}


TOOL_FILES = {"tensor_level": tensor_level}


def crc(array):
    return zlib.crc32(np.ascontiguousarray(array).tobytes())


def compare(folder, files, write):
    """Compares the lines of a folder's files, or writes them; the names of those that differ.

    `files` gives each file's results by FileCheck prefix: an array has a CRC (in JSON a "checksum"), of a text the line is made.
    `PREFIX out1` is the second of several results.
    """
    stale = []
    for name, results in files.items():
        path = folder / f"{name}.visa"
        text = was = path.read_text()
        for key, result in results().items():
            prefix, _, which = key.partition(" ")
            if isinstance(result, str):
                line, expected = re.compile(rf"(// {prefix}: )(.*)"), result
            else:
                which = f"{which}: " if which else ""
                line = re.compile(rf'(// {prefix}(?:-NEXT|-SAME)?: {which}.*(?:crc32 0x|"checksum": "))([0-9a-f]{{8}})')
                expected = f"{crc(result):08x}"
            found = line.findall(text)
            if len(found) != 1 or found[0][1] != expected:
                stale.append(f"{name}.visa {key}")
            text = line.sub(lambda found: found[1] + expected, text)
        if write and text != was:
            path.write_text(text)
    return stale
