#!/usr/bin/env python3
"""NumPy oracle of the kernel tests: computes what each kernel must give, apart from our own code.

    pip install numpy
    python3 test/kernels/data/make.py            # write the files beside this script
    python3 test/kernels/data/make.py --check    # exit 1 if a committed file differs

A kernel's first argument is `rand:1` and its second `rand:2`, the generator of visa-run, so no input is
committed. `NAME.out.npy` is the result of kernel NAME in the NumPy dtype that visa-run writes. The result of
`gemm` would be 1 MiB, so `gemm.expected.txt` holds the line that visa-run prints for it instead, and so do
`gemm_tiled.expected.txt`, `gemm_blocked_steps.expected.txt`,
`gemm_four_chips.expected.txt`, `blocked_gemm.expected.txt`, `blocked_gemv.expected.txt`, `ffn.expected.txt` and `softmax_rows.expected.txt`;
`decode.expected.txt` has one for each cache and for the outputs. The line in `flash_attention.expected.txt` is that of both
flash_attention*.visa, and its numbers are compared with attention in 64 bits, too.

The kernels `conv2d_*.visa` and `batched_matmul_*.visa` have a line each in `conv2d.expected.txt` and `batched_matmul.expected.txt`.
`gemm_i8`, `gemm_f8` and `matmul_quantized` have a line for each kernel of theirs. Integers are summed exactly; an f8 packet
has 64 elements, and its sums stay f32.

The kernels of `transpose.visa` get `iota` (element k is k); `transpose.expected.txt` holds the line for each.

`lhs_f32.npy` and `lhs_rhs.safetensors` feed `dot` from files: `lhs` is f32 values that are no bf16 values
(rand:3 before rounding), `rhs` is rand:2; `dot_from_files.out.npy` is the result for both. `bad_*.npy` must be refused.

`gemm_auto.a.npy` and `gemm_auto.b.npy` are small integers, whose sums are exact in any order: the order is chosen there.

`sum_order.npy` has squares of 2^24 and 1, whose sum depends on the order; sum_order.visa works it out by hand.

`casts_f32.npy` and `casts_i32.npy` hold numbers at which the conversions of casts.visa and fetch_casts.visa round, saturate
and wrap; their results stand in these files, worked out by hand.

The results of other kernels are summed up by a CRC in their FileCheck lines: checksums.py computes it, also for
test/tools/visa-run, and book_checksums.py for test/book.
Both ways of running this script go through those lines too.

`fast.*.npy` are the values of fast expressions, which kernels come near to, in numbers of their format.

`embedding.*.npy`, `paged_kv.*.npy` and `moe_dispatch.*.npy` are indices of rows, some of them wrong, and the rows that they choose.

`f4_pairs.npy` has each byte once, as two f4e2m1.

`counts_*.npy` are the valid counts of book 24's tables (test/book/v5-*.visa, v6-*.visa).

Arithmetic: a product of two bf16 values is exact in f32. Within each 32-element packet along the contracted
axis, each of the 5 tree levels adds element 2k to element 2k+1 in f32. The first packet's sum is stored in the
accumulator and the others are added to it in time order. Inputs and results flush subnormals to a zero of the
same sign; the result is rounded to bf16 to nearest, ties to even.
"""

import io
import json
import math
import pathlib
import struct
import sys
import zlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = 0x9E3779B97F4A7C15
PACKET = 32  # bf16 elements that one pass of the reduction tree sums


# The generator: SplitMix64 keyed by element index.


def splitmix64(seed, count):
    index = np.arange(1, count + 1, dtype=np.uint64)
    return mix(mix(np.array([seed], dtype=np.uint64)) + index * np.uint64(GOLDEN))


def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def rand_i32(seed, *shape):
    low = splitmix64(seed, int(np.prod(shape))).astype(np.uint32)
    return low.view(np.int32).reshape(shape)


def rand_f32(seed, *shape):
    mantissa = (splitmix64(seed, int(np.prod(shape))) >> np.uint64(40)).astype(np.float32)
    return (mantissa / np.float32(2**23) - np.float32(1)).reshape(shape)


def rand_bf16(seed, *shape):
    return round_to_bf16(rand_f32(seed, *shape))


# Arithmetic. A bf16 array is held as the f32 array of the same values.


def flush(x):
    """Subnormals to a zero of the same sign."""
    return np.where(np.abs(x) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), x), x)


