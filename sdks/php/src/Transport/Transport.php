<?php

declare(strict_types=1);

namespace Pasarela\Transport;

/** What carries requests. Bring your own to use another HTTP client, or to test without a server. */
interface Transport
{
    /**
     * The answer, whatever its status; redirects are not followed.
     *
     * @param string $target the path with its query
     * @param array<string, string> $headers
     * @throws NoAnswer
     */
    public function send(string $method, string $target, #[\SensitiveParameter] array $headers, #[\SensitiveParameter] ?string $body, float $timeout): Answer;
}
