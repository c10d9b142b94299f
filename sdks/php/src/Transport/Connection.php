<?php

declare(strict_types=1);

namespace Pasarela\Transport;

use Pasarela\Exception\ApiException;
use Pasarela\Shared;

/**
 * A connection of a stream: a POST whose body is sent in chunks while lines of its answer are read.
 *
 * @internal
 */
final class Connection
{
    /** The longest that a turn waits. */
    private const LOOK_MICROSECONDS = 500_000;

    private string $raw = '';
    private string $text = '';
    private bool $isBegun = false;

    /** @param resource $socket */
    private function __construct(private $socket, private string $head)
    {
        stream_set_blocking($socket, false);
    }

    /**
     * @param array<string, string> $headers
     * @param array<string, mixed> $ssl options of PHP's ssl context, such as cafile
     */
    public static function open(string $baseUrl, string $target, #[\SensitiveParameter] array $headers, ?Proxy $proxy, array $ssl, float $timeout): self
    {
        $address = parse_url($baseUrl);
        $isSecure = $address['scheme'] === 'https';
        $port = $address['port'] ?? ($isSecure ? 443 : 80);
        $host = $address['host'] . (isset($address['port']) ? ":{$port}" : '');
        $target = ($address['path'] ?? '') . $target;
        $context = stream_context_create(['ssl' => $ssl + ['peer_name' => trim($address['host'], '[]')]]);
        $reason = '';
        // Frameworks make exceptions of warnings: while this opens, they are read.
        set_error_handler(static function (int $_, string $message) use (&$reason): bool {
            $reason = preg_replace('/^.*: /s', '', $message);
            return true;
        });
        try {
            $socket = stream_socket_client('tcp://' . ($proxy->address ?? "{$address['host']}:{$port}"), $code, $said, $timeout, STREAM_CLIENT_CONNECT, $context);
            if ($socket !== false) {
                stream_set_timeout($socket, (int) ceil($timeout));
            }
            if ($socket !== false && $proxy !== null && $isSecure && !self::tunnel($socket, "{$address['host']}:{$port}", $proxy)) {
                [$socket, $reason] = [false, Shared::BROKE_OFF];
            }
            if ($socket !== false && $isSecure && stream_socket_enable_crypto($socket, true, STREAM_CRYPTO_METHOD_TLS_CLIENT) !== true) {
                $socket = false;
            }
        } finally {
            restore_error_handler();
        }
        if ($socket === false) {
            throw new NoAnswer(sprintf(Shared::NO_ANSWER, $reason ?: Shared::BROKE_OFF), false);
        }
        if ($proxy !== null && !$isSecure) {
            $target = "http://{$host}{$target}";
            $headers += $proxy->authorization === '' ? [] : ['proxy-authorization' => $proxy->authorization];
        }
        $head = "POST {$target} HTTP/1.1\r\nhost: {$host}\r\ntransfer-encoding: chunked\r\n";
        foreach ($headers as $name => $value) {
            $head .= "{$name}: {$value}\r\n";
        }
        return new self($socket, "{$head}\r\n");
    }

    /** @param resource $socket */
    private static function tunnel($socket, string $target, Proxy $proxy): bool
    {
        $who = $proxy->authorization === '' ? '' : "proxy-authorization: {$proxy->authorization}\r\n";
        fwrite($socket, "CONNECT {$target} HTTP/1.1\r\nhost: {$target}\r\n{$who}\r\n");
        $first = (string) fgets($socket);
        while (trim((string) fgets($socket)) !== '') {
        }
        return preg_match('#^HTTP/1\.[01] 200#', $first) === 1;
    }

    /** Waits a moment until something can be read or sent; how much of what is to be sent was. */
    public function turn(string $out): int
    {
        $all = $this->head . $out;
        [$read, $write, $except] = [[$this->socket], $all === '' ? [] : [$this->socket], null];
        @stream_select($read, $write, $except, 0, self::LOOK_MICROSECONDS);
        $sent = $all === '' ? 0 : @fwrite($this->socket, $all);
        if ($sent === false) {
            throw new NoAnswer(sprintf(Shared::NO_ANSWER, Shared::BROKE_OFF), true);
        }
        $ofHead = min($sent, strlen($this->head));
        $this->head = substr($this->head, $ofHead);
        return $sent - $ofHead;
    }

    /** @return \Generator<int, string> the lines that have come */
    public function lines(): \Generator
    {
        $data = @fread($this->socket, 65536);
        if (($data === '' || $data === false) && feof($this->socket)) {
            throw new NoAnswer(sprintf(Shared::NO_ANSWER, Shared::BROKE_OFF), true);
        }
        $this->raw .= (string) $data;
        if (!$this->isBegun && !$this->readHead()) {
            return;
        }
        while (preg_match('/^([0-9a-fA-F]+)[^\r\n]*\r\n/', $this->raw, $found) === 1) {
            [$from, $length] = [strlen($found[0]), (int) hexdec($found[1])];
            if (strlen($this->raw) < $from + $length + 2) {
                break;
            }
            $this->text .= substr($this->raw, $from, $length);
            $this->raw = substr($this->raw, $from + $length + 2);
            if ($length === 0) {
                break;
            }
        }
        $lines = explode("\n", $this->text);
        $this->text = (string) array_pop($lines);
        yield from $lines;
    }

    private function readHead(): bool
    {
        $end = strpos($this->raw, "\r\n\r\n");
        if ($end === false) {
            return false;
        }
        $lines = explode("\r\n", substr($this->raw, 0, $end));
        $status = (int) (explode(' ', $lines[0])[1] ?? 0);
        if ($status === 200) {
            $this->isBegun = true;
            $this->raw = substr($this->raw, $end + 4);
            return true;
        }
        $headers = [];
        foreach (array_slice($lines, 1) as $line) {
            [$name, $value] = [...explode(':', $line, 2), ''];
            $headers[strtolower(trim($name))] = trim($value);
        }
        $body = substr($this->raw, $end + 4);
        if (strlen($body) < (int) ($headers['content-length'] ?? 0)) {
            return false;
        }
        $refused = ApiException::of(new Answer($status, $headers, $body), null);
        throw $status >= 500 || $status === 408 || $status === 429 ? new NoAnswer($refused->getMessage(), true) : $refused;
    }

    public function close(): void
    {
        if (is_resource($this->socket)) {
            fclose($this->socket);
        }
    }
}
