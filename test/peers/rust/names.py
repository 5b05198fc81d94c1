#!/usr/bin/env python3
"""Lists the names that the vendor's published crates define: every capitalised identifier of their sources.

A name of a kernel that neither the kernel, Rust nor this list has is a misspelling. Names that macros of the crates
paste together at build time are not listed; the importer names those it reads itself.

    python3 test/peers/rust/names.py > tools/visa-import/src/toolchain/names.txt
"""

import io
import json
import re
import tarfile
import urllib.request

CRATES = ["furiosa-opt-std", "furiosa-mapping", "furiosa-mapping-types", "furiosa-opt-macro"]
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
NAME = re.compile(r"\b[A-Z][A-Za-z0-9_]*\b")


def read(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read()


def versions(crate):
    try:
        index = read(f"https://index.crates.io/{crate[:2]}/{crate[2:4]}/{crate}")
    except urllib.error.HTTPError:
        return []
    return [json.loads(line)["vers"] for line in index.decode().splitlines()]


def sources(crate, version):
    archive = read(f"https://static.crates.io/crates/{crate}/{crate}-{version}.crate")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for file in files:
            if file.name.endswith(".rs"):
                yield files.extractfile(file).read().decode()


def main():
    names = set()
    for crate in CRATES:
        for version in versions(crate):
            for text in sources(crate, version):
                names.update(NAME.findall(COMMENT.sub("", text)))
    print("\n".join(sorted(name for name in names if len(name) > 1)))


main()
