# Sourced by sdks/build and sdks/test: what packages are built and checked with, installed once per machine, outside the checkout.
# Each function is 1 when its tools are not here and cannot be had. The SDKs themselves need none of them.

tools_cache=${XDG_CACHE_HOME:-$HOME/.cache}/pasarela-sdks
tools_venv=$tools_cache/venv

python_tools() {
  cmp -s "$sdks/requirements.txt" "$tools_cache/requirements.txt" && return 0
  mkdir -p "$tools_cache"
  python3 -m venv "$tools_venv" && "$tools_venv/bin/pip" install -q --disable-pip-version-check -r "$sdks/requirements.txt" && cp "$sdks/requirements.txt" "$tools_cache/requirements.txt"
}

typescript_tools() {
  command -v npm >/dev/null || return 1
  mkdir -p "$tools_cache/npm"
  cmp -s "$sdks/typescript/tools.json" "$tools_cache/npm/package.json" && return 0
  cp "$sdks/typescript/tools.json" "$tools_cache/npm/package.json"
  (cd "$tools_cache/npm" && npm install --silent --no-audit --no-fund --no-package-lock) || { rm -f "$tools_cache/npm/package.json"; return 1; }
}
