<?php

declare(strict_types=1);

namespace Pasarela;

/**
 * What a caller sets, checked once and before anything is sent: what is wrong here would be a lost answer later, or a wait
 * without an end.
 *
 * @internal
 */
final class Checks
{
    public static function key(#[\SensitiveParameter] string $key): void
    {
        self::require(preg_match(Shared::KEY_FORM, $key) === 1, Shared::KEY);
    }

    public static function timeout(float $timeout): void
    {
        $isTimeout = $timeout > 0 && $timeout <= Shared::TIMEOUT_MAX_SECONDS; // NaN is neither
        self::require($isTimeout, Shared::TIMEOUT, 'seconds', Shared::TIMEOUT_MAX_SECONDS);
    }

    public static function retries(int $retries): void
    {
        self::require($retries >= 0 && $retries <= Shared::RETRIES_MAX, Shared::RETRIES, Shared::RETRIES_MAX);
    }

    public static function policy(Policy $policy): void
    {
        self::retries($policy->maxRetries);
        foreach (['firstWait' => $policy->firstWait, 'longestWait' => $policy->longestWait, 'longestRetryAfter' => $policy->longestRetryAfter] as $name => $wait) {
            self::require($wait >= 0 && $wait <= Shared::TIMEOUT_MAX_SECONDS, Shared::WAIT, $name, 'seconds', Shared::TIMEOUT_MAX_SECONDS);
        }
    }

    /** What a caller may say about a call. */
    public static function call(Call $call): void
    {
        if ($call->timeout !== null) {
            self::timeout($call->timeout);
        }
        if ($call->maxRetries !== null) {
            self::retries($call->maxRetries);
        }
        self::require($call->requestId === null || preg_match(Shared::REQUEST_ID_FORM, $call->requestId) === 1, Shared::REQUEST_ID);
        if ($call->idempotencyKey !== null) {
            // It would be sent for nothing, or not at all, and taken for a promise.
            self::require($call->keyed, Shared::NO_IDEMPOTENCY_KEY, $call->method, $call->path);
            self::require(preg_match(Shared::IDEMPOTENCY_KEY_FORM, $call->idempotencyKey) === 1, Shared::IDEMPOTENCY_KEY);
        }
    }

    /**
     * A line feed would begin another header. The message names the header and not what is in it, which may be a secret.
     *
     * @param array<string, string> $headers
     */
    public static function headers(#[\SensitiveParameter] array $headers): void
    {
        foreach ($headers as $name => $value) {
            self::require(preg_match(Shared::HEADER_FORM, $value) === 1, Shared::HEADER, $name);
        }
    }

    /** A finished path, which is all of its parts: curl would take a dot for a folder, and another object would be read. */
    public static function path(string $path): void
    {
        self::require(strpbrk($path, '{}') === false, Shared::PARTS);
        $parts = explode('/', str_ireplace('%2e', '.', $path));
        self::require(!in_array('.', $parts, true) && !in_array('..', $parts, true), Shared::DOT_PART);
    }

    public static function require(bool $isRight, string $message, string|int ...$blanks): void
    {
        if (!$isRight) {
            throw new \InvalidArgumentException($blanks === [] ? $message : sprintf($message, ...$blanks));
        }
    }
}
