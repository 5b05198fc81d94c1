"""What each kernel of a crate costs: cycles in all, and of each kind of command. See cost.sh."""

import json
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from run import first_error, kernels_of, run

KINDS = ["dma", "main", "sub", "pcie"]


def price(tools, folder, name, text):
    """A row: the kernel, its cycles, and for how many of them each kind of command runs."""
    path, planned = folder / f"{name}.visa", folder / f"{name}.planned.visa"
    path.write_text(text)
    code, _, err = run([tools / "visa-opt", path, "--allocate", "-o", planned])
    if code != 0:
        return name, None, first_error(err)
    code, out, err = run([tools / "visa-run", planned, "--cost", "--report", "json"])
    if code != 0:
        return name, None, first_error(err)
    totals = json.loads(out)["report"]["totals"]
    busy = {own["resource"]: own["cycles"] for own in totals["busy"]}
    return name, totals["cycles"], [busy[kind] for kind in KINDS]


def main():
    tools, crate = Path(sys.argv[1]), Path(sys.argv[2])
    code, out, err = run([tools / "visa-import", "rust", crate / "src" / "lib.rs"])
    for message, place in re.findall(r"^error\[import\]: (.*)\n   --> (.*)$", err, re.M):
        print(f"not imported: {place}: {message}")
    named = list(kernels_of(out))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda job: price(tools, Path(folder), *job), named))
    print(f"| kernel | cycles | {' | '.join(KINDS)} |")
    print("|---|" + "---|" * (len(KINDS) + 1))
    for name, cycles, found in rows:
        cells = [found, *"    "] if cycles is None else [f"{number:,}" for number in (cycles, *found)]
        print(f"| {name} | {' | '.join(cells)} |")
    priced = sum(cycles is not None for _, cycles, _ in rows)
    print(f"\n{len(rows)} kernels imported, {priced} priced")


main()
