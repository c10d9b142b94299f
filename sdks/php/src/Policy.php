<?php

declare(strict_types=1);

namespace Pasarela;

/**
 * When a request is sent again, and after how long. Pure: what happened goes in, a wait comes out. A request is repeated
 * only where that cannot move money twice: because nothing was done the first time, or because doing it again is the
 * same (a read, a POST under an Idempotency-Key, a PUT).
 */
final class Policy
{
    /** @param int $longestRetryAfter beyond it the caller decides: the exception says `retryAfter` */
    public function __construct(
        public readonly int $maxRetries = 2,
        public readonly float $firstWait = 0.5,
        public readonly float $longestWait = 8.0,
        public readonly int $longestRetryAfter = 30,
    ) {
    }

    /** This policy with another number of retries, if one is given. */
    public function withMaxRetries(?int $maxRetries): self
    {
        return $maxRetries === null ? $this : new self($maxRetries, $this->firstWait, $this->longestWait, $this->longestRetryAfter);
    }

    /** Seconds to wait before the next try, after `$tries` of them; null when the outcome stands. `$chance` is 0 to 1. */
    public function wait(int $tries, Outcome $outcome, bool $repeatable, float $chance): ?float
    {
        if ($tries > $this->maxRetries || !self::worthRepeating($outcome, $repeatable)) {
            return null;
        }
        if ($outcome->retryAfter !== null && $outcome->retryAfter > $this->longestRetryAfter) {
            return null;
        }
        // Half of the wait is by chance, so that many clients do not come back at once.
        $wait = min($this->longestWait, $this->firstWait * 2 ** ($tries - 1)) * (0.5 + $chance / 2);
        return max($wait, (float) ($outcome->retryAfter ?? 0));
    }

    /** Whether a request may be sent again, and whether that helps. */
    public static function worthRepeating(Outcome $outcome, bool $repeatable): bool
    {
        return match (true) {
            $outcome->status === null => $repeatable || !$outcome->wasSent,
            in_array($outcome->error, Shared::NOTHING_DONE, true), $outcome->status === 429 => true,
            // The first request with this key is under way.
            $outcome->status === 409 => $repeatable && $outcome->error === 'idempotency_in_progress',
            $outcome->status === 503 && in_array($outcome->error, Shared::LASTING, true) => $repeatable && $outcome->retryAfter !== null,
            default => $repeatable && in_array($outcome->status, [500, 502, 503, 504], true),
        };
    }
}
