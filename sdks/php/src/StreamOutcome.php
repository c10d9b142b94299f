<?php

declare(strict_types=1);

namespace Pasarela;

use Pasarela\Exception\ApiException;
use Pasarela\Transport\Answer;

/** What became of a call of a stream: status and body as its own answer would have them. */
final class StreamOutcome
{
    /**
     * @param int $line the number of the call, from 1
     * @param mixed $body JSON in which numbers with decimals are strings
     */
    public function __construct(
        public readonly int $line,
        public readonly ?string $key,
        public readonly int $status,
        public readonly bool $replayed,
        public readonly ?int $walSeq,
        public readonly mixed $body,
    ) {
    }

    /** The exception that a call of its own would throw; null if it was not refused. */
    public function error(): ?ApiException
    {
        return $this->status < 400 ? null : ApiException::of(new Answer($this->status, [], (string) json_encode($this->body)), $this->key);
    }
}
