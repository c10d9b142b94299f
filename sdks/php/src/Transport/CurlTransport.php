<?php

declare(strict_types=1);

namespace Pasarela\Transport;

use Pasarela\Shared;

/** Requests by curl, over connections that are kept. */
final class CurlTransport implements Transport
{
    /** What fails before anything was sent: the name, the connection, TLS. */
    private const NOT_SENT = [CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_PEER_CERTIFICATE, CURLE_SSL_CACERT_BADFILE];

    private ?\CurlHandle $handle = null;

    private readonly ?Proxy $proxy;

    /** @param array<int, mixed> $options of curl, such as CURLOPT_CAINFO */
    public function __construct(private readonly string $baseUrl, private readonly array $options = [], #[\SensitiveParameter] ?string $proxy = null)
    {
        $this->proxy = Proxy::of($proxy);
    }

    public function send(string $method, string $target, #[\SensitiveParameter] array $headers, #[\SensitiveParameter] ?string $body, float $timeout): Answer
    {
        $headers += ['content-type' => '', 'expect' => '']; // what curl would add by itself
        $this->handle ??= curl_init();
        curl_reset($this->handle);
        $found = [];
        curl_setopt_array($this->handle, $this->options + [
            CURLOPT_URL => $this->baseUrl . $target,
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => array_map(static fn (string $name, string $value): string => "{$name}:" . ($value === '' ? '' : " {$value}"), array_keys($headers), $headers),
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_PATH_AS_IS => true,
            CURLOPT_TIMEOUT_MS => max(1, (int) ($timeout * 1000)), // 0 would wait for ever
            CURLOPT_MAXAGE_CONN => 45, // the server closes idle ones after 75 s
            CURLOPT_HEADERFUNCTION => static function (\CurlHandle $_, string $line) use (&$found): int {
                $parts = explode(':', $line, 2);
                if (count($parts) === 2) {
                    $found[strtolower(trim($parts[0]))] = trim($parts[1]);
                }
                return strlen($line);
            },
        ]);
        if ($this->proxy !== null) {
            $who = $this->proxy->authorization === '' ? [] : ["Proxy-Authorization: {$this->proxy->authorization}"];
            curl_setopt_array($this->handle, [CURLOPT_PROXY => "http://{$this->proxy->address}", CURLOPT_PROXYHEADER => $who, CURLOPT_HEADEROPT => CURLHEADER_SEPARATE]);
        }
        if ($body !== null || $method !== 'GET') {
            curl_setopt($this->handle, CURLOPT_POSTFIELDS, $body ?? '');
        }
        $answered = curl_exec($this->handle);
        if (!is_string($answered)) {
            $code = curl_errno($this->handle);
            $hasConnected = $code !== CURLE_OPERATION_TIMEDOUT || curl_getinfo($this->handle, CURLINFO_PRETRANSFER_TIME) > 0;
            $hasConnected = $hasConnected && in_array(curl_getinfo($this->handle, CURLINFO_HTTP_CONNECTCODE), [0, 200], true); // a proxy that opened no tunnel
            throw new NoAnswer(sprintf(Shared::NO_ANSWER, curl_error($this->handle)), !in_array($code, self::NOT_SENT, true) && $hasConnected);
        }
        return new Answer(curl_getinfo($this->handle, CURLINFO_RESPONSE_CODE), $found, $answered);
    }
}
