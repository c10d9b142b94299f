#!/usr/bin/env bash
# Runs the tests of USDT payouts and deposits against a real local chain (npm's hardhat) with a real ERC-20 that npm's
# solc compiles. The packages are pinned in tests/evm/package.json and installed once under the user's cache.
# What is given besides goes to the test program: tests/evm/run.sh hardhat::reverted
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

say() { printf '%s\n' "$*" >&2; }
command -v npm >/dev/null || { say "skipped: there is no npm"; exit 0; }

key=$(cat "$here/package.json" "$here/hardhat.config.js" "$here/Token.sol" "$here/deploy.js" | sha256sum | cut -c1-12)
store=${XDG_CACHE_HOME:-$HOME/.cache}/pasarela-evm/$key
if [ ! -e "$store/complete" ]; then
  rm -rf "$store"
  mkdir -p "$store"
  cp "$here"/{package.json,hardhat.config.js,Token.sol,deploy.js} "$store"
  (cd "$store" && npm install --no-audit --no-fund --no-package-lock --silent) || { say "skipped: the packages could not be installed"; exit 0; }
  touch "$store/complete"
fi

work=$(mktemp -d)
node=
finish() {
  [ -z "$node" ] || kill "$node" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
(cd "$store" && HARDHAT_DISABLE_TELEMETRY_PROMPT=true exec node node_modules/hardhat/internal/cli/bootstrap.js node --hostname 127.0.0.1 --port "$port") >"$work/node.log" 2>&1 &
node=$!
url=http://127.0.0.1:$port
for _ in $(seq 150); do
  if curl -sf -o "$work/answer" -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}' "$url"; then break; fi
  kill -0 "$node" 2>/dev/null || { say "the chain did not start:"; tail -20 "$work/node.log" >&2; exit 1; }
  sleep 0.2
done
contract=$(cd "$store" && node deploy.js "$url")
say "the chain is at $url, the token at $contract"
cd "$root"
EVM_RPC_URL=$url EVM_CONTRACT=$contract cargo test --test evm -- --ignored --test-threads 1 "${@:-hardhat::}"
