<?php

declare(strict_types=1);

namespace Pasarela;

/** What an answer said besides its body. */
final class ResponseInfo
{
    /**
     * @param bool $replayed the kept answer of an earlier request with the same Idempotency-Key
     * @param ?int $walSeq the sequence of the durable record, if something was written
     */
    public function __construct(
        public readonly int $status,
        public readonly ?string $requestId,
        public readonly bool $replayed,
        public readonly ?int $walSeq,
    ) {
    }
}
