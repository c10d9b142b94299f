<?php

declare(strict_types=1);

namespace Pasarela;

/**
 * A verified delivery. `id` is the same on every delivery of one event: do what it asks once per id. `data` says how
 * things stood when it happened; `Model\Payment::fromArray($event->data)` makes an object of it.
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
}
