"""What becomes of each kernel of a checkout: imported, verified, run, equal and as stated, or why not. See run.sh."""

import ast
import math
import os
import random
import re
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from negative import REFUSED
from results import STATED, Array

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
    """One kernel: its state, the reason, its cycles, and whether its results are those that are stated."""
    path = folder / f"{name}.visa"
    path.write_text(text)
    arguments = re.search(r"^tm\.func @\w+\((.*?)\) at", text, re.M)[1]
    given = []
    for number, (argument, dtype) in enumerate(re.findall(r"%(\w+): (?:inout )?!tm\.hbm<(\w+)", arguments)):
        given += ["--arg", f"{argument}=rand:{number + 1}"]
    for argument, positions in re.findall(r"%(\w+): !tm\.scalar<\[([^\]]*)\]>", arguments):
        count = int(positions) if positions.isdigit() else axes(text).get(positions, 1)
        given += ["--arg", f"{argument}={count - 1}"]
    code, out, err = run([tools / "visa-opt", path, "--allocate", "-o", folder / f"{name}.planned.visa"])
    if code != 0:
        return "refused", first_error(err), "", ""
    command = [tools / "visa-run", folder / f"{name}.planned.visa", "--check", "--shadow"]
    code, out, err = run([*command, *given])
    wanted = r"expected (?:where a row starts: a multiple of (\d+) bytes from 0 to (\d+)|the number of a row: 0 to (\d+))"
    rows = re.search(wanted, err)
    if rows:
        step, most = int(rows[1] or 1), int(rows[2] or rows[3])
        given = with_indices(text, given, step, most, folder / name)
        code, out, err = run([*command, *given])
        # A kernel may make offsets of numbers of rows itself.
        if re.search(wanted, err):
            given = with_indices(text, given, 1, most // step, folder / name)
            code, out, err = run([*command, *given])
    cycles = re.search(r"^(\d+) cycles", out, re.M)
    cycles = cycles[1] if cycles else ""
    if code is None or (code != 0 and "[shadow]" not in err):
        return "not run", first_error(err), cycles, ""
    found = stated(tools, text, name, folder)
    if re.search(r"compared, 0 differ", out):
        return ("undefined", first_error(err), cycles, found) if "[shadow]" in err else ("equal", "", cycles, found)
    return "differs", first_error(err or out), cycles, found


def stated(tools, text, name, folder):
    """Whether the results are those that the repository states: "" where it states none, "yes", or what differs."""
    if name not in STATED:
        return ""
    own = STATED[name]
    arguments, kept = arrays(text, own)
    command = [tools / "visa-run", folder / f"{name}.planned.visa"]
    for argument, (dtype, array) in arguments.items():
        write_npy(folder / f"{name}.{argument}.npy", dtype, array)
        command += ["--arg", f"{argument}={folder / f'{name}.{argument}.npy'}"]
    wanted = own.result(**{argument: array for argument, (_, array) in arguments.items()})
    if not isinstance(wanted, dict):
        wanted = {kept[0] if kept else "out": wanted}
    for result in wanted:
        command += ["--out", f"{result}={folder / f'{name}.{result}.result.npy'}"]
    code, _, err = run(command)
    if code != 0:
        return first_error(err)
    for result, elements in wanted.items():
        different = differs(read_npy(folder / f"{name}.{result}.result.npy"), elements, own)
        if different:
            return f"`{result}` {different}"
    return "yes"


def arrays(text, own):
    """Arguments by name with their formats and data, and the names of those that are results too."""
    sizes = axes(text)
    signature = re.search(r"^tm\.func @\w+\((.*?)\) at", text, re.M)[1]
    found = re.findall(r"%(\w+): (inout )?!tm\.hbm<(\w+), (\[[^>]*)>", signature)
    shapes = {}
    for argument, _, _, maps in found:
        names = dict.fromkeys(name for name in re.findall(r"[A-Za-z_]\w*", maps))
        shapes[argument] = [sizes[name] for name in names]
    arguments = {}
    for number, (argument, _, dtype, _) in enumerate(found):
        shape, source = shapes[argument], random.Random(number + 1)
        if argument in own.given:
            flat = own.given[argument](shape, shapes)
        else:
            flat = [source.randint(own.least, own.most) for _ in range(math.prod(shape))]
            # Eighths: sums and products of a few are exact.
            flat = flat if dtype[0] in "iu" else [one / 8 if dtype in ("f32", "bf16") else float(one % 8) for one in flat]
        arguments[argument] = (dtype, Array(shape, flat))
    return arguments, [argument for argument, kept, _, _ in found if kept]


def differs(found, wanted, own):
    """The first element that is further from what is stated than it may be."""
    if len(found) != len(wanted):
        return f"has {len(found)} elements, expected {len(wanted)}"
    for at, (one, other) in enumerate(zip(found, wanted)):
        if one != other and not abs(one - other) <= max(own.apart, own.part * abs(other)):
            return f"has {one} at {at}, expected {other}"
    return ""


def axes(text):
    return {name: int(size) for name, size in re.findall(r"(\w+) = (\d+)", re.search(r"tm\.axes \[(.*?)\]", text)[1])}


# Formats of files, by those of arguments.
FILES = {"i4": "b", "i8": "b", "u8": "B", "i16": "h", "i32": "i"}


def write_npy(path, dtype, array):
    code = FILES.get(dtype, "f")
    descr = {"b": "|i1", "B": "|u1", "h": "<i2", "i": "<i4", "f": "<f4"}[code]
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({''.join(f'{size},' for size in array.shape)})}}"
    head = head.ljust(117) + "\n"
    data = struct.pack(f"<{len(array.flat)}{code}", *array.flat)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def read_npy(path):
    data = path.read_bytes()
    size = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10 : 10 + size].decode())
    code = {"i1": "b", "u1": "B", "i2": "h", "i4": "i", "f2": "e", "f4": "f"}[head["descr"].lstrip("<|")]
    return list(struct.unpack(f"<{math.prod(head['shape'])}{code}", data[10 + size :]))


