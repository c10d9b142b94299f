<?php

declare(strict_types=1);

namespace Pasarela;

/** A call of a stream. A POST without a `$key` gets a new Idempotency-Key. */
final class StreamCall
{
    /** @param Model|array<string, mixed>|null $body */
    public function __construct(
        public readonly string $path,
        #[\SensitiveParameter] public readonly Model|array|null $body = null,
        public readonly string $method = 'POST',
        public readonly ?string $key = null,
    ) {
    }

    /** @internal */
    public function line(): string
    {
        $key = $this->key ?? ($this->method === 'POST' ? Session::uuid() : null);
        $members = ['key' => ['', $key], 'method' => ['', $this->method], 'path' => ['', $this->path]];
        $members['body'] = [is_array($this->body) ? 'o' : '', $this->body];
        return Json::body($members) . "\n";
    }

    /** @return array<string, mixed> never the body, which may have a card in it */
    public function __debugInfo(): array
    {
        return ['path' => $this->path, 'method' => $this->method, 'key' => $this->key];
    }
}