def round_to_bf16(x):
    """f32 to bf16, to nearest, ties to even (finite values only)."""
    assert np.isfinite(x).all()
    bits = np.ascontiguousarray(flush(x), dtype=np.float32).view(np.uint32)
    to_even = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    rounded = (bits + to_even) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32).reshape(np.shape(x))


def tree_sum(products):
    """Sum over the last axis, a power of two long: at each level element 2k plus element 2k+1."""
    while products.shape[-1] > 1:
        products = flush(products[..., 0::2] + products[..., 1::2])
    return products[..., 0]


def contract(lhs, rhs):
    """Sum of lhs * rhs over the last axis (after broadcasting), as bf16."""
    return round_to_bf16(sums(lhs, rhs))


def sums(lhs, rhs):
    """Sum of lhs * rhs over the last axis (after broadcasting), as f32."""
    lhs, rhs = flush(lhs), flush(rhs)
    accumulator = None
    for start in range(0, lhs.shape[-1], PACKET):
        packet = slice(start, start + PACKET)
        partial = tree_sum(flush(lhs[..., packet] * rhs[..., packet]))
        accumulator = partial if accumulator is None else flush(accumulator + partial)
    return accumulator


# The kernels.


def constant_add(x):
    return x + np.int32(1)


def rand_i8(seed, *shape):
    return splitmix64(seed, int(np.prod(shape))).astype(np.uint8).view(np.int8).reshape(shape)


def sigmoids(x):
    """Results of the kernels of sigmoid.visa, by name. NumPy computes each element; the kernels look it up."""
    exact = 1 / (1 + np.exp(-x.astype(np.float64) / 16))
    narrow = np.minimum(np.floor(256 * exact + 0.5) - 128, 127).astype(np.int8)
    return {"narrow": narrow, "shifted": narrow.astype(np.int32) + 128, "wide": round_to_bf16(exact.astype(np.float32))}


def elementwise_mul(lhs, rhs):
    return (lhs.astype(np.int64) * rhs.astype(np.int64)).astype(np.uint32).view(np.int32)


def argmax(x):
    return np.argmax(x, axis=0).astype(np.int32)


def dot(lhs, rhs):
    return contract(lhs, rhs)


def gemv(matrix, vector):
    return contract(matrix, vector)


def gemm(a, b):
    # A row of the result at a time, so that the products of one packet stay small.
    columns = np.ascontiguousarray(b.T)
    return np.stack([contract(row, columns) for row in a])


def in_blocks(row, columns, block):
    """Products of a row and columns, a block at a time, whose sums are added in f32 (book 30), as bf16."""
    total = np.zeros(columns.shape[:-1], np.float32)
    for start in range(0, columns.shape[-1], block):
        total = flush(sums(row[start : start + block], columns[..., start : start + block]) + total)
    return round_to_bf16(total)


def blocked_gemm(a, b, block):
    columns = np.ascontiguousarray(b.T)
    return np.stack([in_blocks(row, columns, block) for row in a])


def gemm_four_chips(a, b):
    """Each chip's sums, added in the order of the chips, as bf16."""
    rows = a.reshape(a.shape[0], -1, a.shape[-1])
    out = np.zeros((rows.shape[1], b.shape[1]), np.float32)
    for at in range(rows.shape[1]):
        total = sums(rows[0, at], b[0])
        for chip in range(1, len(rows)):
            total = flush(total + sums(rows[chip, at], b[chip]))
        out[at] = round_to_bf16(total)
    return out.reshape(*a.shape[1:3], -1)


def ffn(x, up, down):
    """i8: sums are exact, scaled in f32; halves are rounded away from zero."""
    sums = (x.astype(np.float64) @ up.astype(np.float64).T).astype(np.float32) * np.float32(2.0**-12)
    hidden = np.clip(np.trunc(sums.astype(np.float64) + np.copysign(0.5, sums)), 0, 127)
    return round_to_bf16((hidden @ down.astype(np.float64).T).astype(np.float32) * np.float32(2.0**-10))


def decode_bias(count):
    """A row a position: 0 up to it, a number after it that no exponential is left of."""
    positions = np.arange(count)
    return np.where(positions <= positions[:, None], np.float32(0), np.float32(-1e30))


