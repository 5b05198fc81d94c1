#!/usr/bin/env python3
"""Imports each module of files of MLIR's tests, and prints a table of what is imported and what is refused.

usage: imports.py [--contract bf16|bf16x3] FILE.mlir ...

Lines `// -----` separate the modules of a file. A module is imported if `visa-mlir import` writes one that `visa-opt`
reads; it is refused if the error names an operation or a type at a line, or if MLIR refuses it. Anything else is a
failure, and the exit code is 1.

VISA_BIN is the folder of visa-opt, VISA_MLIR_BIN that of visa-mlir.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

from run import VISA_BIN, VISA_MLIR_BIN

# Text of refusals, without names and numbers of one module.
DETAIL = re.compile(r"argument \d+: |type `[^`]*` |operand \d+ ")


def modules(path):
    """The modules of a file that have functions."""
    parts = re.split(r"^// -----.*$", path.read_text(), flags=re.M)
    return [part for part in parts if "func.func" in part]


def outcome(text, contract):
    """`imported`, or the reason of a refusal; `None` for a failure."""
    command = [VISA_MLIR_BIN / "visa-mlir", "import", "-", f"--contract={contract}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        read = subprocess.run([VISA_BIN / "visa-opt", "-"], input=done.stdout, capture_output=True, text=True)
        return "imported" if read.returncode == 0 else None
    found = re.search(r"error\[([\w.-]+)\]: (.*)", done.stderr)
    if done.returncode != 1 or not found:
        return None
    code, message = found.groups()
    if code == "mlir":
        return "MLIR refuses it"
    return DETAIL.sub("", message).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contract", default="bf16", choices=["bf16", "bf16x3"])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    failures = []
    print("| file | modules | imported | refused, and the reason |\n|---|---|---|---|")
    for path in args.files:
        outcomes = collections.Counter()
        for number, text in enumerate(modules(path)):
            reason = outcome(text, args.contract)
            if reason is None:
                failures.append(f"{path}: module {number}")
            outcomes[reason or "failure"] += 1
        imported = outcomes.pop("imported", 0)
        reasons = "; ".join(f"{count}: {reason}" for reason, count in outcomes.most_common())
        print(f"| `{path.name}` | {imported + sum(outcomes.values())} | {imported} | {reasons} |")
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
