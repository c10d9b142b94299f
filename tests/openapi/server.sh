# Sourced by the scripts that hold the description against the running server: a virtual environment with the tools, and a server on a fresh directory and free loopback ports.
# $more_config is a file with more configuration. Gives $python (a folder of tools), $api, $admin (addresses), $key, $token; the server ends with the script.

cache=${XDG_CACHE_HOME:-$HOME/.cache}/pasarela-openapi
binary=${PASARELA_BIN:-${CARGO_TARGET_DIR:-$HOME/.cache/pasarela-target}/debug/pasarela}
python=$cache/venv/bin
PATH=$python:$PATH # generators call their formatters by name
key=pk_test_described
token=described-admin-token-0123456789

# Installs what is missing; 1 if it cannot be had.
tools() {
  local wanted="$root/tests/openapi/requirements.txt"
  cmp -s "$wanted" "$cache/requirements.txt" && return 0
  mkdir -p "$cache"
  python3 -m venv "$cache/venv" && "$python/pip" install -q --disable-pip-version-check -r "$wanted" && cp "$wanted" "$cache/requirements.txt"
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start_server() {
  directory=$(mktemp -d)
  local port admin_port
  port=$(free_port)
  admin_port=$(free_port)
  api=http://127.0.0.1:$port
  admin=http://127.0.0.1:$admin_port
  printf '[[bootstrap.tenants]]\nname = "described"\ntest_key = "%s"\n' "$key" >"$directory/config.toml"
  [ -z "${more_config:-}" ] || cat "$more_config" >>"$directory/config.toml"
  PASARELA__SERVER__LISTEN=127.0.0.1:$port PASARELA__ADMIN__LISTEN=127.0.0.1:$admin_port PASARELA__ADMIN__TOKEN=$token \
    "$binary" serve --config "$directory/config.toml" --data-dir "$directory/data" >"$directory/log" 2>&1 &
  server=$!
  trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$directory"' EXIT
  for _ in $(seq 100); do
    curl -sf "$api/readyz" >/dev/null && return 0
    sleep 0.1
  done
  cat "$directory/log" >&2
  return 1
}