def decode(steps, positions):
    """Attention of tokens one after the other; what became of the caches and of the outputs."""
    tokens, (wq, wk, wv) = rand_bf16(1, steps, 256), [rand_bf16(seed, 64, 256) for seed in (2, 3, 4)]
    keys, values = rand_bf16(5, positions, 64).copy(), rand_bf16(6, 64, positions).copy()
    outs, bias = np.zeros((positions, 64), np.float32), decode_bias(positions)
    for step, token in enumerate(tokens):
        query, keys[step], values[:, step] = (contract(w, token) for w in (wq, wk, wv))
        scores = flush(flush(sums(keys, query) * np.float32(0.125)) + bias[step])
        outs[step] = contract(values, round_to_bf16(softmax_lanes(scores[None])[0]))
    return {"keys": keys, "values": values, "outs": outs}


def fma(x, y, z):
    """x * y + z of f32, rounded once. In 64 bits the product is exact; the sum is rounded to odd, so that rounding it again is right."""
    product, z = x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64)
    total = product + z
    part = total - product
    error = (product - (total - part)) + (z - part)
    bits = total.view(np.int64)
    up = (error > 0) == (total > 0)
    bits = np.where((error != 0) & (bits % 2 == 0), np.where(up, bits + 1, bits - 1), bits)
    return flush(bits.view(np.float64).astype(np.float32))


def flash_attention(q, k, v, tile):
    """Causal attention of a head, a tile of queries and a tile of keys at a time; lane and time orders as in flash_attention.visa."""
    count, width = q.shape
    scale, one = np.float32(0.08838834764831845), np.ones(tile, np.float32)
    far = np.arange(tile)[None, :] - np.arange(tile)[:, None]  # key - query
    mask = np.minimum(far.astype(np.float32) * np.float32(-1e30), np.float32(0))
    out = np.empty((count, width), np.float32)
    for at in range(0, count, tile):
        queries = q[at : at + tile]
        greatest, weight = np.full(tile, np.float32(-1e30)), np.zeros(tile, np.float32)
        total = np.zeros((tile, width), np.float32)
        for first in range(0, at + tile, tile):
            keys, values = k[first : first + tile], v[first : first + tile]
            scores = flush(sums(queries[:, None], keys[None]) * scale)
            if first == at:
                scores = flush(scores + mask)
            before, greatest = greatest, np.maximum(greatest, scores.max(axis=1))
            factor = flush(exactly(np.exp, flush(before - greatest)))
            weights = round_to_bf16(flush(exactly(np.exp, flush(scores - greatest[:, None]))))
            weight = fma(weight, factor, sums(weights, one[None]))
            columns = np.ascontiguousarray(values.T)
            total = fma(total, factor[:, None], sums(weights[:, None], columns[None]))
        out[at : at + tile] = round_to_bf16(flush(total / weight[:, None]))
    return out


