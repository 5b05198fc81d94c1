#!/usr/bin/env python3
"""Maps products and attention with AccelForge, and prints its best latency next to our bound and our plan.

usage: run.py VISA_RUN [PROBLEM...]

VISA_RUN is the path of the program; a PROBLEM is one of the names that the table lists. Needs Python 3.12 and
`pip install accelforge==1.0.467`.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import accelforge
from accelforge.mapper.FFM.main import map_workload_to_arch

HERE = pathlib.Path(__file__).parent
SUITE = HERE.parents[1]

GEMM = """
  - name: Gemm
    tensor_accesses:
    - {name: A, projection: [m, k]}
    - {name: B, projection: [k, n]}
    - {name: C, projection: [m, n], output: True}
    renames: {input: A, weight: B, output: C}
"""

# The two products alone: the exponentials and sums between them are no Einsums of two operands.
ATTENTION = """
  - name: Score
    tensor_accesses:
    - {name: Q, projection: [q, d]}
    - {name: K, projection: [s, d]}
    - {name: P, projection: [q, s], output: True}
    renames: {input: Q, weight: K, output: P}
  - name: Out
    tensor_accesses:
    - {name: P, projection: [q, s]}
    - {name: V, projection: [s, e]}
    - {name: O, projection: [q, e], output: True}
    renames: {input: P, weight: V, output: O}
"""


def gemm(m, n, k):
    """A problem: its name, its file and entry, its axes, and the ranks and Einsums for the peer."""
    axes = {"M": m, "N": n, "K": k}
    return f"{m}x{n}x{k}", "plan/gemm.visa", "nn", axes, {"m": m, "n": n, "k": k}, GEMM


PROBLEMS = [
    gemm(64, 64, 64),
    gemm(128, 256, 512),
    gemm(512, 512, 1024),
    gemm(1024, 1024, 1024),
    gemm(4096, 4096, 4096),
    gemm(4096, 64, 4096),
    gemm(33, 64, 4096),
    gemm(2048, 48, 64),
    gemm(96, 96, 2000),
    gemm(1, 1024, 1024),
    (
        "attention",
        "tensor/attention.visa",
        "attention",
        {"Q": 512, "S": 512, "D": 64},
        {"q": 512, "s": 512, "d": 64, "e": 64},
        ATTENTION,
    ),
]


def theirs(ranks, einsums):
    """The least latency that the peer finds, in cycles."""
    shape = "".join(f"    {name}: 0 <= {name} < {size}\n" for name, size in ranks.items())
    text = f"workload:\n  iteration_space_shape:\n{shape}  bits_per_value: {{All: 16}}\n  einsums:{einsums}"
    with tempfile.TemporaryDirectory() as folder:
        workload = pathlib.Path(folder) / "workload.yaml"
        workload.write_text(text)
        spec = accelforge.Spec.from_yaml(str(HERE / "arch.yaml"), str(workload))
        spec.mapper.metrics = accelforge.mapper.Metrics.LATENCY
        # Without the detailed evaluation, which draws the mapping and needs Graphviz.
        found = map_workload_to_arch(spec, print_progress=False, eval_in_detail=False)
    return round(min(found.data["Total<SEP>latency"]))


def ours(visa_run, file, entry, axes, model):
    """The cycles of our plan, and the bound of its report."""
    command = [visa_run, str(SUITE / file), "--entry", entry, "--plan", "--cost", "--report=json"]
    command += ["--memory-model", model] + [f"--axis={name}={size}" for name, size in axes.items()]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(result.stdout)["report"]
    return report["totals"]["cycles"], report["bound"]["cycles"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    visa_run, names = sys.argv[1], sys.argv[2:]
    unknown = set(names) - {problem[0] for problem in PROBLEMS}
    if unknown:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; expected: {', '.join(p[0] for p in PROBLEMS)}")
    print("| problem | AccelForge | bound, `flat` | plan, `flat` | bound, `book` | plan, `book` |")
    print("|---|---|---|---|---|---|")
    for name, file, entry, axes, ranks, einsums in PROBLEMS:
        if names and name not in names:
            continue
        (flat, flat_bound), (book, book_bound) = (ours(visa_run, file, entry, axes, m) for m in ("flat", "book"))
        cells = [name, theirs(ranks, einsums), flat_bound, flat, book_bound, book]
        print("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
