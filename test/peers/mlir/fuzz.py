#!/usr/bin/env python3
"""Gives mutated modules of MLIR, as text and as bytecode, to `visa-mlir import`, and reports crashes.

usage: fuzz.py [--seconds N] [--seed N] [--keep FOLDER] FILE.mlir ...

The files are the modules that are mutated. A run that ends otherwise than with exit code 0 or 1 is a crash. It is one of
visa-mlir if Rust panics, or if mlir-opt accepts the same input. Else it is one of MLIR: mlir-opt crashes too, or it refuses
a bytecode whose reader has overwritten memory, as valgrind shows for mlir-opt. The exit code is 1 if visa-mlir has crashed.

VISA_MLIR_BIN is the folder of visa-mlir, MLIR_BIN that of mlir-opt.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import re
import subprocess
import sys
import time

from run import MLIR_BIN, VISA_MLIR_BIN

TOKEN = re.compile(r"[%#@!^][\w.$-]+|[\w.]+|->|\s+|.", re.S)
NUMBERS = ["0", "1", "-1", "2", "3", "7", "8", "63", "2147483647", "-2147483648", "4294967296", "9223372036854775807", "?"]
WORDS = """f32 bf16 f16 f64 i1 i4 i8 i32 i64 index tensor memref vector dense arith.addf arith.mulf arith.maximumf arith.select
arith.cmpf arith.constant arith.extf arith.truncf arith.sitofp arith.index_cast math.exp math.erf math.powf linalg.generic
linalg.matmul linalg.fill linalg.transpose linalg.broadcast linalg.reduce linalg.softmax linalg.conv_2d_nhwc_hwcf linalg.yield
linalg.index tensor.empty tensor.pad tensor.extract_slice tensor.insert_slice tensor.expand_shape tensor.collapse_shape
tensor.concat tensor.gather tensor.extract parallel reduction affine_map func.func func.call return scf.for scf.if""".split()
# A limit for each run: a module that takes longer is reported as a hang.
LIMIT = 20


def mutated_text(text, others, rng):
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 8])):
        at = rng.randrange(len(tokens))
        kind = rng.randrange(8)
        if kind == 0:
            del tokens[at : at + rng.choice([1, 1, 2, 5])]
        elif kind == 1:
            tokens.insert(at, rng.choice(WORDS + NUMBERS))
        elif kind == 2:
            words = [place for place, token in enumerate(tokens) if re.match(r"[a-z_.]+$", token)]
            if words:
                tokens[rng.choice(words)] = rng.choice(WORDS)
        elif kind == 3:
            numbers = [place for place, token in enumerate(tokens) if re.match(r"\d", token)]
            if numbers:
                place = rng.choice(numbers)
                # 128x256xbf16 is one token.
                tokens[place] = re.sub(r"\d+", lambda found: rng.choice([*NUMBERS, found[0]]), tokens[place])
        elif kind == 4:
            values = [place for place, token in enumerate(tokens) if token[0] == "%"]
            if len(values) > 1:
                one, other = rng.sample(values, 2)
                tokens[one] = tokens[other]
        elif kind == 5:
            lines = "".join(tokens).splitlines(keepends=True)
            one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines.insert(other, lines[one])
            if rng.random() < 0.5:
                del lines[one]
            tokens = TOKEN.findall("".join(lines))
        elif kind == 6:
            lines = rng.choice(others).splitlines(keepends=True)
            first = rng.randrange(len(lines))
            tokens[at:at] = TOKEN.findall("".join(lines[first : first + rng.choice([1, 3])]))
        else:
            tokens[at:at] = tokens[at : at + rng.choice([1, 3, 9])]
        if not tokens:
            tokens = ["module", " ", "{", "}"]
    return "".join(tokens).encode()


def mutated_bytes(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        at = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[at : at + rng.choice([1, 2, 8])]
        else:
            data[at:at] = data[at : at + rng.choice([1, 4, 16])]
        if not data:
            data = bytearray(b"ML\xefR")
    return bytes(data)


def ended(command, data):
    """The exit code, or None for a hang, and True if Rust panicked."""
    try:
        found = subprocess.run(command, input=data, capture_output=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None, False
    return found.returncode, b"panicked at" in found.stderr


def verdict(data, precision):
    code, panicked = ended([VISA_MLIR_BIN / "visa-mlir", "import", "-", *precision], data)
    if code in (0, 1):
        return ["imported", "refused"][code]
    theirs, _ = ended([MLIR_BIN / "mlir-opt", "-", "-o", "/dev/null"], data)
    is_ours = panicked or theirs == 0 or (theirs == 1 and not data.startswith(b"ML\xefR"))
    return "crash of visa-mlir" if is_ours else "crash of MLIR"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="write the inputs of crashes here")
    parser.add_argument("files", nargs="+")
    flags = parser.parse_args()
    rng = random.Random(flags.seed)
    texts = [pathlib.Path(file).read_text() for file in flags.files]
    codes = []
    for text in texts:
        made = subprocess.run([MLIR_BIN / "mlir-opt", "--emit-bytecode"], input=text.encode(), capture_output=True)
        if made.returncode == 0:
            codes.append(made.stdout)

    def case():
        precision = rng.choice([[], ["--contract", "bf16"], ["--contract", "bf16x3"]])
        if codes and rng.random() < 0.3:
            return mutated_bytes(rng.choice(codes), rng), precision
        return mutated_text(rng.choice(texts), texts, rng), precision

    counts, end = collections.Counter(), time.monotonic() + flags.seconds
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        while time.monotonic() < end:
            cases = [case() for _ in range(64)]
            for (data, precision), found in zip(cases, pool.map(lambda case: verdict(*case), cases)):
                counts[found] += 1
                if found.startswith("crash") and flags.keep:
                    folder = pathlib.Path(flags.keep)
                    folder.mkdir(exist_ok=True)
                    name = f"{found.split()[-1]}-{counts[found]}{''.join(precision[1:])}.mlir"
                    (folder / name).write_bytes(data)
    print(", ".join(f"{count} {found}" for found, count in sorted(counts.items())))
    return 1 if counts["crash of visa-mlir"] else 0


if __name__ == "__main__":
    sys.exit(main())
