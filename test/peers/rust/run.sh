#!/usr/bin/env bash
# Imports every kernel of a checkout of Rust kernels, verifies it, plans its addresses and runs it with seeded data under --check --shadow:
# test/peers/rust/run.sh DIR [TABLE]. The tools are those of target/debug, or of VISA_BIN.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
exec python3 "$here/run.py" "${VISA_BIN:-$here/../../../target/debug}" "$@"