def with_indices(text, given, step, most, path):
    """The arguments with rows of a table, the last first, where there were random integers: no row twice while there are others."""
    sizes = axes(text)
    given = list(given)
    for argument, chip, element in re.findall(r"%(\w+): (?:inout )?!tm\.hbm<i32, \[([^\]]*)\], \[([^\]]*)\]>", text):
        shape = [sizes[factor] for factor in [chip, *element.split(", ")] if not factor.isdigit()]
        count = math.prod(shape)
        rows = most // step + 1
        numbers = [(rows - 1 - row) % rows * step for row in range(count)]
        file = Path(f"{path}.{argument}.rows.npy")
        write_npy(file, "i32", Array(shape, numbers))
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
        for message, place in re.findall(r"^error\[import\]: (.*)\n +--> (.*)$", err, re.M):
            rows.append((place.rsplit(":", 2)[0], enclosing(place), "not imported", message, "", ""))
        jobs = list(kernels_of(out))
        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(lambda job: kernel(tools, job[1], job[0], folder), jobs))
        for (name, text), own in zip(jobs, done):
            place = re.search(r'loc\("([^"]*)":\d+:\d+\)\s*$', text.strip())
            rows.append((place[1] if place else "", name, *own))
    table(rows, root)


def enclosing(place):
    """The function that a place `file:line:column` is in."""
    file, line, _ = place.rsplit(":", 2)
    above = Path(file).read_text(errors="replace").splitlines()[: int(line)]
    names = [found[1] for found in (re.match(r"\s*pub fn (\w+)", own) for own in above) if found]
    return names[-1] if names else place


def table(rows, root):
    """Files with how many kernels ended how, and each kernel that is not equal or not as stated, with the reason."""
    root = root.resolve()
    short = lambda path: str(Path(path).resolve().relative_to(root)) if Path(path).resolve().is_relative_to(root) else str(path)
    rows = [(short(file), *own) for file, *own in rows]
    positive, negative = [row for row in rows if "/negative/" not in row[0]], [row for row in rows if "/negative/" in row[0]]
    bad = [f"`{row[1]}` differs" for row in rows if row[2] == "differs"]
    bad += [f"`{row[1]}`: {row[5]}" for row in rows if row[5] not in ("", "yes")]
    print("| file | imported | verified | run | equal | as stated | refused, and the reason |")
    print("|---|---|---|---|---|---|---|")
    sums = [0] * 7
    for file in sorted({row[0] for row in positive}):
        own = [row[1:] for row in positive if row[0] == file]
        counts = counted(own)
        sums = [one + other for one, other in zip(sums, counts)]
        reasons = "; ".join(f"`{name}`: {why}" for name, state, why, _, _ in sorted(own) if state != "equal")
        states = f"{counts[5]} of {counts[6]}" if counts[6] else ""
        line = [file, f"{counts[1]} of {counts[0]}", *map(str, counts[2:5]), states, reasons.replace("|", "\\|")]
        print(f"| {' | '.join(line)} |")
    print(f"\n{sums[0]} kernels: {sums[1]} imported, {sums[2]} verified, {sums[3]} run, {sums[4]} equal; {sums[5]} of {sums[6]} as stated")
    bad += refusals(negative)
    if bad:
        print("\nNot as it must be:\n" + "\n".join(f"- {own}" for own in bad))
        sys.exit(1)


def counted(own):
    """How many kernels there are, are imported, verified, run, equal, as stated, and stated."""
    states = [state for _, state, _, _, _ in own]
    imported = sum(state != "not imported" for state in states)
    verified = imported - states.count("refused")
    known = [stated for _, _, _, _, stated in own if stated]
    return [len(own), imported, verified, verified - states.count("not run"), states.count("equal"), known.count("yes"), len(known)]


def refusals(rows):
    """The table of kernels that must be refused; those that are not, or not for the author's reason."""
    bad, good = [], 0
    print("\n| must be refused | because | refused for it | our error |")
    print("|---|---|---|---|")
    for _, name, state, why, _, _ in sorted(rows, key=lambda row: row[:2]):
        reason, pattern = REFUSED.get(name, ("no reason is known", "(?!)"))
        is_refused = state in ("refused", "not imported")
        fits = is_refused and re.search(pattern, why) is not None
        good += fits
        if not fits:
            bad.append(f"`{name}` {'is refused for another reason' if is_refused else 'runs'}, expected: {reason}")
        print(f"| `{name}` | {reason} | {'yes' if fits else 'no'} | {why.replace('|', chr(92) + '|')} |")
    print(f"\n{good} of {len(rows)} refused for their author's reason")
    return bad


if __name__ == "__main__":
    main()
