"""Mutates the Rust files of the lit tests and runs visa-import on them, or the textual kernels and visa-export: each must end with 0 or 1 and
without a panic, within a minute of processor time.

fuzz.py SECONDS [SEED] [import|export]. The tools are those of target/debug, or of VISA_BIN. Findings are kept in TMPDIR/visa-fuzz-rust.
"""

import os
import random
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
TOOLS = Path(os.environ.get("VISA_BIN", ROOT / "target" / "debug"))
KEPT = Path(os.environ.get("TMPDIR", "/tmp")) / "visa-fuzz-rust"
TOKEN = re.compile(r"\w+|\s+|.", re.S)
VERSIONS = ["0.6", "0.8", "0.10"]
WORDS_OF_TEXT = ["0", "1", "2", "8", "255", "256", "-1", "4294967296", "[1]", "[A # 0]", "@", "#", "/", "%", "=", "{0}", "{!}", "{left}", "auto",
                 "main", "sub", "dual", "i4", "u8", "bf16", "f32", "inout", "element", "slice", "tm.tile", "tm.slice", "[", "]", "{", "}", "(", ")",
                 "\u00fc", "\0"]
WORDS = ["0", "1", "255", "256", "-1", "4294967296", "m![1]", "m![A # 0]", "_", "()", "&mut", "#", "/", "%", "::<", "..", "if", "match",
         "for", "loop", "return", "break", "?", ".await", "dbg!", "println!", "i4", "bf16", "f32", "[", "]", "{", "}", "(", ")", "\u00fc", "\0"]


def mutated(source, files, words, chance):
    """A file with one to four changes of its tokens."""
    tokens = TOKEN.findall(source)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(tokens))
        to = min(len(tokens), at + chance.choice([1, 1, 2, 5, 40]))
        change = chance.randrange(6)
        if change == 0:
            del tokens[at:to]
        elif change == 1:
            tokens[at:at] = tokens[at:to]
        elif change == 2:
            other = chance.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif change == 3:
            tokens[at] = chance.choice(words)
        elif change == 4:
            tokens.insert(at, chance.choice(words))
        else:
            foreign = TOKEN.findall(chance.choice(files))
            begin = chance.randrange(len(foreign))
            tokens[at:to] = foreign[begin : begin + chance.randint(1, 30)]
        if not tokens:
            tokens = [" "]
    return "".join(tokens)


def limited():
    """Ends the tool after a minute of processor time: on a busy machine that may be several minutes."""
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def main():
    seconds, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2026
    way = sys.argv[3] if len(sys.argv) > 3 else "import"
    if way not in ("import", "export"):
        sys.exit(f"there is no way `{way}`, expected `import` or `export`")
    chance = random.Random(seed)
    patterns, ending, words = {
        "import": (["test/import/**/*.rs"], "rs", WORDS),
        "export": (["test/kernels/*.visa", "test/export/Inputs/*.visa"], "visa", WORDS_OF_TEXT),
    }[way]
    files = [path.read_text() for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    KEPT.mkdir(parents=True, exist_ok=True)
    case, ends, counts, findings = KEPT / f"case.{ending}", time.monotonic() + seconds, {0: 0, 1: 0}, 0
    while time.monotonic() < ends:
        case.write_text(mutated(chance.choice(files), files, words, chance), errors="replace")
        command = [TOOLS / f"visa-{way}", "rust", case, "-o", KEPT / "out"]
        if way == "export":
            command += ["--for", chance.choice(VERSIONS)]
        done = subprocess.run(command, capture_output=True, preexec_fn=limited)
        code, text = done.returncode, done.stderr.decode(errors="replace")
        if code in counts and "panicked" not in text:
            counts[code] += 1
            continue
        findings += 1
        case.rename(KEPT / f"finding-{seed}-{findings}.{ending}")
        print(f"finding {findings}: exit {code}: {text.strip().splitlines()[-1] if text.strip() else ''}")
    print(f"{sum(counts.values())} files, {counts[0]} {way}ed in full, {counts[1]} refused, {findings} findings")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