def attention(q, k, v):
    """Causal attention in 64 bits."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.T / math.sqrt(q.shape[1])
    scores[np.triu_indices(len(q), 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights @ v / weights.sum(axis=1, keepdims=True)


def flash_attention_heads():
    q, k, v = (rand_bf16(seed, 16, 512, 128) for seed in (1, 2, 3))
    heads = [flash_attention(*head, 256) for head in zip(q, k, v)]
    # Values are below 1. Weights in bf16 are 2^-9 off at most, in the sum of values and in that of weights, and so is the result: 3 x 2^-9.
    for head, out in zip(zip(q, k, v), heads):
        assert np.abs(out - attention(*head)).max() < 2.0**-7
    return np.stack(heads)


def gemm_auto_operands():
    return {"a": rand_i4(1, 128, 64), "b": rand_i4(2, 64, 128)}


def in_time(products):
    """Sum over the first axis, one after the other, as bf16."""
    accumulator = products[0]
    for product in products[1:]:
        accumulator = flush(accumulator + product)
    return round_to_bf16(accumulator)


def batched_matmuls():
    """Results of the batched_matmul kernels, by name. The tree sums K = 32 in a packet; where K is in time, it is summed in order."""
    x, w = rand_bf16(1, 8, 16, 32), rand_bf16(2, 8, 24, 32)  # VMK, VNK
    by_v, with_v = rand_bf16(1, 8, 32, 32), rand_bf16(2, 24, 32, 32)  # MKV, NKV
    by_m, with_m = rand_bf16(1, 8, 32, 32), rand_bf16(2, 8, 24, 32)  # VKM, VNK
    return {
        "k": contract(x[:, :, None, :], w[:, None, :, :]),
        "v": in_time([flush(by_v[:, None, k, :] * with_v[None, :, k, :]) for k in range(32)]),
        "nm": in_time([flush(by_m[:, None, k, :] * with_m[:, :, k, None]) for k in range(32)]),
    }


def convolution(x, w, stride, dilation, pair=1):
    """out[P, H, C, W] of x[P, K, Y, X] and w[C, K, Fh, Fw]. Packets come in the order of Fh, K, and Fw in steps of `pair`; the
    tree adds the `pair` products of a packet."""
    x, w = flush(x), flush(w)
    taps = w.shape[-1]
    size = lambda pixels: (pixels - 1 - dilation * (taps - 1)) // stride + 1
    height, width = size(x.shape[2]), size(x.shape[3])
    window = lambda first, count: slice(first * dilation, first * dilation + stride * (count - 1) + 1, stride)

    def product(k, fh, fw):
        pixels = x[:, k, window(fh, height), window(fw, width)]
        return flush(pixels[:, :, None, :] * w[None, None, :, k, fh, fw, None])

    accumulator = None
    for fh in range(taps):
        for k in range(x.shape[1]):
            for fw in range(0, taps, pair):
                partial = tree_sum(np.stack([product(k, fh, fw + of) for of in range(pair)], axis=-1))
                accumulator = partial if accumulator is None else flush(accumulator + partial)
    return round_to_bf16(accumulator)


def convolutions():
    """Results of the conv2d kernels, by name."""
    image = lambda height, width: rand_bf16(1, 2, 16, height, width)
    taps = lambda size: rand_bf16(2, 24, 16, size, size)
    return {
        "stride1": convolution(image(32, 32), taps(3), 1, 1),
        "stride2": convolution(image(32, 32), taps(4), 2, 1, pair=2),
        "stride2_feed3": convolution(image(34, 36)[..., :34], taps(4), 2, 1, pair=2),
        "dilation2": convolution(image(32, 32)[:, :, :31, :31], taps(3), 1, 2),
        "stride2_dilation2": convolution(image(32, 32)[:, :, :31, :31], taps(3), 2, 2),
    }


def integer_matmul(a, b):
    """a[I, K] times b[J, K] in i32; nothing here comes near 2^53, so f64 is exact."""
    return (a.astype(np.float64) @ b.astype(np.float64).T).astype(np.int64).astype(np.int32)


def round_to_f8(x, fraction, least, away):
    """f32 of magnitude at most 1 to an f8 of `fraction` fraction bits whose least normal number is 2^least."""
    _, exponent = np.frexp(np.where(x == 0, np.float32(1), x))
    step = np.exp2(np.maximum(exponent - 1, least) - fraction)
    scaled = x.astype(np.float64) / step
    rounded = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled) if away else np.rint(scaled)
    return (rounded * step).astype(np.float32)


def rand_f8(name, seed, *shape):
    """e5m2 rounds ties away from zero, e4m3 to even (docs/numerics.md)."""
    fraction, least, away = {"f8e4m3": (3, -6, False), "f8e5m2": (2, -14, True)}[name]
    return round_to_f8(rand_f32(seed, *shape), fraction, least, away)


F4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)


def rand_f4(seed, *shape):
    """The nearest of 8 numbers with a sign; of two that are equally near, the one with the even code."""
    x = rand_f32(seed, *shape)
    far = np.abs(np.abs(x)[..., None] - F4)
    order = np.array([0, 2, 4, 6, 1, 3, 5, 7])
    return np.copysign(F4[order][np.argmin(far[..., order], axis=-1)], x)


def f4_pairs():
    """Each byte once as two f4e2m1, the low half first."""
    code = np.stack([np.arange(256) & 15, np.arange(256) >> 4], axis=-1).reshape(32, 16)
    return np.where(code < 8, F4[code % 8], -F4[code % 8])


def gemm_f8(name, sequential):
    """Two tensors of 128 x 256, multiplied; packets of 64, or one product after the other."""
    a, b = rand_f8(name, 1, 128, 256), rand_f8(name, 2, 128, 256)
    out = np.full((128, 128), np.float32(-0.0))
    for start in range(0, 256, 1 if sequential else 64):
        packet = slice(start, start + (1 if sequential else 64))
        out = flush(out + tree_sum(flush(a[:, None, packet] * b[None, :, packet])))
    return out


def rand_i4(seed, *shape):
    nibbles = splitmix64(seed, int(np.prod(shape))).astype(np.uint8) & np.uint8(15)
    return ((nibbles ^ np.uint8(8)).astype(np.int8) - np.int8(8)).reshape(shape)


def quantized():
    """Results of the kernels of matmul_quantized.visa, by name: differences fit i9 and i5."""
    operands = {"i8": (rand_i8, -128, 17), "i4": (rand_i4, -8, 3)}
    return {
        name: integer_matmul(rand(1, 128, 256).astype(np.int32) - za, rand(2, 128, 256).astype(np.int32) - zb)
        for name, (rand, za, zb) in operands.items()
    }


def of_f64(function, x):
    """A function taken in 64 bits and rounded to f32."""
    return flush(function(flush(x).astype(np.float64)).astype(np.float32))


def relu(x):
    return np.maximum(flush(x), np.float32(0))


def gelu(x):
    erf = of_f64(np.vectorize(math.erf), flush(x * np.float32(0.70710678)))
    half = of_f64(lambda e: e * 0.5 + 0.5, erf)  # a product by 0.5 is exact, so that this rounds once
    return flush(half * x)


def silu(x):
    return flush(of_f64(lambda x: 1 / (1 + np.exp(-x)), x) * x)


def leaky(x):
    return np.where(x < 0, flush(x * np.float32(0.1)), x)


def rotations(positions, pairs):
    """cos and sin of each position and pair, as [position, row, pair, column] of a 2 x 2 matrix, in bf16."""
    angle = np.arange(positions)[:, None] / 10000 ** (np.arange(pairs) / pairs)
    cos, sin = np.cos(angle), np.sin(angle)
    matrix = np.stack([np.stack([cos, -sin], axis=-1), np.stack([sin, cos], axis=-1)], axis=1)
    return round_to_bf16(matrix.astype(np.float32))


def rope(q, w):
    """q[t, h, d, f] times w[t, o, d, f], summed over the pair f."""
    return round_to_bf16(tree_sum(flush(flush(q)[:, :, None] * flush(w)[:, None])))


def top_k(score, k):
    """For each row of bf16 bits the k best columns, in the order of the columns, and their bits."""
    value = (score.astype(np.int32) << 16).view(np.float32)
    best = np.sort(np.argsort(-value, axis=1, kind="stable")[:, :k], axis=1).astype(np.int32)
    return best, np.take_along_axis(score, best, axis=1).astype(np.int32)


def top_k_scores():
    return (round_to_bf16(rand_f32(1, 4, 16)).view(np.int32) >> 16).astype(np.int16)


def fast():
    """Results of the kernels of fast.visa, by name, rounded once: the kernels may round in any order, and are up to 8 numbers away."""
    x = rand_f32(1, 2048).astype(np.float64)
    tenth, fifth, rest = (float(np.float32(constant)) for constant in (0.1, 0.2, 0.3))
    value = x * tenth + fifth * x * x + rest
    results = {"value": value, "followed": np.exp(-value) - 2, "without": np.sin(value)}
    rounded = {name: array.astype(np.float32) for name, array in results.items()}
    return {**rounded, "converted": round_to_bf16(rounded["value"])}


def branch_ids(n):
    """The static branch logger of book 35, section 4."""
    return np.array([0] + [1] * (n - 2) + [2], np.int32)


def exactly(function, x):
    """A function of f32, rounded once: the unit's correctly rounded reference (docs/numerics.md)."""
    return function(x.astype(np.float64)).astype(np.float32)


