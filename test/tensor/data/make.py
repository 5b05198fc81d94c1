#!/usr/bin/env python3
"""NumPy oracle of the tensor-level examples: the plain formula of each in 64 bits, independent of our code.

    pip install numpy
    python3 test/tensor/data/make.py            # write the files next to this script
    python3 test/tensor/data/make.py --check    # exit 1 if a committed file differs

The first argument of an example is `rand:1`, the next `rand:2`, from the generator of visa-run that
test/kernels/data/make.py reimplements. No input is committed. `NAME.npy` is the result of NAME.visa, rounded once, to f32.
Nothing else rounds here: the test in NAME.visa derives its tolerance from the roundings of the example.
"""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "kernels" / "data"))

from make import npy, rand_bf16, rand_f32, rand_i8  # noqa: E402


def f64(*arrays):
    return [array.astype(np.float64) for array in arrays]


def softmax(x):
    power = np.exp(x - x.max(axis=-1, keepdims=True))
    return power / power.sum(axis=-1, keepdims=True)


def gemm_bias_relu():
    a, b, bias = f64(rand_bf16(1, 32, 128), rand_bf16(2, 128, 16), rand_f32(3, 16))
    return np.maximum(a @ b + bias, 0)


def rms_norm():
    x, gamma = f64(rand_f32(1, 32, 60), rand_f32(2, 60))
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * gamma


def attention():
    q, k, v = f64(*(rand_bf16(seed, 32, 16) for seed in (1, 2, 3)))
    score = np.where(np.tri(32, dtype=bool), q @ k.T / np.sqrt(16), -np.inf)
    return softmax(score) @ v


def quantised_gemv():
    w, x, scale = f64(rand_i8(1, 64, 256), rand_i8(2, 256), rand_f32(3, 64))
    return scale * ((w - 7) @ x)


def moe_routing():
    x, gate, w = f64(rand_bf16(1, 32, 64), rand_bf16(2, 64, 8), rand_bf16(3, 8, 64, 16))
    score = x @ gate
    first, second = np.sort(score, axis=1)[:, :-3:-1].T
    assert (first - second > 2 * 64 * 64 * 2.0**-24).all(), "rounding could choose another expert"
    chosen = score.argmax(axis=1)
    return softmax(score).max(axis=1)[:, None] * np.einsum("th,tho->to", x, w[chosen])


def files():
    """Every file, by name."""
    results = {
        "attention": attention(),
        "gemm_bias_relu": gemm_bias_relu(),
        "moe_routing": moe_routing(),
        "quantised_gemv": quantised_gemv(),
        "rms_norm": rms_norm(),
        "softmax": softmax(rand_f32(1, 32, 60).astype(np.float64)),
    }
    return {f"{name}.npy": npy(result.astype(np.float32)) for name, result in results.items()}


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
