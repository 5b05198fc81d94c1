"""What becomes of each kernel on the way to the vendor's Rust and back: exported or refused, compiled, equal, same cycles. See run.sh."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parent.parent / "kernels"
SECONDS = 120
# The exit code if the published crates cannot be had.
NO_CRATES = 3
CRATES = {"0.6": "=0.6.0", "0.8": "=0.8.1", "0.10": "=0.10.0"}
# The passes that refusals name, with their options here, and nothing else.
PASSES = {
    "--plan-vector": "--plan-vector",
    "--inline": "--inline=erase=true",
    "--select-configs": "--select-configs",
    "--select-transfers": "--select-transfers",
    "--plan-kernel=rust": "--plan-kernel=rust",
    "--plan-kernel='replan rust'": "--plan-kernel=replan rust",
}
# Most passes for a kernel: a plan has expressions again.
MOST_PASSES = 5
OPEN = "--open-clauses=configurations=false orders=false distributions=false"


def run(*command):
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=SECONDS)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return None, "", f"error: not ended after {SECONDS} s"


def first_error(text):
    found = re.search(r"^error(\[[^\]]*\])?: (.*)$", text, re.M)
    return found[2].strip() if found else (text.strip().splitlines() or ["?"])[-1]


def pieces(text):
    """The operations at the top level of a module: declarations, and the functions by their names, each with its comments."""
    declared, functions, comments = [], {}, []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("//"):
            comments.append(line)
            continue
        name = re.match(r"tm\.func @([\w.$-]+)", line)
        if name:
            body = [line]
            while not body[-1].startswith("}"):
                body.append(next(lines))
            functions.setdefault(name[1], "\n".join(comments + body))
        elif line.strip():
            declared.append(line)
        comments = []
    return declared, functions


def called(functions, name, seen=()):
    """A function with those that it calls or launches, these first."""
    found = []
    for other in re.findall(r"tm\.(?:call|launch) @([\w.$-]+)", functions[name]):
        if other in functions and other not in seen and other not in found:
            found += [own for own in called(functions, other, (*seen, name)) if own not in found]
    return [*found, name]


class Kernel:
    """A kernel on its way."""

    def __init__(self, bins, file, name, text, folder, version):
        self.bins, self.file, self.name, self.version = bins, file, name, version
        self.module = re.sub(r"\W", "_", f"{file.stem}__{name}")
        self.text = folder / f"{self.module}.visa"
        self.rust = folder / f"{self.module}.rs"
        self.back = folder / f"{self.module}.back.visa"
        self.text.write_text(text)
        self.passes, self.refused, self.compiled, self.equal, self.cycles = [], "", "", "", ""

    def tool(self, name):
        return self.bins / name

    def legal(self):
        return run(self.tool("visa-opt"), self.text, "-o", os.devnull)

    def export(self):
        for _ in range(1 + MOST_PASSES):
            code, _, err = run(self.tool("visa-export"), "rust", self.text, "--entry", self.name, "--for", self.version, "-o", self.rust)
            if code == 0:
                return True
            self.refused = first_error(err)
            fix = next((own for word, own in PASSES.items() if f"visa-opt {word}`" in err and self.passes[-1:] != [own]), None)
            closed = self.text.with_suffix(".closed.visa")
            if not fix or run(self.tool("visa-opt"), self.text, fix, "-o", closed)[0] != 0:
                return False
            self.passes.append(fix)
            self.text = closed
        return False

    def come_back(self):
        code, _, err = run(self.tool("visa-import"), "rust", self.rust, "-o", self.back)
        if code != 0:
            self.equal = f"not imported: {first_error(err)}"
            return
        # A name that is a keyword has `_` after it.
        self.back.write_text(self.back.read_text().replace(f"@{self.name}_(", f"@{self.name}("))
        compared = self.back
        if f"@{self.name}_kernel(" in self.back.read_text():
            # The text has no separate kernel between the transfers of the host: the launch is inlined.
            compared = self.back.with_suffix(".inlined.visa")
            code, _, err = run(self.tool("visa-opt"), self.back, "--inline=erase=true", "-o", compared)
            if code != 0:
                self.equal = f"not inlined: {first_error(err)}"
                return
            declared, functions = pieces(compared.read_text())
            compared.write_text("\n".join([*declared, functions[self.name]]) + "\n")
        code, out, err = run(self.tool("visa-opt"), self.text, "--prove-equal", compared)
        self.equal = "yes" if code == 0 else f"{'no' if code == 1 else 'unknown'}: {(out + err).strip().splitlines()[-1] if out + err else code}"
        ours, theirs = self.cost(self.text), self.cost(self.back)
        self.cycles = "yes" if ours == theirs and ours.isdigit() else f"{ours} and {theirs}"

    def cost(self, text):
        """The cycles with addresses that `--allocate` chooses."""
        opened = text.with_suffix(".open.visa")
        code, _, err = run(self.tool("visa-opt"), text, OPEN, "-o", opened)
        if code != 0:
            return first_error(err)
        head = re.search(rf"tm\.func @{re.escape(self.name)}\((.*)", opened.read_text())
        numbers = re.findall(r"%([\w.$-]+): !tm\.scalar", head[1]) if head else []
        given = [part for name in numbers for part in ("--arg", f"{name}=0")]
        code, out, err = run(self.tool("visa-run"), opened, "--entry", self.name, *given, "--allocate", "--cost", "--memory-model", "flat")
        found = re.search(r"^(\d+) cycles", out, re.M)
        return found[1] if found else first_error(err)


def check(kernels, crate, version):
    """Compiles all exported kernels as modules of one crate; the errors of each go to it."""
    source = crate / "src"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    manifest = (HERE / "template/Cargo.toml").read_text()
    (crate / "Cargo.toml").write_text(re.sub(r'furiosa-opt-std = "[^"]*"', f'furiosa-opt-std = "{CRATES[version]}"', manifest))
    for kernel in kernels:
        # Attributes of the crate are at its root.
        text = "".join(line for line in kernel.rust.read_text().splitlines(True) if not line.startswith("#!["))
        (source / f"{kernel.module}.rs").write_text(text)
    modules = "".join(f"pub mod {kernel.module};\n" for kernel in kernels)
    (source / "lib.rs").write_text((HERE / "template/src/lib.rs").read_text() + modules)
    env = {**os.environ, "RUSTC_BOOTSTRAP": "1", "DOCS_RS": "1"}
    command = ["cargo", "check", "--message-format", "short"]
    done = subprocess.run(command, cwd=crate, env=env, capture_output=True, text=True)
    errors = {}
    for module, message in re.findall(r"^src/(\w+)\.rs:\d+:\d+: error(?:\[\w+\])?: (.*)$", done.stderr, re.M):
        errors.setdefault(module, message)
    if done.returncode != 0 and not errors:
        print(done.stderr[-2000:], file=sys.stderr)
        return False
    for kernel in kernels:
        kernel.compiled = errors.get(kernel.module, "yes")
    return True


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("bins", type=Path)
    arguments.add_argument("files", type=Path, nargs="*")
    arguments.add_argument("--for", dest="version", default="0.10", choices=CRATES)
    arguments.add_argument("--crate", type=Path)
    arguments.add_argument("--no-check", action="store_true")
    arguments.add_argument("--keep", type=Path, help="write texts and exports here")
    asked = arguments.parse_args()
    folder = asked.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    kernels, illegal = [], []
    for file in asked.files or sorted(KERNELS.glob("*.visa")):
        declared, functions = pieces(file.read_text())
        for name in functions:
            text = "\n".join(declared + [functions[own] for own in called(functions, name)]) + "\n"
            kernels.append(Kernel(asked.bins, file, name, text, folder, asked.version))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        legal = list(pool.map(lambda kernel: kernel.legal()[0] == 0, kernels))
        illegal = [kernel for kernel, good in zip(kernels, legal) if not good]
        kernels = [kernel for kernel, good in zip(kernels, legal) if good]
        exported = [kernel for kernel, good in zip(kernels, pool.map(Kernel.export, kernels)) if good]
        # Cargo compiles while the others come back.
        back = [pool.submit(kernel.come_back) for kernel in exported]
        checked = asked.no_check or check(exported, asked.crate or folder / "crate", asked.version)
        for each in back:
            each.result()
    if not checked:
        print("the registry lacks the vendor's crates, or they do not compile here: no kernel is checked", file=sys.stderr)
        return NO_CRATES
    print("| kernel | exported, or refused because | after | compiled | equal | same cycles |\n|---|---|---|---|---|---|")
    for kernel in kernels:
        good = kernel in exported
        row = [f"{kernel.file.stem}:{kernel.name}", "yes" if good else kernel.refused, " ".join(kernel.passes)]
        row += [kernel.compiled, kernel.equal, kernel.cycles] if good else ["", "", ""]
        print("| " + " | ".join(text.replace("|", "\\|") for text in row) + " |")
    count = lambda value: sum(getattr(kernel, value) == "yes" for kernel in exported)
    print(f"\n{len(kernels)} kernels ({len(illegal)} texts are not legal on rngd): {len(exported)} exported "
          f"({100 * len(exported) / max(len(kernels), 1):.1f} %), {count('compiled')} compiled, {count('equal')} equal, {count('cycles')} with the same cycles")
    wrong = [kernel for kernel in exported if kernel.compiled not in ("yes", "") or kernel.equal.startswith("no:")]
    for kernel in wrong:
        print(f"{kernel.file.stem}:{kernel.name}: {kernel.compiled if kernel.compiled != 'yes' else kernel.equal}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
