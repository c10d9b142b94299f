<?php

declare(strict_types=1);

namespace Pasarela;

/** What became of one try of a request. */
final class Outcome
{
    /**
     * @param ?int $status null: no whole answer came
     * @param bool $wasSent whether the gateway may have got it
     */
    public function __construct(
        public readonly ?int $status = null,
        public readonly string $error = '',
        public readonly ?int $retryAfter = null,
        public readonly bool $wasSent = true,
    ) {
    }
}
