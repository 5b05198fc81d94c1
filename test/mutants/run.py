#!/usr/bin/env python3
"""Mutants of a crate against its own tests (docs/mutants.md).

    cargo install cargo-mutants --version 27.1.0 --locked
    python3 test/mutants/run.py visa-numerics runtime/numerics --lib
    python3 test/mutants/run.py visa-cost runtime/cost

cargo-mutants lists them. It would build the crate once for each; here all go into one binary of a copy of the tree (target/mutants), each
behind `mutated(NUMBER)`, which the environment variable MUTANT chooses: the value of a function returned at its start, and an operator of
two operands that stand alone (`f(a) + b` as an argument, a condition, a right side). Others are counted as left out. Mutants
that do not compile are taken out until the rest does. Results are appended to target/mutants/PACKAGE.txt, and a run goes on where
the last one stopped.
"""

import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"
SWITCH = """
#[doc(hidden)]
pub fn mutated(number: u32) -> bool {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *CHOSEN.get_or_init(|| std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0)) == number
}
"""
BEFORE = re.compile(r"([(,=\[{;]|=>|&&|\|\||\breturn|\bif|\bin|\}|\|[^|]*\|)$")
AFTER = re.compile(r"([),;\]{}]|&&|\|\|)")


def place(text, at):
    """The offset of a line and column."""
    lines = text.split("\n")[: at["line"] - 1]
    return sum(len(line) + 1 for line in lines) + at["column"] - 1


def operand(text, at, step):
    """Where an operand ends that begins at `at`: names, numbers, calls and indices."""
    opening, closing = ("([", ")]") if step > 0 else (")]", "([")
    while 0 <= at < len(text):
        if text[at] in opening:
            depth = 0
            while 0 <= at < len(text):
                depth += (text[at] in opening) - (text[at] in closing)
                at += step
                if depth == 0:
                    break
        elif re.match(r"[\w.:]", text[at]):
            at += step
        else:
            break
    return at


def alone(text, start, end):
    """The operands of the operator at start..end, if nothing else belongs to its expression."""
    if text[start - 1] != " " or text[end] != " ":
        return None
    left, right = operand(text, start - 2, -1) + 1, operand(text, end + 1, 1)
    before, after = text[:left].rstrip(), text[right:].lstrip()
    whole = left < start - 1 and right > end + 1 and BEFORE.search(before) and AFTER.match(after)
    comparison = before.endswith(("<=", ">=", "==", "!=")) and not before.endswith("=>")
    return (left, right) if whole and not comparison else None


def edits(text, mutants):
    """What to put where, and the numbers: (offset, end of what is replaced, text)."""
    operators = collections.defaultdict(list)
    for number, mutant in mutants:
        function = mutant["function"]
        if function is None:
            continue
        start = place(text, function["span"]["start"])
        if re.search(r"\bconst (unsafe )?fn", text[start : start + 600].split("{")[0]):
            continue
        start, end = (place(text, mutant["span"][end]) for end in ("start", "end"))
        if mutant["genre"] == "FnValue" and "impl " not in function["return_type"]:
            yield start, start, f"if crate::mutated({number}) {{ return {mutant['replacement']}; }} "
        elif mutant["genre"] == "BinaryOperator":
            operators[start, end].append((number, mutant["replacement"]))
    for (start, end), replacements in operators.items():
        ends = alone(text, start, end)
        if ends:
            left, right = text[ends[0] : start - 1], text[end + 1 : ends[1]]
            mutated = "".join(
                f"if crate::mutated({number}) {{ {left} {operator} {right} }} else "
                for number, operator in replacements
            )
            yield *ends, f"({mutated}{{ {left} {text[start:end]} {right} }})"


