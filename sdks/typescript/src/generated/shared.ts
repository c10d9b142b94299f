// Messages, forms, limits, and codes that decide on a retry. Written by sdks/generate from generator/shared.py.

export const KEY = 'a key is visible ASCII, such as pk_test_…; is it empty, or is there a line feed at its end?';
export const BASE_URL = (name: string | number): string => `${name} must be http or https, without user, query or fragment, such as https://pay.example`;
export const PROXY = 'a proxy is http://host:port or http://user:password@host:port';
export const PROXY_AND_TRANSPORT = (name: string | number): string => `${name} carries the requests: set the proxy there`;
export const EMPTY_PART = 'an id or a reference is empty';
export const DOT_PART = 'an id, a reference or a part of a path is . or ..: addresses take that for another path';
export const METHOD = 'a method is letters, such as GET';
export const PATH = 'a path begins with / and has no query and no space, such as /v1/balance';
export const PARTS = 'a path has a name in braces for each of its parts, such as /v1/payments/{id}';
export const HEADER = (name: string | number): string => `the header ${name} is not printable ASCII; is there a line feed in it?`;
export const TIMEOUT = (unit: string | number, max: string | number): string => `a timeout is a number of ${unit} above 0, at most ${max}`;
export const RETRIES = (max: string | number): string => `the number of retries is a whole number from 0 to ${max}`;
export const WAIT = (name: string | number, unit: string | number, max: string | number): string => `${name} of a policy is a number of ${unit} from 0 to ${max}`;
export const REQUEST_ID = 'a request id is 1 to 64 visible ASCII characters';
export const IDEMPOTENCY_KEY = 'an Idempotency-Key is 1 to 255 characters of printable ASCII, without spaces at its ends';
export const NO_IDEMPOTENCY_KEY = (method: string | number, path: string | number): string => `${method} ${path} takes no Idempotency-Key: a POST under /v1/ does`;
export const NO_ANSWER = (reason: string | number): string => `no answer: ${reason}`;
export const TOOK_TOO_LONG = 'it took too long';
export const NO_TUNNEL = (reason: string | number): string => `the proxy opened no tunnel: ${reason}`;
export const FAILED_CALL = (method: string | number, path: string | number, reason: string | number): string => `${method} ${path}: ${reason}`;
export const UNREADABLE = (status: string | number): string => `an answer ${status} that could not be read`;
export const AMOUNT_TYPE = (accepted: string | number, type: string | number): string => `an amount is ${accepted} such as "10.50", not a ${type}`;
export const AMOUNT_FORM = 'an amount is digits, and a point if there are decimals';
export const WEBHOOK_BODY = 'the body is what was received, as bytes or text: verify it before anything parses it';
export const WEBHOOK_HEADERS = 'a delivery has the headers webhook-id, webhook-timestamp and webhook-signature';
export const WEBHOOK_SIGNATURE = 'no signature of this delivery is right';
export const WEBHOOK_TIME = 'the delivery was not sent just now; a replay, or a clock that is wrong';
export const WEBHOOK_EVENT = 'the delivery is signed, and is no event';
export const WEBHOOK_SECRET = 'a signing secret is whsec_ and base64, as the answer that registered the endpoint showed it';
export const LOG_ANSWER = (method: string | number, path: string | number, status: string | number, ms: string | number, id: string | number): string => `${method} ${path}: ${status} in ${ms} ms (request ${id})`;
export const LOG_NO_ANSWER = (method: string | number, path: string | number, reason: string | number, ms: string | number): string => `${method} ${path}: ${reason} after ${ms} ms`;
export const LOG_RETRY = (said: string | number, retry: string | number, ms: string | number): string => `${said}; retry ${retry} in ${ms} ms`;

/** What a whole text has to match. */
export const KEY_FORM = /^(?:[!-~]+)$/;
export const METHOD_FORM = /^(?:[A-Z]+)$/;
export const PATH_FORM = /^(?:\/[!"$->@-\[\]-~]*)$/;
export const HEADER_FORM = /^(?:[ -~]*)$/;
export const REQUEST_ID_FORM = /^(?:[!-~]{1,64})$/;
export const IDEMPOTENCY_KEY_FORM = /^(?:[!-~]([ -~]{0,253}[!-~])?)$/;

export const RETRIES_MAX = 100;
export const TIMEOUT_MAX_SECONDS = 86400;

/** Codes that say: nothing was done, ask again. */
export const NOTHING_DONE: ReadonlySet<string> = new Set(['rate_limited', 'overloaded', 'shutting_down', 'rail_unavailable', 'request_timeout', 'no_leader', 'tenant_moving']);

/** Codes that no short wait makes better, unless the gateway says how long. */
export const LASTING: ReadonlySet<string> = new Set(['account_halted', 'clock_stepped', 'rail_not_configured', 'rate_unavailable', 'tenant_moved']);
