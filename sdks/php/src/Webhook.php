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
            throw new SignatureException('a delivery has the headers webhook-id, webhook-timestamp and webhook-signature');
        }
        $isRight = false;
        // Every pair is compared, each in constant time: how long it takes says nothing.
        foreach ((array) $secret as $one) {
            $key = self::keyOf($one);
            $right = $timestamped === null
                ? 'v1,' . base64_encode(hash_hmac('sha256', "{$id}.{$sentAt}.{$body}", $key, true))
                // Here the whole text of the secret is the key.
                : 'v1=' . hash_hmac('sha256', "{$sentAt}.{$body}", $one);
            foreach ($sent as $signature) {
                $isRight = hash_equals($right, $signature) || $isRight;
            }
        }
        if (!$isRight) {
            throw new SignatureException('no signature of this delivery is right');
        }
        if (abs(($now ?? time()) - (int) $sentAt) > $tolerance) {
            throw new SignatureException('the delivery was not sent just now; a replay, or a clock that is wrong');
        }
        return self::event($id, $body);
    }

    private static function event(string $id, string $body): WebhookEvent
    {
        try {
            $read = Json::read($body);
        } catch (\JsonException $failure) {
            throw new SignatureException('the delivery is signed, and is no event', 0, $failure);
        }
        if (!is_array($read) || !is_string($read['event'] ?? null) || !is_array($read['data'] ?? null) || !is_string($read['timestamp'] ?? null)) {
            throw new SignatureException('the delivery is signed, and is no event');
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
            throw new \InvalidArgumentException('a signing secret is whsec_ and base64, as the answer that registered the endpoint showed it');
        }
        return $key;
    }
}
