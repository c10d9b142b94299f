<?php

declare(strict_types=1);

namespace Pasarela\Transport;

/** An answer as it came. */
final class Answer
{
    /** @param array<string, string> $headers names in lower case */
    public function __construct(public readonly int $status, public readonly array $headers, public readonly string $body)
    {
    }
}
