<?php

// Written by sdks/generate from generator/shared.py.

declare(strict_types=1);

namespace Pasarela;

/**
 * Messages, forms, limits, and codes that decide on a retry.
 *
 * @internal
 */
final class Shared
{
    public const KEY = 'a key is visible ASCII, such as pk_test_…; is it empty, or is there a line feed at its end?';
    public const BASE_URL = '%s must be http or https, without user, query or fragment, such as https://pay.example';
    public const PROXY = 'a proxy is http://host:port or http://user:password@host:port';
    public const PROXY_AND_TRANSPORT = '%s carries the requests: set the proxy there';
    public const LOGGER = 'a logger has the methods info and warning, as PSR-3 has them';
    public const EMPTY_PART = 'an id or a reference is empty';
    public const DOT_PART = 'an id, a reference or a part of a path is . or ..: addresses take that for another path';
    public const METHOD = 'a method is letters, such as GET';
    public const PATH = 'a path begins with / and has no query and no space, such as /v1/balance';
    public const PARTS = 'a path has a name in braces for each of its parts, such as /v1/payments/{id}';
    public const HEADER = 'the header %s is not printable ASCII; is there a line feed in it?';
    public const TIMEOUT = 'a timeout is a number of %s above 0, at most %s';
    public const RETRIES = 'the number of retries is a whole number from 0 to %s';
    public const WAIT = '%s of a policy is a number of %s from 0 to %s';
    public const REQUEST_ID = 'a request id is 1 to 64 visible ASCII characters';
    public const IDEMPOTENCY_KEY = 'an Idempotency-Key is 1 to 255 characters of printable ASCII, without spaces at its ends';
    public const NO_IDEMPOTENCY_KEY = '%s %s takes no Idempotency-Key: a POST under /v1/ does';
    public const NO_ANSWER = 'no answer: %s';
    public const BROKE_OFF = 'it broke off, or took too long';
    public const FAILED_CALL = '%s %s: %s';
    public const UNREADABLE = 'an answer %s that could not be read';
    public const AMOUNT_TYPE = 'an amount is %s such as "10.50", not a %s';
    public const AMOUNT_FORM = 'an amount is digits, and a point if there are decimals';
    public const AMOUNT_DIGITS = 'an amount has more than 18 digits';
    public const WEBHOOK_BODY = 'the body is what was received, as bytes or text: verify it before anything parses it';
    public const WEBHOOK_HEADERS = 'a delivery has the headers webhook-id, webhook-timestamp and webhook-signature';
    public const WEBHOOK_SIGNATURE = 'no signature of this delivery is right';
    public const WEBHOOK_TIME = 'the delivery was not sent just now; a replay, or a clock that is wrong';
    public const WEBHOOK_EVENT = 'the delivery is signed, and is no event';
    public const WEBHOOK_SECRET = 'a signing secret is whsec_ and base64, as the answer that registered the endpoint showed it';
    public const LOG_ANSWER = '%s %s: %s in %s ms (request %s)';
    public const LOG_NO_ANSWER = '%s %s: %s after %s ms';
    public const LOG_RETRY = '%s; retry %s in %s ms';
    /** What a whole text has to match, as preg_match takes it. */
    public const KEY_FORM = '#^(?:[!-~]+)$#D';
    public const METHOD_FORM = '#^(?:[A-Z]+)$#D';
    public const PATH_FORM = '#^(?:/[!"$->@-\\[\\]-~]*)$#D';
    public const HEADER_FORM = '#^(?:[ -~]*)$#D';
    public const REQUEST_ID_FORM = '#^(?:[!-~]{1,64})$#D';
    public const IDEMPOTENCY_KEY_FORM = '#^(?:[!-~]([ -~]{0,253}[!-~])?)$#D';
    public const RETRIES_MAX = 100;
    public const TIMEOUT_MAX_SECONDS = 86400;
    /** Codes that say: nothing was done, ask again. */
    public const NOTHING_DONE = ['rate_limited', 'overloaded', 'shutting_down', 'rail_unavailable', 'request_timeout', 'no_leader', 'tenant_moving'];
    /** Codes that no short wait makes better, unless the gateway says how long. */
    public const LASTING = ['account_halted', 'clock_stepped', 'rail_not_configured', 'rate_unavailable', 'tenant_moved'];
}
