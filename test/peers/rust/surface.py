"""The public types, functions and methods of the vendor's prelude, and how the importer reads each: a table for docs.

test/peers/rust/surface.py [--version 0.10.0 | --source DIR] [--check]

Without --check it writes the table into docs/surface.md. With --check it fails if an item of the published source has no
row or two, if a row has no item, or if the table in docs differs. --source is the folder `src` of the crate; without it,
the crate is downloaded from the registry."""

import argparse
import fnmatch
import io
import re
import sys
import tarfile
import urllib.request
from collections import defaultdict
from pathlib import Path

from surface_rows import ROWS

DOCS = Path(__file__).resolve().parents[3] / "docs" / "surface.md"
BEGIN, END = "<!-- surface: begin -->", "<!-- surface: end -->"
# Internals that the prelude does not re-export.
OUTSIDE = re.compile(r"backend/|float/|pool_tests|par_iters|constraints|control|pseudo|op/semantics|op/has_alu")


def source(version):
    """The files of the published crate: path and text."""
    name = f"furiosa-opt-std-{version}"
    url = f"https://static.crates.io/crates/furiosa-opt-std/{name}.crate"
    with urllib.request.urlopen(url) as answer, tarfile.open(fileobj=io.BytesIO(answer.read())) as crate:
        for member in crate.getmembers():
            path = member.name.removeprefix(f"{name}/src/")
            if path != member.name and path.endswith(".rs"):
                yield path, crate.extractfile(member).read().decode()


def folder(root):
    for path in sorted(Path(root).rglob("*.rs")):
        yield path.relative_to(root).as_posix(), path.read_text()


def head(text):
    """The kind and name of the block that `{` after this text begins, and whether its items are public."""
    if re.search(r"\bfn \w+", text):
        return "fn", "", True
    if found := re.search(r"\bpub (?:unsafe )?trait (\w+)", text):
        return "trait", found[1], "doc(hidden)" in text
    if found := re.search(r"\bimpl\b(.*)", text):
        body, depth = found[1].strip(), 0
        if body.startswith("<"):
            for at, letter in enumerate(body):
                depth += (letter == "<") - (letter == ">" and body[at - 1] != "-")
                if depth == 0:
                    body = body[at + 1 :]
                    break
        body = body.split(" where ")[0]
        own = re.match(r"\s*&?\s*(?:'\w+ )?(?:mut )?\$?([\w:]+)", body)
        return "impl", own[1].split("::")[-1] if own else "?", bool(re.search(r"\bfor\b", body))
    return "block", "", False


def items(files):
    """The names of public types and functions, and `Type::method` of public methods."""
    found = set()
    for path, text in files:
        if OUTSIDE.search(path):
            continue
        text = re.sub(r"#\[cfg\(test\)\]\s*mod \w+ \{.*\Z", "", text, flags=re.S)
        # Constant arguments are no blocks.
        text = re.sub(r"\{ ?([\w:]+) ?\}", r"\1", re.sub(r"//[^\n]*", "", text))
        stack, pending = [], ""
        for line in text.splitlines():
            word = line.strip()
            pending += " " + word
            hidden = "doc(hidden)" in pending
            around = [block for block in stack if block[0] in ("impl", "trait", "fn")]
            inner = around[-1] if around else None
            if (own := re.match(r"pub (?:unsafe )?(?:struct|enum|trait|type|union)\s+(\w+)", word)) and not around and not hidden:
                found.add(own[1])
            if (own := re.match(r"(pub )?(?:const |unsafe |async )*fn\s+(\w+)", word)) and not hidden:
                if not inner and own[1]:
                    found.add(own[2])
                elif inner and inner[0] == "trait" and not inner[2] or inner and inner[0] == "impl" and own[1] and not inner[2]:
                    found.add(f"{inner[1]}::{own[2]}")
            for letter in line:
                if letter == "{":
                    stack.append(head(pending))
                    pending = ""
                elif letter == "}":
                    stack and stack.pop()
                    pending = ""
                elif letter == ";":
                    pending = ""
    return found


def assigned(found):
    """The items of each row, and the faults."""
    of_rows, faults = defaultdict(list), []
    used = set()
    for item in sorted(found):
        rows = []
        for at, (_, _, patterns) in enumerate(ROWS):
            matches = [own for own in patterns.split() if fnmatch.fnmatchcase(item, own)]
            used.update((at, own) for own in matches)
            if matches:
                rows.append(at)
        if len(rows) == 1:
            of_rows[rows[0]].append(item)
        else:
            faults.append(f"`{item}` is in {len(rows)} rows, expected 1" + "".join(f"; {ROWS[at][0]}" for at in rows))
    for at, (_, _, patterns) in enumerate(ROWS):
        faults += [f"`{own}` in row `{ROWS[at][0]}` has no item" for own in patterns.split() if (at, own) not in used]
    return of_rows, faults


def table(of_rows):
    read = ["| items | read as |", "|---|---|"]
    unread = ["| items | reason |", "|---|---|"]
    for at, (means, is_read, _) in enumerate(ROWS):
        names = ", ".join(f"`{item}`" for item in of_rows[at])
        (read if is_read else unread).append(f"| {names} | {means} |")
    count = [sum(len(of_rows[at]) for at, row in enumerate(ROWS) if row[1] is wanted) for wanted in (True, False)]
    return "\n".join(["## Read", "", f"{count[0]} items.", "", *read, "", "## Not read", "", f"{count[1]} items.", "", *unread])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--version", default="0.10.0")
    arguments.add_argument("--source")
    arguments.add_argument("--check", action="store_true")
    given = arguments.parse_args()
    found = items(folder(given.source) if given.source else source(given.version))
    of_rows, faults = assigned(found)
    text = DOCS.read_text()
    before, rest = text.split(BEGIN)
    own, after = rest.split(END)
    new = f"\n{table(of_rows)}\n"
    if given.check and own != new:
        faults.append("the table in docs/surface.md differs: run this without --check")
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if faults:
        return 1
    if not given.check:
        DOCS.write_text(before + BEGIN + new + END + after)
    print(f"{len(found)} items, each in one row")
    return 0


if __name__ == "__main__":
    sys.exit(main())
