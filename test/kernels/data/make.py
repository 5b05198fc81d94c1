#!/usr/bin/env python3
"""NumPy oracle of the kernel tests: computes what each kernel must give, apart from our own code.

    pip install numpy
    python3 test/kernels/data/make.py            # write the files beside this script
    python3 test/kernels/data/make.py --check    # exit 1 if a committed file differs

A kernel's first argument is `rand:1` and its second `rand:2`, the generator of visa-run, so no input is
committed. `NAME.out.npy` is the result of kernel NAME in the NumPy dtype that visa-run writes. The result of
`gemm` would be 1 MiB, so `gemm.expected.txt` holds the line that visa-run prints for it instead.

The kernels of `transpose.visa` get `iota` (element k is k); `transpose.expected.txt` holds the line for each.

`lhs_f32.npy` and `lhs_rhs.safetensors` feed `dot` from files: `lhs` is f32 values that are no bf16 values
(rand:3 before rounding), `rhs` is rand:2; `dot_from_files.out.npy` is the result for both. `bad_*.npy` must be refused.

`casts_f32.npy` and `casts_i32.npy` hold numbers at which the conversions of casts.visa and fetch_casts.visa round, saturate
and wrap; their results stand in these files, worked out by hand.

Arithmetic: a product of two bf16 values is exact in f32. Within each 32-element packet along the contracted
axis, each of the 5 tree levels adds element 2k to element 2k+1 in f32. The first packet's sum is stored in the
accumulator and the others are added to it in time order. Inputs and results flush subnormals to a zero of the
same sign; the result is rounded to bf16 to nearest, ties to even.
"""

import io
import json
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
    lhs, rhs = flush(lhs), flush(rhs)
    accumulator = None
    for start in range(0, lhs.shape[-1], PACKET):
        packet = slice(start, start + PACKET)
        partial = tree_sum(flush(lhs[..., packet] * rhs[..., packet]))
        accumulator = partial if accumulator is None else flush(accumulator + partial)
    return round_to_bf16(accumulator)


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


def files():
    """Every file, by name."""
    lhs_f32, rhs = rand_f32(3, 2048), rand_bf16(2, 2048)
    matrix = rand_bf16(1, 256, 2048)
    too_large = np.arange(2048, dtype=np.int64)
    too_large[7] = 2**31
    return {
        "constant_add.out.npy": npy(constant_add(rand_i32(1, 2048))),
        "elementwise_mul.out.npy": npy(elementwise_mul(rand_i32(1, 2048), rand_i32(2, 2048))),
        "argmax.out.npy": npy(argmax(rand_i8(1, 256, 8))),
        "dot.out.npy": npy(dot(rand_bf16(1, 2048), rhs)),
        "gemv.out.npy": npy(gemv(matrix, rhs)),
        **{f"sigmoid.{name}.npy": npy(array) for name, array in sigmoids(rand_i8(1, 256, 64)).items()},
        "gemm.expected.txt": summary(gemm(rand_bf16(1, 512, 1024), rand_bf16(2, 1024, 512))),
        "transpose.expected.txt": b"".join(
            f"{name}: ".encode() + summary(np.ascontiguousarray(array)) for name, array in transposed().items()
        ),
        "lhs_f32.npy": npy(lhs_f32),
        "lhs_rhs.safetensors": safetensors(
            [("lhs", "F32", [2048], lhs_f32.tobytes()), ("rhs", "BF16", [2048], bf16_bytes(rhs))]
        ),
        "dot_from_files.out.npy": npy(dot(round_to_bf16(lhs_f32), rhs)),
        "casts_f32.npy": npy(np.array([1.125, -1.0625, 61440, 65520, 61439, 2**-17, 2**-10, -257], np.float32)),
        "casts_i32.npy": npy(np.array([7, 8, -9, 127, 128, -129, 32768, -(2**31)], np.int32)),
        "bad_truncated.npy": npy(lhs_f32)[:4096],
        "bad_shape.npy": npy(lhs_f32[:2047]),
        "bad_dtype.npy": npy(lhs_f32.astype(np.complex64)),
        "bad_range.npy": npy(too_large),  # for an i32 kernel: 2^31 at index 7
        "bad_magic.npy": b"This is no npy file.\n",
    }


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: make.py [--check]")
    stale = []
    for name, content in files().items():
        path = HERE / name
        if not sys.argv[1:]:
            path.write_bytes(content)
        elif not path.is_file() or path.read_bytes() != content:
            stale.append(name)
    if stale:
        sys.exit(f"differ from what make.py computes: {', '.join(stale)}; run make.py to rewrite them")


if __name__ == "__main__":
    main()
