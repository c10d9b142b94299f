<?php

declare(strict_types=1);

namespace Pasarela;

/**
 * A verified delivery. `id` is the same on every delivery of one event: do what it asks once per id. `data` says how
 * things stood when it happened; `model()` is the same as an object: a `Model\Payment`, a `Model\CopPaymentEvent`, …
 */
final class WebhookEvent
{
    /** @param array<string, mixed> $data whole numbers are int, others strings as they were written */
    public function __construct(
        public readonly string $id,
        public readonly string $event,
        public readonly array $data,
        public readonly string $timestamp,
    ) {
    }

    /** The data as an object; null of an event that this version does not know. */
    public function model(): ?Model
    {
        $kind = Model\EventData::KINDS[$this->event] ?? null;
        return $kind === null ? null : Json::decode($kind, $this->data);
    }
}