def write(crate, mutants, out):
    """Writes the crate with its mutants, but for those that are `out`; their numbers."""
    files = collections.defaultdict(list)
    for number, mutant in enumerate(mutants, 1):
        if number not in out:
            files[mutant["file"]].append((number, mutant))
    for path in (ROOT / crate / "src").rglob("*.rs"):
        name = path.relative_to(ROOT)
        text = path.read_text()
        begin = len(text) + 1
        for start, end, new in sorted(edits(text, files[str(name)]), reverse=True):
            if end <= begin:
                text, begin = text[:start] + new + text[end:], start
        (TREE / name).write_text(text + SWITCH if path.name == "lib.rs" else text)
    sources = (TREE / crate / "src").rglob("*.rs")
    return {int(n) for path in sources for n in re.findall(r"crate::mutated\((\d+)\)", path.read_text())}


def build(package, arguments):
    """The test binaries, and the mutants at which the compiler finds mistakes."""
    env = dict(os.environ, RUSTFLAGS="-Awarnings", CARGO_PROFILE_DEV_DEBUG="0", CARGO_PROFILE_DEV_OPT_LEVEL="2")
    command = ["cargo", "test", "-p", package, "--no-run", "--message-format=json", *arguments]
    built = subprocess.run(command, cwd=TREE, env=env, capture_output=True, text=True)
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    binaries = [m["executable"] for m in messages if m.get("executable") and m["profile"]["test"]]
    wrong = set()
    for message in messages:
        if message["reason"] != "compiler-message" or message["message"]["level"] != "error":
            continue
        for span in message["message"]["spans"]:
            wrong |= nearest(TREE / span["file_name"], span) if span["is_primary"] else set()
    if built.returncode and not wrong:
        sys.exit(built.stderr)
    return binaries, wrong


def nearest(path, span):
    """The last mutant before a place in a file, at most eight lines above."""
    lines = path.read_text().split("\n")[: span["line_end"]]
    for line in reversed(lines[-8:]):
        numbers = re.findall(r"crate::mutated\((\d+)\)", line)
        if numbers:
            return set(map(int, numbers))
    return set()


def outcome(binaries, directory, number, limit):
    """What the tests say of a mutant: the test that caught it, a time limit, or that none did."""
    env = dict(os.environ, MUTANT=str(number), RUST_BACKTRACE="0")
    for binary in binaries:
        run = subprocess.Popen([binary], cwd=directory, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        timer = threading.Timer(limit, run.kill)
        timer.start()
        failed = next((line.split()[1] for line in run.stdout if re.match(r"test .*FAILED", line)), None)
        if failed:
            run.kill()
        run.wait()
        late = not timer.is_alive()
        timer.cancel()
        if failed or late or run.returncode:
            return failed or ("time limit" if late else "abort")
    return "missed"


def main():
    package, crate, *arguments = sys.argv[1:]
    TREE.mkdir(parents=True, exist_ok=True)
    for name in ["Cargo.toml", "Cargo.lock", "dialects", "runtime", "passes", "tools", "test"]:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, TREE / name, **({"dirs_exist_ok": True} if source.is_dir() else {}))
    listed = subprocess.run(["cargo", "mutants", "--list", "--json", "-p", package], cwd=ROOT, capture_output=True, text=True)
    mutants, out = json.loads(listed.stdout), set()
    while True:
        there = write(crate, mutants, out)
        binaries, wrong = build(package, arguments)
        if not wrong:
            break
        out |= wrong
    print(f"{package}: {len(mutants)} mutants, {len(there)} in the binary")
    results = WORK / f"{package}.txt"
    done = {int(line.split()[0]) for line in results.read_text().splitlines()} if results.exists() else set()
    began = time.monotonic()
    if outcome(binaries, ROOT / crate, 0, 3600) != "missed":
        sys.exit("the tests fail without a mutant")
    limit = max(30, 10 * (time.monotonic() - began))
    rest = sorted(there - done)
    random.Random(1).shuffle(rest)
    with results.open("a") as file:
        for number in rest:
            found = outcome(binaries, ROOT / crate, number, limit)
            print(number, found, mutants[number - 1]["name"], file=file, flush=True)


if __name__ == "__main__":
    main()
