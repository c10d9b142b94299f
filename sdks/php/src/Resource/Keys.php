<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Session;

/**
 * The account's own API keys, in the mode of the key that asks. A key is shown once, in the answer that makes it;
 * what is kept is its SHA-256.
 */
final class Keys
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * Make a key.
     *
     * It may do what its maker may, and nothing else. Without `scopes` it may all of that but `keys`. With a
     * `mandate` it takes out no more than that says.
     *
     * Needs the scope `keys`.
     *
     * @param ?string $name What people call it.
     * @param list<'read'|'collect'|'payout'|'convert'|'manage'|'keys'>|null $scopes What it may do.
     * @param string|\DateTimeInterface|null $expiresAt In the future; never if missing.
     * @return ($dryRun is true ? Model\DryRun : Model\MadeKey)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error`
     *     `too_many_attempts`, `too_many_keys`
     */
    public function create(
        ?string $name = null,
        ?array $scopes = null,
        string|\DateTimeInterface|null $expiresAt = null,
        ?Model\Mandate $mandate = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\MadeKey|Model\DryRun {
        $call = new Call(
            'POST',
            '/v1/keys',
            body: ['name' => ['', $name], 'scopes' => ['', $scopes], 'expiresAt' => ['', $expiresAt], 'mandate' => ['@Mandate', $mandate]],
            keyed: true,
            idempotencyKey: $idempotencyKey,
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@MadeKey');
    }

    /**
     * List keys.
     *
     * Newest first, without their secrets; also those that work no more.
     *
     * Needs the scope `keys`.
     */
    public function list(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\KeyList {
        $call = new Call(
            'GET',
            '/v1/keys',
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@KeyList');
    }

    /**
     * Read a key.
     *
     * Every key reads itself; another needs the scope `keys`.
     *
     * Needs the scope `keys`.
     *
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function get(
        string $id,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\KeyWithRemaining {
        $call = new Call(
            'GET',
            '/v1/keys/{id}',
            parts: [$id],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@KeyWithRemaining');
    }

    /**
     * Change a key.
     *
     * Only what is sent changes: null takes a name away, and an end. A mandate replaces the one before whole, keeps
     * what was spent, and is not taken off. One that works no more is not found.
     *
     * Needs the scope `keys`.
     *
     * @param ?string $name What people call it.
     * @param list<'read'|'collect'|'payout'|'convert'|'manage'|'keys'>|null $scopes What it may do.
     * @param string|\DateTimeInterface|null $expiresAt In the future; never if missing.
     * @return ($dryRun is true ? Model\DryRun : Model\Key)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function update(
        string $id,
        ?string $name = null,
        ?array $scopes = null,
        string|\DateTimeInterface|null $expiresAt = null,
        ?Model\Mandate $mandate = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\Key|Model\DryRun {
        $call = new Call(
            'PATCH',
            '/v1/keys/{id}',
            parts: [$id],
            body: ['name' => ['', $name], 'scopes' => ['', $scopes], 'expiresAt' => ['', $expiresAt], 'mandate' => ['@Mandate', $mandate]],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@Key');
    }

    /**
     * Revoke a key at once.
     *
     * Keys that came in its place work on, unless they are revoked too.
     *
     * Needs the scope `keys`.
     *
     * @param bool $successors Whether all keys that came in its place are revoked too.
     * @return ($dryRun is true ? Model\DryRun : Model\RevokedKey)
     * @throws \Pasarela\Exception\ApiException beside the codes that every call has, with `error` `not_found`
     */
    public function revoke(
        string $id,
        ?bool $successors = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        bool $dryRun = false,
    ): Model\RevokedKey|Model\DryRun {
        $call = new Call(
            'DELETE',
            '/v1/keys/{id}',
            parts: [$id],
            query: ['successors' => $successors],
            dryRun: $dryRun,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, $dryRun ? '@DryRun' : '@RevokedKey');
    }
}
