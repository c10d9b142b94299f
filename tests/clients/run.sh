#!/usr/bin/env bash
# Generates a TypeScript and a Python client from the description, by the generators of their ecosystems, checks their types, and walks the README's path with each: collect, hold,
# release, pay out, find out what became of a request.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/openapi/server.sh"

if ! tools; then
  echo "skipped: the tools of tests/openapi/requirements.txt are not here and could not be installed" >&2
  exit 0
fi
start_server
curl -sf "$api/openapi.json" >"$directory/openapi.json"

echo "== python"
"$python/openapi-python-client" generate --path "$directory/openapi.json" --meta none --output-path "$directory/python/pasarela_client" --config "$root/tests/clients/python/generator.yml" --fail-on-warning
cp "$root/tests/clients/python/path.py" "$directory/python/"
(cd "$directory/python" && "$python/mypy" --strict --follow-imports silent --cache-dir "$cache/mypy" path.py && "$python/python" path.py "$api" "$key" python)

echo "== typescript"
if ! command -v npm >/dev/null; then
  echo "skipped: npm is not here" >&2
  exit 0
fi
mkdir -p "$cache/npm"
if ! cmp -s "$root/tests/clients/typescript/package.json" "$cache/npm/package.json"; then
  cp "$root/tests/clients/typescript/package.json" "$cache/npm/"
  if ! (cd "$cache/npm" && npm install --silent --no-audit --no-fund --no-package-lock); then
    rm "$cache/npm/package.json"
    echo "skipped: the packages of tests/clients/typescript/package.json could not be installed" >&2
    exit 0
  fi
fi
mkdir "$directory/typescript"
cp "$root"/tests/clients/typescript/* "$directory/typescript/"
ln -s "$cache/npm/node_modules" "$directory/typescript/node_modules"
(cd "$directory/typescript" && npx --no-install openapi-typescript ../openapi.json --default-non-nullable=false -o schema.d.ts && npx --no-install tsc && node path.js "$api" "$key" typescript)
