#!/usr/bin/env bash
# Prices every kernel of a crate of Rust kernels, without running it: test/peers/rust/cost.sh CRATE. A table of cycles by kind of command. The
# tools are those of target/debug, or of VISA_BIN.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
exec python3 "$here/cost.py" "${VISA_BIN:-$here/../../../target/debug}" "$@"
