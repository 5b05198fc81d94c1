#!/usr/bin/env python3
"""Compares the detailed model of HBM with DRAMsim3, and prints the table of README.md.

usage: run.py DRAMSIM3 [STREAM ...]

DRAMSIM3 is a checkout of https://github.com/umd-memsys/DRAMsim3; README.md says which, and what to install. It is
copied, and built in a temporary folder. Without names all streams are compared.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TRACE = ["cargo", "run", "--quiet", "--release", "-p", "visa-memory", "--example", "hbm_trace", "--"]
# Commands of a channel's queue (book 11).
QUEUE = "64"
COMMANDS = 4
# Where the channels hold each other up, one of them alone is compared too.
ALONE = ["book-10-example-4/0"]


def build(source, folder, uncapped):
    """Builds DRAMsim3 and the driver in a folder; returns the driver."""
    copy = folder / ("uncapped" if uncapped else "plain")
    shutil.copytree(source, copy)
    if uncapped:
        # Four commands on a row are enough for it to let an older command close the row. No setting changes that.
        file = copy / "src" / "command_queue.cc"
        text, count = re.subn(r"(RowHitCount\([^;]*?\) >=\s*)4;", r"\g<1>(1 << 30);", file.read_text())
        assert count == 1, "DRAMsim3 has changed: the limit of row hits is not where it was"
        file.write_text(text)
    subprocess.run(["make", "-j2", "libdramsim3.so"], cwd=copy, check=True, capture_output=True)
    driver = copy / "driver"
    include = [f"-I{copy / path}" for path in ("src", "ext/headers", "ext/fmt/include")]
    compiler = ["g++", "-O2", "-std=c++11", "-DFMT_HEADER_ONLY=1", *include, str(HERE / "driver.cc")]
    subprocess.run([*compiler, str(copy / "libdramsim3.so"), f"-Wl,-rpath,{copy}", "-o", str(driver)], check=True)
    return driver


def theirs(driver, config, trace, folder):
    """Cycles, commands, openings and closings of rows."""
    command = [str(driver), str(HERE / config), str(folder), QUEUE]
    with open(trace, "rb") as requests:
        found = subprocess.run(command, stdin=requests, check=True, capture_output=True, text=True)
    cycles, reads, writes, opens, closes = map(int, found.stdout.split())
    return cycles, reads + writes, opens, closes


def ours(name):
    """The same figures of our model."""
    found = subprocess.run([*TRACE, "ours", name], cwd=ROOT, check=True, capture_output=True, text=True)
    cycles, requests, opens, switches = map(int, found.stdout.split())
    return cycles, COMMANDS * requests, opens + switches, switches


def row(name, plain, uncapped, jedec, model):
    """A line of the table."""
    assert plain[1] == uncapped[1] == model[1], f"{name}: not the same commands"

    def hits(found):
        return f"{100 * (1 - found[2] / found[1]):.2f} %"

    cells = [
        f"`{name}`",
        f"{plain[0]:,}",
        f"{model[0]:,}",
        f"{model[0] / plain[0]:.3f}",
        hits(plain),
        hits(model),
        f"{plain[3]:,}",
        f"{model[3]:,}",
        f"{model[0] / uncapped[0]:.3f}",
        f"{uncapped[3]:,}",
        f"{model[0] / jedec[0]:.3f}",
    ]
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    listed = subprocess.run([*TRACE, "list"], cwd=ROOT, check=True, capture_output=True, text=True)
    names = sys.argv[2:] or listed.stdout.split() + ALONE
    print("| stream | cycles theirs | ours | ratio | row hits theirs | ours | conflicts theirs | ours "
          "| ratio without their limit | conflicts theirs | ratio with all of HBM2 |")
    print("|---" * 11 + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plain, uncapped = (build(sys.argv[1], folder, uncapped) for uncapped in (False, True))
        trace = folder / "trace"
        for stream in names:
            with open(trace, "wb") as out:
                subprocess.run([*TRACE, "trace", stream], cwd=ROOT, check=True, stdout=out)
            row(
                stream,
                theirs(plain, "hbm.ini", trace, folder),
                theirs(uncapped, "hbm.ini", trace, folder),
                theirs(plain, "hbm-jedec.ini", trace, folder),
                ours(stream),
            )


main()
