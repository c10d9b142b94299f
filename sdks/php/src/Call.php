<?php

declare(strict_types=1);

namespace Pasarela;

/**
 * One call as the generated methods say it.
 *
 * @internal
 */
final class Call
{
    /**
     * @param string $path with a name in braces for each of `$parts`
     * @param list<string> $parts
     * @param array<string, mixed> $query
     * @param array<string, ?string> $headers
     * @param ?array<string, array{string, mixed}> $body members with kinds: see Json
     * @param bool $keyed takes an Idempotency-Key, and gets one
     * @param ?string $secret a session's client secret, where that opens the call
     * @param bool $dryRun nothing is done: the answer shows what the call would do
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly array $parts = [],
        public readonly array $query = [],
        public readonly array $headers = [],
        #[\SensitiveParameter] public readonly ?array $body = null,
        public readonly bool $keyed = false,
        public readonly ?string $idempotencyKey = null,
        #[\SensitiveParameter] public readonly ?string $secret = null,
        public readonly bool $usesKey = true,
        public readonly string $accept = 'application/json',
        public readonly ?float $timeout = null,
        public readonly ?int $maxRetries = null,
        public readonly ?string $requestId = null,
        public readonly bool $dryRun = false,
    ) {
    }

    /**
     * A call that no generated method makes. Every POST under /v1 takes an Idempotency-Key.
     *
     * @param list<string> $parts
     * @param ?array<string, mixed> $body
     * @param array<string, mixed> $query
     */
    public static function raw(
        string $method,
        string $path,
        array $parts,
        #[\SensitiveParameter] ?array $body,
        array $query,
        string $accept,
        ?string $idempotencyKey,
        ?float $timeout,
        ?int $maxRetries,
        ?string $requestId,
        bool $dryRun,
    ): self {
        $method = strtoupper($method);
        Checks::require(preg_match(Shared::METHOD_FORM, $method) === 1, Shared::METHOD);
        Checks::require(preg_match(Shared::PATH_FORM, $path) === 1, Shared::PATH);
        $members = $body === null ? null : array_map(static fn (mixed $value): array => ['', $value], $body);
        $keyed = $method === 'POST' && str_starts_with($path, '/v1/');
        return new self($method, $path, $parts, $query, [], $members, $keyed, $idempotencyKey, null, true, $accept, $timeout, $maxRetries, $requestId, $dryRun);
    }

    /** The path with its parts and its query. */
    public function target(string $cursor = ''): string
    {
        Checks::require(!in_array('', $this->parts, true), Shared::EMPTY_PART);
        $path = $this->path;
        foreach ($this->parts as $part) {
            $path = preg_replace('/\{\w+\}/', rawurlencode($part), $path, 1, $count);
            Checks::require($count === 1, Shared::PARTS);
        }
        Checks::path($path);
        $given = array_filter($this->query, static fn (mixed $value): bool => $value !== null);
        $texts = array_map(static fn (mixed $value): string => match (true) {
            is_bool($value) => $value ? 'true' : 'false',
            $value instanceof \DateTimeInterface => Json::instant($value),
            is_float($value) => Money::exact($value),
            default => (string) $value,
        }, $given);
        $query = http_build_query($cursor === '' ? $texts : ['cursor' => $cursor] + $texts, '', '&', PHP_QUERY_RFC3986);
        return $query === '' ? $path : $path . '?' . $query;
    }

    /** @return array<string, mixed> never the body, the query or a secret */
    public function __debugInfo(): array
    {
        return ['method' => $this->method, 'path' => $this->path];
    }
}
