#!/usr/bin/env bash
# Runs README's "Go live" as it is printed, against the sandbox's banks, in a fresh directory: every line has to succeed, and the link has to be paid. Only the ports and the folder of the programs
# are others. Then the same about docs/live-rails.md: its blocks go on where README's end.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
target=${CARGO_TARGET_DIR:-$HOME/.cache/pasarela-target}
programs=${PASARELA_BIN_DIR:-$target/debug}

if ! { command -v jq && command -v python3; } >/dev/null; then
  echo "skipped: jq or python3 is not here" >&2
  exit 0
fi
[ -x "$programs/pasarela-sandbox" ] || (cd "$root" && CARGO_TARGET_DIR=$target cargo build --locked --quiet --package sandbox)
directory=$(mktemp -d)
free_ports() {
  python3 -c 'import socket; s = [socket.socket() for _ in range(4)]; [x.bind(("127.0.0.1", 0)) for x in s]; print(*[x.getsockname()[1] for x in s])'
}
read -r r4 wompi api admin <<<"$(free_ports)"
blocks() {
  awk -v from="$2" '$0 == from { inside = 1; next } inside && /^## / { exit } inside && /^```sh$/ { code = 1; next } /^```$/ { code = 0; next } inside && code' "$root/$1"
}
{
  echo "trap 'kill \$(jobs -p) 2>/dev/null; wait' EXIT"
  blocks README.md "## Go live"
  blocks docs/live-rails.md "## Try an order that nobody answers"
  blocks docs/live-rails.md "## Try pesos and their refund"
} | sed -e "s/\b9170\b/$r4/g; s/\b9171\b/$wompi/g; s/\b8081\b/$api/g; s/\b9091\b/$admin/g" \
  -e "s#^bin=.*#bin=$programs#; /^CARGO_TARGET_DIR=.* cargo build/d" >"$directory/live.sh"
trap 'rm -rf "$directory"' EXIT
cd "$directory"
timeout 180 bash -euo pipefail live.sh >live.log 2>&1 || {
  tail -30 live.log live/*.log >&2
  exit 1
}
echo "README.md, docs/live-rails.md: $(grep -c '' live.sh) lines ran"