def sum_over_time(x):
    """Sum over the first axis, one element after the other."""
    total = x[0]
    for element in x[1:]:
        total = flush(total + element)
    return total


def softmax(x):
    shifted = exactly(np.exp, flush(x - x.max(axis=0)))
    return shifted / sum_over_time(shifted)


def softmax_lanes(x):
    """Softmax of each row: a row is summed in fours by a tree, and those one after the other."""
    shifted = exactly(np.exp, flush(x - x.max(axis=1, keepdims=True)))
    fours = np.moveaxis(shifted.reshape(len(x), -1, 4), 1, 0)
    total = sum_over_time(flush(flush(fours[..., 0] + fours[..., 1]) + flush(fours[..., 2] + fours[..., 3])))
    return shifted / total[:, None]


def layer_norm(x):
    count, epsilon = np.float32(len(x)), np.float32(0.00001)
    centred = x - sum_over_time(x) / count
    variance = sum_over_time(centred * centred) / count
    return centred / np.sqrt(variance + epsilon)


def rms_norm(x, gamma):
    count, epsilon = np.float32(len(x)), np.float32(0.00001)
    packets = np.zeros((64, x.shape[1]), np.float32)
    packets[: len(x)] = x * x
    fours = packets.reshape(16, 4, -1)
    squares = sum_over_time((fours[:, 0] + fours[:, 1]) + (fours[:, 2] + fours[:, 3])) / count
    return np.ascontiguousarray((x / np.sqrt(squares + epsilon) * gamma[:, None]).T)


