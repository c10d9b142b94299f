// Messages, and codes that decide on a retry. Written by sdks/generate from generator/shared.py.

export const KEY = 'a key is visible ASCII, such as pk_test_…; is there a line feed at its end?';
export const BASE_URL = (name: string | number): string => `${name} must be http or https, without user, query or fragment, such as https://pay.example`;
export const PROXY = 'a proxy is http://host:port or http://user:password@host:port';
export const PROXY_AND_TRANSPORT = (name: string | number): string => `${name} carries the requests: set the proxy there`;
export const EMPTY_PART = 'an id or a reference is empty';
export const PATH = 'a path begins with / and has no query and no space, such as /v1/balance';
export const NO_ANSWER = (reason: string | number): string => `no answer: ${reason}`;
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

/** Codes that say: nothing was done, ask again. */
export const NOTHING_DONE: ReadonlySet<string> = new Set(['rate_limited', 'overloaded', 'shutting_down', 'rail_unavailable', 'request_timeout', 'no_leader']);

/** Codes that no short wait makes better, unless the gateway says how long. */
export const LASTING: ReadonlySet<string> = new Set(['account_halted', 'clock_stepped', 'rail_not_configured', 'rate_unavailable', 'tenant_moved']);
