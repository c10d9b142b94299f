"""Messages, forms, limits, and codes that decide on a retry. Written by sdks/generate from generator/shared.py."""

KEY = "a key is visible ASCII, such as pk_test_…; is it empty, or is there a line feed at its end?"
BASE_URL = "{name} must be http or https, without user, query or fragment, such as https://pay.example"
PROXY = "a proxy is http://host:port or http://user:password@host:port"
PROXY_AND_TRANSPORT = "{name} carries the requests: set the proxy there"
EMPTY_PART = "an id or a reference is empty"
DOT_PART = "an id, a reference or a part of a path is . or ..: addresses take that for another path"
METHOD = "a method is letters, such as GET"
PATH = "a path begins with / and has no query and no space, such as /v1/balance"
PARTS = "a path has a name in braces for each of its parts, such as /v1/payments/{id}"
HEADER = "the header {name} is not printable ASCII; is there a line feed in it?"
TIMEOUT = "a timeout is a number of {unit} above 0, at most {max}"
RETRIES = "the number of retries is a whole number from 0 to {max}"
WAIT = "{name} of a policy is a number of {unit} from 0 to {max}"
REQUEST_ID = "a request id is 1 to 64 visible ASCII characters"
IDEMPOTENCY_KEY = "an Idempotency-Key is 1 to 255 characters of printable ASCII, without spaces at its ends"
NO_IDEMPOTENCY_KEY = "{method} {path} takes no Idempotency-Key: a POST under /v1/ does"
NO_CONNECTION = "no connection: {reason}"
NO_ANSWER = "no answer: {reason}"
NO_THREAD = "every thread was busy until the timeout: raise max_connections"
NO_STREAM = "this transport has no method begin, which streams need"
FAILED_CALL = "{method} {path}: {reason}"
UNREADABLE = "an answer {status} that could not be read"
AMOUNT_TYPE = "an amount is {accepted} such as \"10.50\", not a {type}"
AMOUNT_FORM = "an amount is digits, and a point if there are decimals"
TIME_ZONE = "a datetime needs a time zone: datetime.now(timezone.utc)"
WEBHOOK_BODY = "the body is what was received, as bytes or text: verify it before anything parses it"
WEBHOOK_HEADERS = "a delivery has the headers webhook-id, webhook-timestamp and webhook-signature"
WEBHOOK_SIGNATURE = "no signature of this delivery is right"
WEBHOOK_TIME = "the delivery was not sent just now; a replay, or a clock that is wrong"
WEBHOOK_EVENT = "the delivery is signed, and is no event"
WEBHOOK_SECRET = "a signing secret is whsec_ and base64, as the answer that registered the endpoint showed it"
LOG_ANSWER = "{method} {path}: {status} in {ms} ms (request {id})"
LOG_NO_ANSWER = "{method} {path}: {reason} after {ms} ms"
LOG_RETRY = "{said}; retry {retry} in {ms} ms"

#: What a whole text has to match.
KEY_FORM = "[!-~]+"
METHOD_FORM = "[A-Z]+"
PATH_FORM = "/[!\"$->@-\\[\\]-~]*"
HEADER_FORM = "[ -~]*"
REQUEST_ID_FORM = "[!-~]{1,64}"
IDEMPOTENCY_KEY_FORM = "[!-~]([ -~]{0,253}[!-~])?"

RETRIES_MAX = 100
TIMEOUT_MAX_SECONDS = 86400

#: Codes that say: nothing was done, ask again.
NOTHING_DONE = frozenset({"rate_limited", "overloaded", "shutting_down", "rail_unavailable", "request_timeout", "no_leader", "tenant_moving"})

#: Codes that no short wait makes better, unless the gateway says how long.
LASTING = frozenset({"account_halted", "clock_stepped", "rail_not_configured", "rate_unavailable", "tenant_moved"})
