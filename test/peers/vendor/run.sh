#!/usr/bin/env bash
# Exports every kernel of test/kernels as the vendor's Rust, checks all of it against the vendor's published crates, and imports it again:
# test/peers/vendor/run.sh [--for VERSION] [--crate DIR] [--no-check] [FILE.visa...]. The tools are those of target/debug, or of VISA_BIN.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
exec python3 "$here/run.py" "${VISA_BIN:-$here/../../../target/debug}" "$@"
