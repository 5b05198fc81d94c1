"""What becomes of each kernel of a checkout: imported, verified, run and equal, or why not. See run.sh."""

import math
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
        files = [p for p in manifest.parent.glob("src/**/*.rs") if re.search(r"^\s*#\[device", p.read_text(errors="replace"), re.M)]
        if source.is_file() and files:
            found.append(source)
    known = [source.parent for source in found]
    single = [p for p in sorted(root.rglob("*.rs")) if re.search(r"^#\[device", p.read_text(errors="replace"), re.M)]
    return found + [p for p in single if not any(p.is_relative_to(folder) for folder in known)]


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
    wanted = r"expected (?:where a row starts: a multiple of (\d+) bytes from 0 to (\d+)|the number of a row: 0 to (\d+))"
    rows = re.search(wanted, err)
    if rows:
        given = with_indices(text, given, int(rows[1] or 1), int(rows[2] or rows[3]), folder / name)
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
        shape = [sizes[factor] for factor in element.split(", ") if not factor.isdigit()]
        count = math.prod(shape)
        rows = most // step + 1
        numbers = [(rows - 1 - row) % rows * step for row in range(count)]
        head = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({''.join(f'{size},' for size in shape)})}}"
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
    table(rows, root)


def table(rows, root):
    """Files with how many kernels ended how, and then each kernel that is not equal, with the reason."""
    root = root.resolve()
    short = lambda path: str(Path(path).resolve().relative_to(root)) if Path(path).resolve().is_relative_to(root) else str(path)
    files = {}
    for file, name, state, why, cycles in rows:
        # What was not imported names its place instead.
        file = short(name.rsplit(":", 2)[0]) if state == "not imported" else short(file)
        files.setdefault(file, []).append((name.rsplit("/", 1)[-1], state, why, cycles))
    print("| file | imported | verified | run | equal | refused, and the reason |")
    print("|---|---|---|---|---|---|")
    sums = [0] * 5
    for file, own in sorted(files.items()):
        states = [state for _, state, _, _ in own]
        imported = sum(state != "not imported" for state in states)
        verified = imported - states.count("refused")
        ran = verified - states.count("not run")
        counts = [len(own), imported, verified, ran, states.count("equal")]
        sums = [one + other for one, other in zip(sums, counts)]
        reasons = "; ".join(f"`{name}`: {why}" for name, state, why, _ in sorted(own) if state != "equal")
        print(f"| {file} | {imported} of {len(own)} | {verified} | {ran} | {counts[4]} | {reasons.replace('|', chr(92) + '|')} |")
    print(f"\n{sums[0]} kernels: {sums[1]} imported, {sums[2]} verified, {sums[3]} run, {sums[4]} equal")
    differs = [row for row in rows if row[2] == "differs"]
    if differs:
        print(f"{len(differs)} DIFFER")
        sys.exit(1)


main()
