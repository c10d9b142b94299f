#!/usr/bin/env bash
# Holds the description against the running server: both documents are valid OpenAPI 3.1, and whatever a property-based tester sends, there is no 5xx and no answer that is not as
# described. Takes a minute or two; FULL=1 takes longer.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/openapi/server.sh"

if ! tools; then
  echo "skipped: the tools of tests/openapi/requirements.txt are not here and could not be installed" >&2
  exit 0
fi
start_server
for listener in "$api" "$admin"; do
  curl -sf "$listener/openapi.json" >"$directory/openapi.json"
  "$python/openapi-spec-validator" "$directory/openapi.json"
done
# Rehearsals answer something else, as the parameter says (x-answer), and its tests hold them against that.
described() { curl -sf "$1/openapi.json" | jq 'del(.paths[][]?.parameters?[]? | select(.["$ref"] == "#/components/parameters/DryRun"))' >"$2"; }

checks=not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,negative_data_rejection,unsupported_method,missing_required_header,ignored_auth
examples=$([ "${FULL:-}" = 1 ] && echo 200 || echo 12)
common=(--checks "$checks" --max-examples "$examples" --phases examples,coverage,fuzzing --seed 1 --no-color --suppress-health-check all --generation-database none)
cd "$directory"
# It writes no lines of JSON. Registering an endpoint would have the server call whatever address was made up, a backup would write there, and no feed of banks is configured. Accounts are opened for nobody here, so their path is none.
described "$api" api.json
"$python/schemathesis" run api.json --url "$api" "${common[@]}" -H "x-api-key: $key" --exclude-operation-id createWebhook --exclude-operation-id updateWebhook --exclude-operation-id stream --exclude-operation-id openTestAccount
described "$admin" admin.json
"$python/schemathesis" run admin.json --url "$admin" "${common[@]}" -H "Authorization: Bearer $token" --exclude-operation-id makeBackup --exclude-operation-id refreshBanks
kill -0 "$server"
