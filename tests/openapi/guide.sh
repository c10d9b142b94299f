#!/usr/bin/env bash
# Runs the blocks of docs/integration.md as they are printed, one after the other in one shell, against a fresh server: a block that fails, or whose `jq -e` does not hold, fails.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/openapi/server.sh"

if ! { command -v jq && command -v python3; } >/dev/null; then
  echo "skipped: jq or python3 is not here" >&2
  exit 0
fi
start_server
blocks() {
  awk -v open="^\`\`\`$1\$" '$0 ~ open { inside = 1; next } /^```$/ { inside = 0; next } inside' "$root/docs/integration.md"
}
blocks sh >"$directory/guide.sh"
blocks python >"$directory/guide.py"
PASARELA=$api KEY=$key bash -euo pipefail "$directory/guide.sh" >"$directory/guide.log" 2>&1 || {
  tail -20 "$directory/guide.log" >&2
  exit 1
}
python3 "$directory/guide.py"
echo "docs/integration.md: $(grep -c '' "$directory/guide.sh") lines ran"
