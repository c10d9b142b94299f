"""What the three SDKs have in common and the server's description does not say: messages, forms and limits of what a
caller sets, codes that decide on a retry, and what the packages say of themselves."""

import re
import tomllib
from pathlib import Path

CARGO = Path(__file__).resolve().parent.parent.parent / "Cargo.toml"

# Messages of errors and of the log, by the name of their constant; what stands in braces is filled in, doubled ones are braces.
MESSAGES = {
    "KEY": "a key is visible ASCII, such as pk_test_…; is it empty, or is there a line feed at its end?",
    "BASE_URL": "{name} must be http or https, without user, query or fragment, such as https://pay.example",
    "PROXY": "a proxy is http://host:port or http://user:password@host:port",
    "PROXY_AND_TRANSPORT": "{name} carries the requests: set the proxy there",
    "LOGGER": "a logger has the methods info and warning, as PSR-3 has them",
    "EMPTY_PART": "an id or a reference is empty",
    "DOT_PART": "an id, a reference or a part of a path is . or ..: addresses take that for another path",
    "METHOD": "a method is letters, such as GET",
    "PATH": "a path begins with / and has no query and no space, such as /v1/balance",
    "PARTS": "a path has a name in braces for each of its parts, such as /v1/payments/{{id}}",
    "HEADER": "the header {name} is not printable ASCII; is there a line feed in it?",
    "TIMEOUT": "a timeout is a number of {unit} above 0, at most {max}",
    "RETRIES": "the number of retries is a whole number from 0 to {max}",
    "WAIT": "{name} of a policy is a number of {unit} from 0 to {max}",
    "REQUEST_ID": "a request id is 1 to 64 visible ASCII characters",
    "IDEMPOTENCY_KEY": "an Idempotency-Key is 1 to 255 characters of printable ASCII, without spaces at its ends",
    "NO_IDEMPOTENCY_KEY": "{method} {path} takes no Idempotency-Key: a POST under /v1/ does",
    "NO_CONNECTION": "no connection: {reason}",
    "NO_ANSWER": "no answer: {reason}",
    "BROKE_OFF": "it broke off, or took too long",
    "TOOK_TOO_LONG": "it took too long",
    "NO_TUNNEL": "the proxy opened no tunnel: {reason}",
    "NO_THREAD": "every thread was busy until the timeout: raise max_connections",
    "NO_STREAM": "this transport has no method begin, which streams need",
    "FAILED_CALL": "{method} {path}: {reason}",
    "UNREADABLE": "an answer {status} that could not be read",
    "AMOUNT_TYPE": 'an amount is {accepted} such as "10.50", not a {type}',
    "AMOUNT_FORM": "an amount is digits, and a point if there are decimals",
    "AMOUNT_DIGITS": "an amount has more than 18 digits",
    "TIME_ZONE": "a datetime needs a time zone: datetime.now(timezone.utc)",
    "WEBHOOK_BODY": "the body is what was received, as bytes or text: verify it before anything parses it",
    "WEBHOOK_HEADERS": "a delivery has the headers webhook-id, webhook-timestamp and webhook-signature",
    "WEBHOOK_SIGNATURE": "no signature of this delivery is right",
    "WEBHOOK_TIME": "the delivery was not sent just now; a replay, or a clock that is wrong",
    "WEBHOOK_EVENT": "the delivery is signed, and is no event",
    "WEBHOOK_SECRET": "a signing secret is whsec_ and base64, as the answer that registered the endpoint showed it",
    "LOG_ANSWER": "{method} {path}: {status} in {ms} ms (request {id})",
    "LOG_NO_ANSWER": "{method} {path}: {reason} after {ms} ms",
    "LOG_RETRY": "{said}; retry {retry} in {ms} ms",
}
# Messages that only one language has a use for.
ONLY = {
    "LOGGER": "php",
    "BROKE_OFF": "php",
    "AMOUNT_DIGITS": "php",
    "TIME_ZONE": "python",
    "NO_CONNECTION": "python",
    "NO_THREAD": "python",
    "NO_STREAM": "python",
    "TOOK_TOO_LONG": "typescript",
    "NO_TUNNEL": "typescript",
}

# What a whole text has to match, in the syntax that the three languages have in common.
FORMS = {
    "KEY_FORM": "[!-~]+",
    "METHOD_FORM": "[A-Z]+",
    "PATH_FORM": r'/[!"$->@-\[\]-~]*',  # without ?, # and the \ that some take for /
    "HEADER_FORM": "[ -~]*",
    "REQUEST_ID_FORM": "[!-~]{1,64}",
    "IDEMPOTENCY_KEY_FORM": "[!-~]([ -~]{0,253}[!-~])?",
}

# More is a mistake of units or no number at all; what has no end here would hold a caller for ever.
LIMITS = {"RETRIES_MAX": 100, "TIMEOUT_MAX_SECONDS": 86_400}

CODES = {
    "NOTHING_DONE": ("Codes that say: nothing was done, ask again.", ["rate_limited", "overloaded", "shutting_down", "rail_unavailable", "request_timeout", "no_leader", "tenant_moving"]),
    "LASTING": ("Codes that no short wait makes better, unless the gateway says how long.", ["account_halted", "clock_stepped", "rail_not_configured", "rate_unavailable", "tenant_moved"]),
}

# What a caller may say about any call, beside an Idempotency-Key: the name, and the header or part of the policy.
OPTIONS = ["timeout", "max_retries", "request_id"]

DESCRIPTION = "Client of the payments gateway Pasarela: bolívares, pesos and USDT, in and out"
KEYWORDS = ["payments", "venezuela", "colombia", "c2p", "pago-movil"]


def plain(message: str) -> str:
    """A message in which nothing is filled in: doubled braces are braces."""
    return message.replace("{{", "{").replace("}}", "}")


def messages(language: str) -> dict[str, str]:
    return {name: text for name, text in MESSAGES.items() if ONLY.get(name, language) == language}


def blanks(message: str) -> list[str]:
    """The names of what is filled in, in order."""
    return re.findall(r"(?<!\{)\{(\w+)\}", message)


def package() -> dict[str, str]:
    """What Cargo.toml says of the whole project: version, licence, author and addresses."""
    said = tomllib.loads(CARGO.read_text())["workspace"]["package"]
    (author,) = said["authors"]
    repository = said["repository"]
    return {
        "version": said["version"],
        "license": said["license"],
        "author": author,
        "homepage": said["homepage"],
        "docs": f"{said['homepage']}/docs",
        "repository": repository,
        "issues": f"{repository}/issues",
        "changelog": f"{repository}/blob/main/CHANGELOG.md",
    }
