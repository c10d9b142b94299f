<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Mandate approval. */
final class MandateApproval extends Model
{
    public const WIRE = ['approvalId' => '', 'status' => '', 'keyId' => '', 'agent' => '', 'amount' => '@MandateApprovalAmount', 'operation' => '', 'path' => '', 'body' => '', 'destinations' => '', 'requestId' => '', 'createdAt' => '', 'expiresAt' => '', 'decidedAt' => '', 'decidedBy' => ''];
    public const REQUIRED = ['approvalId', 'status', 'keyId', 'agent', 'amount', 'operation', 'path', 'body', 'destinations', 'requestId', 'createdAt', 'expiresAt', 'decidedAt', 'decidedBy'];

    public readonly string $approvalId;
    /** @var 'awaiting_approval'|'approved'|'rejected'|'expired' */
    public readonly string $status;
    /** The key that asked. */
    public readonly string $keyId;
    /** Who held the key. */
    public readonly ?string $agent;
    /** What goes out, with fees. */
    public readonly MandateApprovalAmount $amount;
    /** The `operationId` of the call. */
    public readonly string $operation;
    public readonly string $path;
    /** The body of the call, as it was sent; in the list null where it is longer than 8 KiB. */
    public readonly mixed $body;
    /**
     * @var list<?string> Where the account's own data led each payout when it was asked for, of a batch in the order
     *     of its items; null where the call says so. It goes there or, when that has changed, nowhere.
     */
    public readonly array $destinations;
    public readonly string $requestId;
    public readonly string $createdAt;
    public readonly string $expiresAt;
    public readonly ?string $decidedAt;
    /** The key that decided. */
    public readonly ?string $decidedBy;
}
