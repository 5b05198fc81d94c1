#!/usr/bin/env python3
"""Runs modules of linalg on the processor with MLIR's own tools, and compares the results with those of visa-run.

usage: run.py run FILE.mlir [--entry NAME ...] [--arg FILE.npy ...] [--data rand|bf16|small|rows] [--out FOLDER]
       run.py compare FILE.visa [FILE.mlir] [--entry NAME] [--data rand|bf16|small|rows] [--tolerance REL[,ABS]]
       run.py round FILE.visa ... [--seconds SECONDS]
       run.py tests

`run` lowers a module by mlir-opt to the LLVM dialect, runs it by mlir-runner, and writes `out0.npy`, `out1.npy` and so
on. With `--data` it makes the arguments, and writes them as `in0.npy`, `in1.npy` and so on; then there may be several
functions, each with a folder of its name. `compare` exports a function of the tensor level by `visa-mlir export` unless a module is given, runs both with the
same arguments, and compares the results by `visa-run --expect`. `round` imports the export of each function again, and
prints the verdict of `visa-opt --prove-equal`, if there is one within 120 s. `tests` compares the functions of test/tensor.

VISA_BIN is the folder of visa-run and visa-opt, VISA_MLIR_BIN that of visa-mlir, MLIR_BIN that of mlir-opt.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
MLIR_BIN = pathlib.Path(os.environ.get("MLIR_BIN", "/usr/lib/llvm-22/bin"))
VISA_BIN = pathlib.Path(os.environ.get("VISA_BIN", ROOT / "target/debug"))
VISA_MLIR_BIN = pathlib.Path(os.environ.get("VISA_MLIR_BIN", ROOT / "tools/visa-mlir/target/debug"))

# From linalg on tensors to the LLVM dialect. Sums stay in the order of the loops: nothing here reorders them.
PIPELINE = [
    "--convert-elementwise-to-linalg",
    "--one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map"
    " allow-return-allocs-from-loops",
    "--convert-linalg-to-loops",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--arith-expand=include-bf16=true",
    "--convert-math-to-llvm",
    "--convert-math-to-libm",
    "--convert-index-to-llvm",
    "--convert-arith-to-llvm",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
]

# How the elements of a type are stored: the type of NumPy, in a file and in memory.
STORED = {
    "f32": (np.float32, np.uint32),
    "f64": (np.float64, np.uint64),
    "f16": (np.float16, np.uint16),
    "bf16": (np.float32, np.uint16),
    "i64": (np.int64, np.uint64),
    "i32": (np.int32, np.uint32),
    "i16": (np.int16, np.uint16),
    "i8": (np.int8, np.uint8),
    "i4": (np.int8, np.uint8),
    "i1": (np.int8, np.uint8),
}

# Subnormals of f32 and bf16 are zeros of their sign here, and numbers in MLIR.
LEAST_NORMAL = 2.0**-126


class Refused(Exception):
    """A module that is not run."""


class Tensor:
    """A type such as tensor<2x3xbf16>."""

    def __init__(self, text):
        found = re.fullmatch(r"tensor<((?:\d+x)*)([a-zA-Z0-9]+)>", text)
        if not found:
            raise Refused(f"a value of type {text}, expected a tensor with static extents")
        self.text = text
        self.shape = [int(extent) for extent in found[1].split("x") if extent]
        self.element = found[2]
        if self.element not in STORED:
            raise Refused(f"elements of {self.element}: MLIR does not lower them to LLVM")
        self.buffer = "memref<" + found[1] + found[2] + ">"
        self.count = int(np.prod(self.shape, dtype=np.int64))

    def bytes(self):
        return self.count * np.dtype(STORED[self.element][1]).itemsize

    def pack(self, array):
        """The elements as they are in memory."""
        array = np.ascontiguousarray(array)
        if self.element == "bf16":
            bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
            return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).tobytes()
        if self.element in ("i4", "i1"):
            return (array.astype(np.uint8) & (15 if self.element == "i4" else 1)).tobytes()
        return array.astype(STORED[self.element][0]).tobytes()

    def unpack(self, data):
        """The array of elements in memory."""
        file, memory = STORED[self.element]
        bits = np.frombuffer(data, memory)
        if self.element == "bf16":
            bits = (bits.astype(np.uint32) << 16).view(np.float32)
        elif self.element == "i4":
            bits = ((bits & 15).astype(np.int8) ^ 8) - 8
        else:
            bits = bits.view(file)
        return bits.astype(file).reshape(self.shape)


def split(text):
    """The parts between commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "<([{":
            depth += 1
        elif char in ">)]}" and text[at - 1 : at + 1] != "->":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def inside(text, start):
    """The text between the bracket at `start` and its end, and the position after that."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "({[<":
            depth += 1
        elif text[at] in ")}]>" and text[at - 1 : at + 1] != "->":
            depth -= 1
            if depth == 0:
                return text[start + 1 : at], at + 1
    raise Refused("a bracket is not closed")


def plain(text):
    """A type without its attributes."""
    return re.sub(r"\s*\{.*\}\s*$", "", text).strip()


def signature(text, entry):
    """The name of a function, the types of its arguments and of its results."""
    public = [(found.start(), found[1]) for found in re.finditer(r"func\.func (?:public )?@([\w.$-]+)", text)]
    chosen = [own for own in public if entry in (None, own[1])]
    if not chosen:
        raise Refused(f"there is no function {entry}")
    at, name = chosen[0]
    arguments, end = inside(text, text.index("(", at))
    arguments = [plain(part.split(":", 1)[1]) for part in split(arguments)]
    found = re.match(r"\s*->\s*", text[end:])
    if not found:
        return name, arguments, []
    end += found.end()
    if text[end] == "(":
        results = [plain(part) for part in split(inside(text, end)[0])]
    else:
        results = [re.match(r"\w+(<[^>]*>)?", text[end:])[0]]
    return name, arguments, results


def driver(calls):
    """A function that calls functions: it reads their arguments from files, and writes their results to files."""
    lines, paths = [], []
    for number, call in enumerate(calls):
        lines += one_call(number, *call, paths)
    body = "\n    ".join(lines)
    head = "\n  ".join(
        paths
        + [
            "llvm.func @fopen(!llvm.ptr, !llvm.ptr) -> !llvm.ptr",
            "llvm.func @fread(!llvm.ptr, i64, i64, !llvm.ptr) -> i64",
            "llvm.func @fwrite(!llvm.ptr, i64, i64, !llvm.ptr) -> i64",
            "llvm.func @fclose(!llvm.ptr) -> i32",
        ]
    )
    return f"  {head}\n  func.func @visa_driver() {{\n    {body}\n    return\n  }}\n"


def one_call(call, name, arguments, results, files, outputs, paths):
    """The lines of a call. The names of its files are added to `paths`."""
    lines = []

    def path(file):
        number = len(paths)
        paths.append(f'llvm.mlir.global internal constant @path{number}("{file}\\00") {{addr_space = 0 : i32}}')
        lines.append(f"%path{number} = llvm.mlir.addressof @path{number} : !llvm.ptr")
        return f"%path{number}"

    def move(buffer, tensor, file, mode, transfer):
        own = len(paths)
        name, kind = path(file), path(mode)
        lines.extend(
            [
                f"%file{own} = llvm.call @fopen({name}, {kind}) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr",
                f"%at{own} = memref.extract_aligned_pointer_as_index {buffer} : {tensor.buffer} -> index",
                f"%int{own} = arith.index_cast %at{own} : index to i64",
                f"%data{own} = llvm.inttoptr %int{own} : i64 to !llvm.ptr",
                f"%one{own} = llvm.mlir.constant(1 : i64) : i64",
                f"%bytes{own} = llvm.mlir.constant({tensor.bytes()} : i64) : i64",
                f"%moved{own} = llvm.call @{transfer}(%data{own}, %one{own}, %bytes{own}, %file{own})"
                " : (!llvm.ptr, i64, i64, !llvm.ptr) -> i64",
                f"%closed{own} = llvm.call @fclose(%file{own}) : (!llvm.ptr) -> i32",
            ]
        )

    values = []
    for number, (argument, file) in enumerate(zip(arguments, files)):
        if argument == "index":
            lines.append(f"%in{call}_{number} = arith.constant {file} : index")
        else:
            lines.append(f"%buffer{call}_{number} = memref.alloc() : {argument.buffer}")
            move(f"%buffer{call}_{number}", argument, file, "rb", "fread")
            lines.append(
                f"%in{call}_{number} = bufferization.to_tensor %buffer{call}_{number} restrict : "
                f"{argument.buffer} to {argument.text}"
            )
        values.append(f"%in{call}_{number}")
    types = [getattr(argument, "text", argument) for argument in arguments]
    given = ", ".join(result.text for result in results)
    bound = f"%out{call}:{len(results)} = " if results else ""
    lines.append(f"{bound}func.call @{name}({', '.join(values)}) : ({', '.join(types)}) -> ({given})")
    for number, (result, file) in enumerate(zip(results, outputs)):
        lines.append(
            f"%result{call}_{number} = bufferization.to_buffer %out{call}#{number} : {result.text} to {result.buffer}"
        )
        move(f"%result{call}_{number}", result, file, "wb", "fwrite")
    return lines


def tool(command, stdin=None):
    """The output of a tool. A message of it is a refusal."""
    try:
        found = subprocess.run([str(part) for part in command], input=stdin, capture_output=True, text=True)
    except FileNotFoundError:
        name = pathlib.Path(command[0]).name
        fix = "build it, and name its folder by VISA_BIN or VISA_MLIR_BIN"
        if name.startswith("mlir"):
            fix = "apt-get install mlir-22-tools, or name its folder by MLIR_BIN"
        raise Refused(f"there is no {command[0]}: {fix}") from None
    if found.returncode != 0:
        lines = found.stderr.strip().splitlines() or [f"exit code {found.returncode}"]
        raise Refused(f"{pathlib.Path(command[0]).name}: {lines[0]}")
    return found.stdout


def run(text, entry, arrays):
    """The results of a function of a module for these arguments, by mlir-opt and mlir-runner."""
    return run_all(text, [(entry, arrays)])[0]


def run_all(text, calls):
    """The results of functions of a module, each for its arguments."""
    text = tool([MLIR_BIN / "mlir-opt"], text)
    with tempfile.TemporaryDirectory() as folder:
        prepared = [
            prepare(text, entry, arrays, pathlib.Path(folder) / str(number))
            for number, (entry, arrays) in enumerate(calls)
        ]
        end = text.rindex("}")
        whole = text[:end] + driver(prepared) + text[end:]
        lowered = tool([MLIR_BIN / "mlir-opt", *PIPELINE], whole)
        libraries = f"--shared-libs={MLIR_BIN.parent / 'lib/libmlir_c_runner_utils.so'},/lib/x86_64-linux-gnu/libm.so.6"
        command = [MLIR_BIN / "mlir-runner", "-e", "visa_driver", "--entry-point-result=void", "-O2", libraries]
        tool(command, lowered)
        return [
            [result.unpack(output.read_bytes()) for result, output in zip(results, outputs)]
            for _, _, results, _, outputs in prepared
        ]


def prepare(text, entry, arrays, folder):
    """The name of a function, its types, and the files of its arguments and results."""
    name, arguments, results = signature(text, entry)
    if len(arguments) != len(arrays):
        raise Refused(f"@{name} has {len(arguments)} arguments, found {len(arrays)}")
    arguments = [argument if argument == "index" else Tensor(argument) for argument in arguments]
    results = [Tensor(result) for result in results]
    folder.mkdir()
    files = []
    for number, (argument, array) in enumerate(zip(arguments, arrays)):
        if argument == "index":
            files.append(int(array))
            continue
        if list(np.shape(array)) != argument.shape:
            raise Refused(f"argument {number} has shape {np.shape(array)}, expected {argument.shape}")
        files.append(folder / f"in{number}")
        files[-1].write_bytes(argument.pack(array))
    return name, arguments, results, files, [folder / f"out{number}" for number in range(len(results))]


def kernel(text, entry):
    """The name of a function of the tensor level, and the names and types of its arguments."""
    found = [own for own in re.finditer(r"tm\.func @([\w.$-]+)\(", text) if entry in (None, own[1])]
    if not found:
        raise Refused(f"there is no function {entry}")
    arguments, end = inside(text, found[0].end() - 1)
    arguments = [part.lstrip("%").split(":", 1) for part in split(arguments)]
    body = text[end : text.find("\ntm.func", end) if "\ntm.func" in text[end:] else len(text)]
    returned = re.findall(r"tm\.return ([^\n/]*)", body)
    results = len(split(returned[-1])) if returned else 0
    return found[0][1], [(name.strip(), ty.strip()) for name, ty in arguments], results


def axes(text):
    """The sizes of the axes of a module."""
    sizes = {}
    for found in re.finditer(r"tm\.axes \[([^\]]*)\]", text):
        for part in split(found[1]):
            name, size = part.split("=")
            if size.strip().isdigit():
                sizes[name.strip()] = int(size)
    return sizes


def data(kind, dtype, shape, random):
    """An argument: `rand` is any number from -1 to 1, `bf16` one that bf16 has, `small` integers whose sums of products
    are exact in f32, and `rows` those with integers that number rows of a table."""
    if dtype not in STORED:
        raise Refused(f"an argument of {dtype}: MLIR does not lower its elements to LLVM")
    if dtype == "i32" and kind == "rows":
        return random.integers(0, 4, shape).astype(np.int32)
    if dtype.startswith("i"):
        bits = int(dtype[1:])
        is_any = kind in ("rand", "bf16") and bits < 16
        least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if is_any else (-4, 5)
        return random.integers(least, most, shape).astype(STORED[dtype][0])
    if kind in ("small", "rows"):
        return random.integers(-3, 4, shape).astype(STORED[dtype][0])
    array = random.uniform(-1, 1, shape).astype(np.float32)
    dtype = "bf16" if kind == "bf16" else dtype
    tensor = Tensor(f"tensor<{''.join(f'{extent}x' for extent in shape)}{dtype}>")
    return tensor.unpack(tensor.pack(array))


def compare(file, module, entry, kind, tolerance, seed=1):
    """Compares a function of the tensor level with a module of linalg, by default its export."""
    text = pathlib.Path(file).read_text()
    name, arguments, results = kernel(text, entry)
    sizes = axes(text)
    random = np.random.default_rng(seed)
    if module is None:
        linalg = tool([VISA_MLIR_BIN / "visa-mlir", "export", file, "--entry", name])
        entry = name
    else:
        linalg, entry = pathlib.Path(module).read_text(), None
    arrays, flags = [], []
    with tempfile.TemporaryDirectory() as folder:
        for own, ty in arguments:
            found = re.fullmatch(r"!tm\.tensor<(\w+), \[(.*)\]>", ty)
            if not found:
                arrays.append(np.int64(0))
                flags += ["--arg", f"{own}=0"]
                continue
            shape = [sizes[axis] for axis in split(found[2]) if axis != "1"]
            arrays.append(data(kind, found[1], shape, random))
            path = pathlib.Path(folder) / f"{own}.npy"
            np.save(path, arrays[-1])
            flags += ["--arg", f"{own}={path}"]
        for number, array in enumerate(run(linalg, entry, arrays)):
            out = "out" if results == 1 else f"out{number}"
            path = pathlib.Path(folder) / f"{out}.npy"
            if array.dtype.kind == "f":
                array = np.where(np.abs(array) < LEAST_NORMAL, np.copysign(0, array), array).astype(array.dtype)
            np.save(path, array)
            flags += ["--expect", f"{out}={path}"]
        if tolerance:
            flags += ["--tolerance", tolerance]
        return tool([VISA_BIN / "visa-run", file, "--entry", name, *flags])


def made(text, entry, kind, seed):
    """Arguments for a function of a module."""
    random = np.random.default_rng(seed)
    types = [Tensor(argument) for argument in signature(text, entry)[1]]
    return [data(kind, ty.element, ty.shape, random) for ty in types]


def functions(text):
    """The functions of a text, each as a text of its own. Functions that call others are left out."""
    parts = re.split(r"(?m)^(?=tm\.func )", text)
    head = "".join(line + "\n" for line in parts[0].splitlines() if not line.startswith("//"))
    for part in parts[1:]:
        if "tm.call" not in part:
            yield re.match(r"tm\.func @([\w.$-]+)", part)[1], head + part


def array_axes(file):
    """The axes of the arguments and of the results of a function, by the generic form of its text."""
    text = tool([VISA_BIN / "visa-opt", file, "--print-generic"])
    head = re.search(r"\^bb0\((.*)\):", text)
    lists = [head[1] if head else "", re.findall(r'"tm\.return"\(.*?\) : \((.*)\) -> \(\)', text)[-1]]
    return [split(found) for part in lists for found in re.findall(r"!tm\.tensor<\w+, \[([^\]]*)\]>", part)]


def renamed(file, original):
    """The text of a file whose axes have the names of another one, where arguments and results correspond."""
    text, names = file.read_text(), {}
    for own, wanted in zip(array_axes(file), array_axes(original)):
        names.update((name, new) for name, new in zip(own, wanted) if name not in names)
    others = [name for name in axes(text) if name not in names]
    names.update((name, f"Z{number}") for number, name in enumerate(others))
    text = re.sub(r"(?<![%\w@.])[A-Z]\w*'?", lambda found: names.get(found[0], found[0]), text)
    # Axes of one size that correspond to one axis are declared once.
    declared = ", ".join(f"{name} = {size}" for name, size in axes(text).items())
    return re.sub(r"tm\.axes \[[^\]]*\]", f"tm.axes [{declared}]", text, count=1)


def round_trip(text, folder, seconds):
    """The verdict on a function and the import of its export; `not finished` for a proof that takes longer."""
    original, linalg, again = (folder / name for name in ("original.visa", "linalg.mlir", "again.visa"))
    original.write_text(text)
    try:
        linalg.write_text(tool([VISA_MLIR_BIN / "visa-mlir", "export", original]))
    except Refused as why:
        return "not exported", str(why)
    # A contraction of f32 is exported as it is, and each of its products is one of f32.
    command = [VISA_MLIR_BIN / "visa-mlir", "import", linalg]
    try:
        again.write_text(tool(command))
        again.write_text(renamed(again, original))
    except Refused as why:
        return "not imported", str(why)
    command = [VISA_BIN / "visa-opt", "--prove-equal", original, again]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "not finished", f"no verdict in {seconds} s"
    verdict = (found.stdout + found.stderr).strip().splitlines()[0]
    return verdict.split(": ")[1] if verdict.startswith("@") else "error", verdict


def round_trips(files, seconds):
    """Compares each function of some files with the import of its export, and counts the verdicts."""
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            for name, text in functions(pathlib.Path(file).read_text()):
                verdict, why = round_trip(text, pathlib.Path(folder), seconds)
                counts[verdict] = counts.get(verdict, 0) + 1
                print(f"{pathlib.Path(file).stem} {name}: {why}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 0


def tests():
    """Compares the functions of test/tensor. Each derives the tolerance of its distance from the exact result."""
    wrong = 0
    for file in sorted((ROOT / "test/tensor").glob("*.visa")):
        given = re.search(r"--tolerance (\S+)", file.read_text())
        if not given:
            continue
        # Both results are within it.
        twice = ",".join(str(2 * float(part)) for part in given[1].split(","))
        try:
            compare(file, None, None, "rand", twice)
            print(f"{file.stem}: equal within {twice}")
        except Refused as why:
            wrong += 1
            print(f"{file.stem}: {why}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run")
    one.add_argument("file")
    one.add_argument("--entry", action="append")
    one.add_argument("--arg", action="append", default=[])
    one.add_argument("--data", choices=["rand", "bf16", "small", "rows"])
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--out", default=".")
    two = commands.add_parser("compare")
    two.add_argument("file")
    two.add_argument("module", nargs="?")
    two.add_argument("--entry")
    two.add_argument("--data", choices=["rand", "bf16", "small", "rows"], default="rand")
    two.add_argument("--tolerance")
    two.add_argument("--seed", type=int, default=1)
    three = commands.add_parser("round")
    three.add_argument("files", nargs="+")
    three.add_argument("--seconds", type=int, default=120)
    commands.add_parser("tests")
    flags = parser.parse_args()
    try:
        if flags.command == "run":
            text, out = pathlib.Path(flags.file).read_text(), pathlib.Path(flags.out)
            entries = flags.entry or [None]
            if len(entries) > 1 and not flags.data:
                raise Refused("several functions, expected one, or `--data` that makes the arguments of each")
            calls = [(entry, [np.load(name) for name in flags.arg]) for entry in entries]
            folders = [out / entry if len(entries) > 1 else out for entry in entries]
            for folder in folders:
                folder.mkdir(exist_ok=True)
            if flags.data:
                plain_text = tool([MLIR_BIN / "mlir-opt"], text)
                calls = [(entry, made(plain_text, entry, flags.data, flags.seed)) for entry in entries]
                for folder, (_, arrays) in zip(folders, calls):
                    for number, array in enumerate(arrays):
                        np.save(folder / f"in{number}.npy", array)
            for folder, arrays in zip(folders, run_all(text, calls)):
                for number, array in enumerate(arrays):
                    np.save(folder / f"out{number}.npy", array)
            return 0
        if flags.command == "compare":
            print(compare(flags.file, flags.module, flags.entry, flags.data, flags.tolerance, flags.seed), end="")
            return 0
        if flags.command == "round":
            return round_trips(flags.files, flags.seconds)
        return 1 if tests() else 0
    except Refused as why:
        print(f"error: {why}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
