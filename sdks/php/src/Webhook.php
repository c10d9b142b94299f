<?php

declare(strict_types=1);

namespace Pasarela;

use Pasarela\Exception\SignatureException;

/** Deliveries of events: whether they are from the gateway, of now, and unchanged. As Standard Webhooks signs them. */
final class Webhook
{
    public const TOLERANCE_SECONDS = 300;

    /**
     * The event of a delivery, or SignatureException. `$body` is what was received, byte for byte:
     * `file_get_contents('php://input')`. `$headers` are `getallheaders()` or `$_SERVER`. While a secret is being changed
     * give both. What was sent more than `$tolerance` seconds ago, or ahead, is refused as a replay. `$timestamped` names
     * the header of an endpoint's own signature, such as `Svc-Signature`, where that is to be verified instead of
     * `webhook-signature`: the endpoint's `signature` is then `timestamped`.
     *
     * @param array<string, mixed> $headers
     * @param string|list<string> $secret
     */
    public static function verify(
        string $body,
        array $headers,
        #[\SensitiveParameter] string|array $secret,
        int $tolerance = self::TOLERANCE_SECONDS,
        ?int $now = null,
        ?string $timestamped = null,
    ): WebhookEvent {
        [$id, $sentAt, $signatures] = array_map(static fn (string $name): string => self::header($headers, $name), ['webhook-id', 'webhook-timestamp', 'webhook-signature']);
        $sent = explode(' ', $signatures);
        if ($timestamped !== null) {
            $sent = explode(',', self::header($headers, strtolower($timestamped)));
            $sentAt = (string) preg_replace('/^t=/', '', (string) array_shift($sent));
        }
        if ($id === '' || preg_match('/^[0-9]{1,15}$/D', $sentAt) !== 1) {
            throw new SignatureException(Shared::WEBHOOK_HEADERS);
        }
        $isRight = false;
        // Every pair is compared, each in constant time: how long it takes says nothing.
        foreach ((array) $secret as $one) {
            $right = $timestamped === null ? self::standard($one, $id, $sentAt, $body) : self::timestamped($one, $sentAt, $body);
            foreach ($sent as $signature) {
                $isRight = hash_equals($right, $signature) || $isRight;
            }
        }
        if (!$isRight) {
            throw new SignatureException(Shared::WEBHOOK_SIGNATURE);
        }
        if (abs(($now ?? time()) - (int) $sentAt) > $tolerance) {
            throw new SignatureException(Shared::WEBHOOK_TIME);
        }
        return self::event($id, $body);
    }

    /**
     * The headers of a delivery as the gateway would sign it now: for the tests of a program that receives webhooks.
     * `$body` is an event: `{"event": "payment.completed", "data": {…}, "timestamp": "2026-01-01T00:00:00.000Z"}`. `$sentAt`
     * is in seconds since 1970. `$timestamped` names the header of an endpoint whose `signature` is `timestamped`.
     *
     * @return array<string, string>
     */
    public static function sign(string $body, #[\SensitiveParameter] string $secret, string $id = 'evt_test', ?int $sentAt = null, ?string $timestamped = null): array
    {
        $at = (string) ($sentAt ?? time());
        $headers = ['webhook-id' => $id, 'webhook-timestamp' => $at, 'webhook-signature' => self::standard($secret, $id, $at, $body)];
        return $timestamped === null ? $headers : $headers + [strtolower($timestamped) => "t={$at}," . self::timestamped($secret, $at, $body)];
    }

    private static function standard(#[\SensitiveParameter] string $secret, string $id, string $sentAt, string $body): string
    {
        return 'v1,' . base64_encode(hash_hmac('sha256', "{$id}.{$sentAt}.{$body}", self::keyOf($secret), true));
    }

    private static function timestamped(#[\SensitiveParameter] string $secret, string $sentAt, string $body): string
    {
        self::keyOf($secret); // here the whole text of a secret is the key; one that is none is refused all the same
        return 'v1=' . hash_hmac('sha256', "{$sentAt}.{$body}", $secret);
    }

    private static function event(string $id, string $body): WebhookEvent
    {
        try {
            $read = Json::read($body);
        } catch (\JsonException $failure) {
            throw new SignatureException(Shared::WEBHOOK_EVENT, 0, $failure);
        }
        if (!is_array($read) || !is_string($read['event'] ?? null) || !is_array($read['data'] ?? null) || !is_string($read['timestamp'] ?? null)) {
            throw new SignatureException(Shared::WEBHOOK_EVENT);
        }
        return new WebhookEvent($id, $read['event'], $read['data'], $read['timestamp']);
    }

    /** @param array<string, mixed> $headers */
    private static function header(array $headers, string $wanted): string
    {
        foreach ($headers as $name => $value) {
            $plain = preg_replace('/^http-/', '', str_replace('_', '-', strtolower((string) $name)));
            if ($plain === $wanted) {
                return is_array($value) ? implode(' ', $value) : (string) $value;
            }
        }
        return '';
    }

    /** The key in `whsec_…`. */
    private static function keyOf(#[\SensitiveParameter] string $secret): string
    {
        $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
        if ($key === false || $key === '') {
            throw new \InvalidArgumentException(Shared::WEBHOOK_SECRET);
        }
        return $key;
    }
}
