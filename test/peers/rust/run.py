"""What becomes of each kernel of a checkout: imported, verified, run and equal, or why not. See run.sh."""

import os
import re
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SECONDS = 120


def run(command, seconds=SECONDS):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return None, "", f"error: not ended after {seconds} s"


def first_error(text):
    found = re.search(r"^error(\[[^\]]*\])?: (.*)$", text, re.M)
    return f"{found[1] or ''} {found[2]}".strip() if found else (text.strip().splitlines() or ["?"])[-1]


def crates(root):
    """The roots of all crates that have kernels, and files with kernels that no crate has."""
    found = []
    for manifest in sorted(root.rglob("Cargo.toml")):
        source = manifest.parent / "src" / "lib.rs"
        files = [p for p in manifest.parent.glob("src/**/*.rs") if "#[device" in p.read_text(errors="replace")]
        if source.is_file() and files:
            found.append(source)
    return found


def kernel(tools, text, name, folder):
    """One kernel: its row of the table."""
    path = folder / f"{name}.visa"
    path.write_text(text)
    arguments = re.search(r"^tm\.func @\w+\((.*?)\) at", text, re.M)[1]
    given = []
    for number, (argument, dtype) in enumerate(re.findall(r"%(\w+): (?:inout )?!tm\.hbm<(\w+)", arguments)):
        given += ["--arg", f"{argument}=rand:{number + 1}"]
    code, out, err = run([tools / "visa-opt", path, "--allocate", "-o", folder / f"{name}.planned.visa"])
    if code != 0:
        return "refused", first_error(err), ""
    command = [tools / "visa-run", folder / f"{name}.planned.visa", "--check", "--shadow"]
    code, out, err = run([*command, *given])
    rows = re.search(r"expected where a row starts: a multiple of (\d+) bytes from 0 to (\d+)", err)
    if rows:
        given = with_indices(text, given, int(rows[1]), int(rows[2]), folder / name)
        code, out, err = run([*command, *given])
    cycles = re.search(r"^(\d+) cycles", out, re.M)
    cycles = cycles[1] if cycles else ""
    if code is None or (code != 0 and "[shadow]" not in err):
        return "not run", first_error(err), cycles
    if re.search(r"compared, 0 differ", out):
        return ("undefined", first_error(err), cycles) if "[shadow]" in err else ("equal", "", cycles)
    return "differs", first_error(err or out), cycles


def with_indices(text, given, step, most, path):
    """The arguments with rows of a table, the last first, where there were random integers: no row twice while there are others."""
    sizes = {name: int(size) for name, size in re.findall(r"(\w+) = (\d+)", re.search(r"tm\.axes \[(.*?)\]", text)[1])}
    given = list(given)
    for argument, element in re.findall(r"%(\w+): (?:inout )?!tm\.hbm<i32, \[1\], \[([^\]]*)\]>", text):
        count = 1
        for factor in element.split(", "):
            count *= sizes[factor]
        rows = most // step + 1
        numbers = [(rows - 1 - row) % rows * step for row in range(count)]
        head = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({', '.join(str(sizes[f]) for f in element.split(', '))},)}}"
        head = head.ljust(117) + "\n"
        file = Path(f"{path}.{argument}.npy")
        file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{count}i", *numbers))
        at = next(at for at, word in enumerate(given) if word.startswith(f"{argument}="))
        given[at] = f"{argument}={file}"
    return given


def kernels_of(text):
    """The kernels of a module, each as a module of its own."""
    head, *functions = re.split(r"(?m)^(?=tm\.func )", text)
    for function in functions:
        yield re.match(r"tm\.func @(\w+)", function)[1], head + function


def main():
    tools, root = Path(sys.argv[1]), Path(sys.argv[2])
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / "visa-peers-rust"
    folder.mkdir(exist_ok=True)
    rows = []
    for source in crates(root):
        code, out, err = run([tools / "visa-import", "rust", source])
        for message, place in re.findall(r"^error\[import\]: (.*)\n   --> (.*)$", err, re.M):
            rows.append((str(source.relative_to(root)), place, "not imported", message, ""))
        jobs = list(kernels_of(out))
        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(lambda job: kernel(tools, job[1], job[0], folder), jobs))
        for (name, text), (state, why, cycles) in zip(jobs, done):
            place = re.search(r'loc\("([^"]*)":\d+:\d+\)\s*$', text.strip())
            rows.append((place[1] if place else "", name, state, why, cycles))
    rows.sort()
    counts = {}
    for file, name, state, why, cycles in rows:
        counts[state] = counts.get(state, 0) + 1
        print(f"| {Path(file).relative_to(root) if Path(file).is_absolute() or str(file).startswith(str(root)) else file} | {name} | {state} | {cycles} | {why} |")
    print(", ".join(f"{count} {state}" for state, count in sorted(counts.items())))


main()
