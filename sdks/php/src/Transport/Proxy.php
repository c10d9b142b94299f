<?php

declare(strict_types=1);

namespace Pasarela\Transport;

use Pasarela\Shared;

/**
 * Where a proxy is, and what it wants to know of its user.
 *
 * @internal
 */
final class Proxy
{
    private function __construct(public readonly string $address, #[\SensitiveParameter] public readonly string $authorization)
    {
    }

    public static function of(#[\SensitiveParameter] ?string $url): ?self
    {
        if ($url === null) {
            return null;
        }
        $parts = parse_url($url) ?: [];
        if (($parts['scheme'] ?? '') !== 'http' || ($parts['host'] ?? '') === '' || trim($parts['path'] ?? '', '/') !== '' || isset($parts['query']) || isset($parts['fragment'])) {
            throw new \InvalidArgumentException(Shared::PROXY);
        }
        $user = isset($parts['user']) ? rawurldecode($parts['user']) . ':' . rawurldecode($parts['pass'] ?? '') : '';
        return new self($parts['host'] . ':' . ($parts['port'] ?? 80), $user === '' ? '' : 'Basic ' . base64_encode($user));
    }

    /** @return array<string, mixed> never the password */
    public function __debugInfo(): array
    {
        return ['address' => $this->address];
    }
}
