#!/usr/bin/env bash
# Verifies real deliveries with the public libraries of Standard Webhooks for Python and JavaScript, and with the handlers that the guides print: what the server sends passes, and a
# replay, another id, another time and another body do not.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/openapi/server.sh"
export PASARELA__WEBHOOKS__ALLOW_PRIVATE_TARGETS=true

# The handler in a language; that in Spanish is the same but for its comments (tests/guides/examples.py runs both).
blocks() {
  awk -v open="^\`\`\`$1 verify\$" '$0 ~ open { inside = 1; next } /^```$/ { inside = 0; next } inside' "$root/docs/en/webhooks.md"
}

venv=$cache/webhooks-venv
if ! cmp -s "$root/tests/webhooks/requirements.txt" "$cache/webhooks.txt"; then
  mkdir -p "$cache"
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check -r "$root/tests/webhooks/requirements.txt"; }; then
    echo "skipped: the packages of tests/webhooks/requirements.txt could not be installed" >&2
    exit 0
  fi
  cp "$root/tests/webhooks/requirements.txt" "$cache/webhooks.txt"
fi
start_server

echo "== python"
blocks python >"$directory/guide.py"
cp "$root/tests/webhooks/verify.py" "$directory/"
(cd "$directory" && "$venv/bin/python" verify.py "$api" "$key")

echo "== javascript"
if ! command -v npm >/dev/null; then
  echo "skipped: npm is not here" >&2
  exit 0
fi
mkdir -p "$cache/webhooks-npm"
if ! cmp -s "$root/tests/webhooks/package.json" "$cache/webhooks-npm/package.json"; then
  cp "$root/tests/webhooks/package.json" "$cache/webhooks-npm/"
  if ! (cd "$cache/webhooks-npm" && npm install --silent --no-audit --no-fund --no-package-lock); then
    rm "$cache/webhooks-npm/package.json"
    echo "skipped: the packages of tests/webhooks/package.json could not be installed" >&2
    exit 0
  fi
fi
mkdir "$directory/javascript"
cp "$root"/tests/webhooks/{package.json,verify.js} "$directory/javascript/"
blocks js >"$directory/javascript/guide.js"
ln -s "$cache/webhooks-npm/node_modules" "$directory/javascript/node_modules"
(cd "$directory/javascript" && node verify.js "$api" "$key")
