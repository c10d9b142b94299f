<?php

declare(strict_types=1);

namespace Pasarela\Transport;

use Pasarela\Shared;

/** Requests by PHP's own streams, one connection each: where there is no curl. */
final class StreamTransport implements Transport
{
    private readonly ?Proxy $proxy;

    /** @param array<string, mixed> $ssl options of PHP's ssl context, such as cafile */
    public function __construct(private readonly string $baseUrl, private readonly array $ssl = [], #[\SensitiveParameter] ?string $proxy = null)
    {
        $this->proxy = Proxy::of($proxy);
    }

    public function send(string $method, string $target, #[\SensitiveParameter] array $headers, #[\SensitiveParameter] ?string $body, float $timeout): Answer
    {
        $lines = array_map(static fn (string $name, string $value): string => "{$name}: {$value}", array_keys($headers), $headers);
        $http = ['method' => $method, 'header' => [...$lines, 'connection: close'], 'timeout' => $timeout, 'protocol_version' => 1.1, 'ignore_errors' => true, 'follow_location' => 0];
        if ($body !== null || $method !== 'GET') {
            $http['content'] = $body ?? '';
            $http['header'][] = 'content-length: ' . strlen($body ?? '');
        }
        if (!isset($headers['content-type']) && isset($http['content'])) {
            $http['header'][] = 'content-type: application/json'; // PHP would say that it is a form
        }
        if ($this->proxy !== null) {
            $http['proxy'] = "tcp://{$this->proxy->address}";
            $http['request_fulluri'] = str_starts_with($this->baseUrl, 'http:'); // https goes through a tunnel
            if ($this->proxy->authorization !== '') {
                $http['header'][] = "Proxy-Authorization: {$this->proxy->authorization}";
            }
        }
        $reason = '';
        // Frameworks make exceptions of warnings: while this opens, they are read.
        set_error_handler(static function (int $_, string $message) use (&$reason): bool {
            $reason .= $message . '; ';
            return true;
        });
        // PHP says so when the connection stands, with TLS and through a proxy's tunnel: after that the request is written.
        $wasSent = false;
        $notify = static function (int $code) use (&$wasSent): void {
            $wasSent = $wasSent || $code === STREAM_NOTIFY_CONNECT;
        };
        try {
            $context = stream_context_create(['http' => $http, 'ssl' => $this->ssl], ['notification' => $notify]);
            $stream = fopen($this->baseUrl . $target, 'rb', false, $context);
        } finally {
            restore_error_handler();
        }
        if ($stream === false) {
            $reason = rtrim($reason, '; ');
            throw new NoAnswer(sprintf(Shared::NO_ANSWER, preg_replace('/^.*: /s', '', $reason)), $wasSent);
        }
        $answered = stream_get_contents($stream);
        $about = stream_get_meta_data($stream);
        fclose($stream);
        [$status, $found] = self::head($about['wrapper_data'] ?? []);
        // Streams say nothing of an answer that broke off.
        $isWhole = !isset($found['content-length']) || strlen((string) $answered) === (int) $found['content-length'];
        if ($answered === false || $about['timed_out'] || $status === 0 || !$isWhole) {
            throw new NoAnswer(sprintf(Shared::NO_ANSWER, Shared::BROKE_OFF), true);
        }
        return new Answer($status, $found, $answered);
    }

    /**
     * @param list<string> $lines
     * @return array{int, array<string, string>}
     */
    private static function head(array $lines): array
    {
        [$status, $found] = [0, []];
        foreach ($lines as $line) {
            $parts = explode(':', $line, 2);
            if (preg_match('#^HTTP/\S+ ([0-9]{3})#', $line, $match) === 1) {
                [$status, $found] = [(int) $match[1], []];
            } elseif (count($parts) === 2) {
                $found[strtolower(trim($parts[0]))] = trim($parts[1]);
            }
        }
        return [$status, $found];
    }
}