def valid_counts():
    """Elements in each packet of 8 (along rows) of each slice, for the tables of book 24, counted one by one."""
    lanes = np.arange(8)
    standard = [[8 * (slice * 3 + step < 14) for step in range(3)] for slice in range(8)]
    transposed = [[8 * (step * 8 + slice < 19) for step in range(3)] for slice in range(8)]
    w = [np.sum(packet * 8 + lanes < 19) for packet in range(3)]
    c = lambda slice: [(slice * 2 + step < 5) for step in range(2)]
    cw = [[inside * count for inside in c(slice) for count in w] for slice in range(4)]
    hcw = [[inside * count for inside in c(slice // 4) for count in cw[slice % 4]] for slice in range(16)]
    packet = [[np.sum(outer * 24 + inner * 8 + lanes < 50) for outer in range(3) for inner in range(3)]]
    tables = {"w": [w] * 4, "cw": cw, "hcw": hcw, "standard": standard, "transposed": transposed, "packet": packet}
    return {name: np.array(table, np.int32) for name, table in tables.items()}


def iota(dtype, *shape):
    return np.arange(np.prod(shape)).astype(dtype).reshape(shape)


def transposed():
    """Results of the kernels of transpose.visa, by name."""
    swapped = lambda array: np.swapaxes(array, -1, -2)
    large = iota(np.int8, 256, 2, 8, 4, 8)  # P, B, C, F, E
    products = np.einsum("pfk,ek->pef", iota(np.int8, 256, 4, 64).astype(np.int32), iota(np.int8, 8, 64).astype(np.int32))
    return {
        "basic": swapped(iota(np.int8, 256, 8, 8, 8)),
        "recommitted": np.transpose(iota(np.int8, 256, 8, 8, 8), (0, 3, 1, 2)),
        "small": swapped(iota(np.int8, 64, 4, 2)),
        "large": np.moveaxis(large, 2, -1),
        "half": swapped(round_to_bf16(iota(np.float32, 256, 8, 4, 8))),
        "words": swapped(iota(np.int32, 256, 8, 2, 16)),
        "untrimmed": swapped(iota(np.int8, 256, 4, 6)),
        "padded_rows": swapped(iota(np.int8, 256, 4, 6)),
        "narrowed": swapped((iota(np.int32, 256, 8, 8) + 1).astype(np.int8)),
        "products": products,
    }


# The files.


def npy(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array, order="C"), version=(1, 0))
    return out.getvalue()


def safetensors(tensors):
    """`tensors`: list of (key, dtype name, shape, little-endian bytes)."""
    header, data = {}, b""
    for key, dtype, shape, raw in tensors:
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def bf16_bytes(x):
    return (x.view(np.uint32) >> np.uint32(16)).astype("<u2").tobytes()


def summary(array):
    """The line that visa-run prints for an array of numbers that f32 holds; the mean is summed in f64 in index order."""

    def text(value):
        return np.format_float_positional(np.float32(value), unique=True, trim="-")

    flat = array.ravel()
    mean = np.cumsum(flat, dtype=np.float64)[-1] / flat.size
    first = ", ".join(text(value) for value in flat[:8])
    dots = ", ..." if flat.size > 8 else ""
    shape = ", ".join(str(extent) for extent in array.shape)
    return (
        f"shape [{shape}], first [{first}{dots}], min {text(flat.min())}, max {text(flat.max())}, "
        f"mean {text(mean)}, crc32 0x{zlib.crc32(array.tobytes()):08x}\n"
    ).encode()


def lines(arrays):
    """A line for each array, by name."""
    return b"".join(f"{name}: ".encode() + summary(np.ascontiguousarray(array)) for name, array in arrays.items())


def routed(experts, blocks, block):
    """Where each of a token's experts has its place: by expert, in blocks of so many tokens (book 35, 3.3)."""
    counts = np.bincount(experts.ravel(), minlength=experts.max() + 1)
    starts = np.cumsum(-(-counts // block)) - -(-counts // block)
    seen = np.zeros(counts.size, np.int64)
    places = np.empty(experts.shape, np.int32)
    for at in np.ndindex(experts.shape):
        expert = experts[at]
        places[at] = starts[expert] * block + seen[expert]
        seen[expert] += 1
    assert places.max() < blocks * block
    return places


def rows_by_index():
    """Indices of embedding.visa, paged_kv.visa and moe_dispatch.visa, and what their kernels make of rand:1 and rand:2."""
    ids = (splitmix64(21, 64) % 1000).astype(np.int32).reshape(4, 16)
    words = rand_bf16(1, 1000, 128)
    pages = (splitmix64(22, 8) % 32).astype(np.int32).reshape(2, 4)
    pages[1, 2] = pages[0, 1]  # two sequences that begin alike share a page
    pool = rand_bf16(1, 32, 16, 2, 32)
    slots = np.array([37, 411, 0, 511], np.int32)
    cache = rand_bf16(1, 512, 2, 32)
    cache[slots] = rand_bf16(2, 4, 2, 32)
    experts = np.argsort(splitmix64(23, 16 * 8).reshape(16, 8), axis=1)[:, :2]
    places = routed(experts, 12, 4)
    tokens, blocks = rand_bf16(1, 16, 64), np.zeros((48, 64), np.float32)
    blocks[places] = tokens[:, None, :]
    outside, between = ids.copy(), ids * 256
    outside[0, 9], between[0, 9] = 1000, 130
    negative = ids * 256
    negative[0, 9] = -256
    twice = slots.copy()
    twice[3] = 37
    return {
        "embedding.ids": ids,
        "embedding.offsets": ids * np.int32(256),
        "embedding.outside": outside,
        "embedding.between": between,
        "embedding.negative": negative,
        "embedding.out": words[ids],
        "embedding.transposed": np.moveaxis(words[ids], 2, 0),
        "paged_kv.pages": pages,
        "paged_kv.out": pool[pages],
        "paged_kv.slots": slots,
        "paged_kv.offsets": slots * np.int32(128),
        "paged_kv.twice": twice,
        "paged_kv.cache": cache,
        "moe_dispatch.places": places,
        "moe_dispatch.out0": blocks,
        "moe_dispatch.out1": blocks[places],
    }


def files():
    """Every file, by name."""
    lhs_f32, rhs = rand_f32(3, 2048), rand_bf16(2, 2048)
    matrix = rand_bf16(1, 256, 2048)
    wide = integer_matmul(rand_i8(1, 512, 1024), rand_i8(2, 1024, 512).T)
    too_large = np.arange(2048, dtype=np.int64)
    too_large[7] = 2**31
    return {
        "constant_add.out.npy": npy(constant_add(rand_i32(1, 2048))),
        "elementwise_mul.out.npy": npy(elementwise_mul(rand_i32(1, 2048), rand_i32(2, 2048))),
        "argmax.out.npy": npy(argmax(rand_i8(1, 256, 8))),
        "dot.out.npy": npy(dot(rand_bf16(1, 2048), rhs)),
        "gemv.out.npy": npy(gemv(matrix, rhs)),
        "f4_pairs.npy": npy(f4_pairs()),
        **{f"sigmoid.{name}.npy": npy(array) for name, array in sigmoids(rand_i8(1, 256, 64)).items()},
        **{f"fast.{name}.npy": npy(array) for name, array in fast().items()},
        **{f"counts_{name}.npy": npy(array) for name, array in valid_counts().items()},
        "softmax.out.npy": npy(softmax(rand_f32(1, 60, 64))),
        "softmax_lanes.out.npy": npy(softmax_lanes(rand_f32(1, 64, 60))),
        "decode.bias.npy": npy(decode_bias(64)),
        "decode.expected.txt": lines(decode(8, 64)),
        "ffn.expected.txt": summary(ffn(rand_i8(1, 128, 2048), rand_i8(2, 4096, 2048), rand_i8(3, 2048, 4096))),
        "flash_attention.expected.txt": summary(flash_attention_heads()),
        "softmax_rows.expected.txt": summary(softmax_lanes(rand_f32(1, 1024, 256))),
        "layer_norm.out.npy": npy(layer_norm(rand_f32(1, 60, 64))),
        "rms_norm.out.npy": npy(rms_norm(rand_f32(1, 60, 64), rand_f32(2, 60))),
        "gemm.expected.txt": summary(gemm(rand_bf16(1, 512, 1024), rand_bf16(2, 1024, 512))),
        "gemm_tiled.expected.txt": summary(gemm(rand_bf16(1, 4096, 64), rand_bf16(2, 512, 64).T)),
        "gemm_blocked_steps.expected.txt": summary(blocked_gemm(rand_bf16(1, 4096, 128), rand_bf16(2, 256, 128).T, 64)),
        "gemm_four_chips.expected.txt": summary(gemm_four_chips(rand_bf16(1, 4, 4, 1024, 32), rand_bf16(2, 4, 512, 32))),
        "blocked_gemm.expected.txt": summary(
            blocked_gemm(rand_bf16(1, 512, 2048), rand_bf16(2, 2048, 1024), 1024)
        ),
        "blocked_gemv.expected.txt": summary(in_blocks(rand_bf16(2, 8192), rand_bf16(1, 1024, 8192), 4096)),
        "gemm_i8.expected.txt": lines({"wide": wide, "narrow": wide.astype(np.int8)}),
        "gemm_f8.expected.txt": lines(
            {
                f"{name} {order}": gemm_f8(name, order == "sequential")
                for name in ("f8e4m3", "f8e5m2")
                for order in ("tree", "sequential")
            }
        ),
        "batched_matmul.expected.txt": lines(batched_matmuls()),
        "conv2d.expected.txt": lines(convolutions()),
        "matmul_quantized.expected.txt": lines(quantized()),
        "transpose.expected.txt": lines(transposed()),
        "cumsum.ids.npy": npy(np.repeat(branch_ids(16)[:, None], 8, axis=1)),
        "cumsum.n.npy": npy(np.repeat(np.arange(16, dtype=np.int32)[:, None], 8, axis=1)),
        "cumsum.out.npy": npy(np.cumsum(rand_i32(1, 4, 16, 8), axis=1, dtype=np.int32)),
        **{f"{f.__name__}.out.npy": npy(f(rand_f32(1, 2048))) for f in (relu, gelu, silu, leaky)},
        "rope.w.npy": npy(rotations(4, 16)),
        "rope.out.npy": npy(rope(rand_bf16(1, 4, 2, 16, 2), rotations(4, 16))),
        "top_k.score.npy": npy(top_k_scores()),
        "top_k.index.npy": npy(np.arange(16, dtype=np.int32)),
        "top_k.ids.npy": npy(np.repeat(branch_ids(16)[:, None], 16, axis=1)),
        "top_k.out0.npy": npy(top_k(top_k_scores(), 4)[0]),
        "top_k.out1.npy": npy(top_k(top_k_scores(), 4)[1]),
        **{f"{name}.npy": npy(np.ascontiguousarray(array)) for name, array in rows_by_index().items()},
        "v1.x.npy": npy(np.arange(512, dtype=np.int32) - 356),
        **{f"gemm_auto.{name}.npy": npy(array) for name, array in gemm_auto_operands().items()},
        "lhs_f32.npy": npy(lhs_f32),
        "lhs_rhs.safetensors": safetensors(
            [("lhs", "F32", [2048], lhs_f32.tobytes()), ("rhs", "BF16", [2048], bf16_bytes(rhs))]
        ),
        "dot_from_files.out.npy": npy(dot(round_to_bf16(lhs_f32), rhs)),
        "casts_f32.npy": npy(np.array([1.125, -1.0625, 61440, 65520, 61439, 2**-17, 2**-10, -257], np.float32)),
        "casts_i32.npy": npy(np.array([7, 8, -9, 127, 128, -129, 32768, -(2**31)], np.int32)),
        "sum_order.npy": npy(np.array([4096] + [1] * 63, np.float32)),
        "bad_truncated.npy": npy(lhs_f32)[:4096],
        "bad_shape.npy": npy(lhs_f32[:2047]),
        "bad_dtype.npy": npy(lhs_f32.astype(np.complex64)),
        "bad_range.npy": npy(too_large),  # for an i32 kernel: 2^31 at index 7
        "bad_magic.npy": b"This is no npy file.\n",
    }


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: make.py [--check]")
    import book_checksums  # these take their numbers from here
    import checksums

    write = not sys.argv[1:]
    stale = checksums.compare(checksums.KERNELS, checksums.FILES, write)
    stale += checksums.compare(checksums.TOOL, checksums.TOOL_FILES, write)
    stale += checksums.compare(checksums.BOOK, book_checksums.FILES, write)
    if write:
        stale = []
    for name, content in files().items():
        path = HERE / name
        if write:
            path.write_bytes(content)
        elif not path.is_file() or path.read_bytes() != content:
            stale.append(name)
    if stale:
        sys.exit(f"differ from what make.py computes: {', '.join(stale)}; run make.py to rewrite them")


if __name__ == "__main__":
    main()
