<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Start payout account verification result. */
final class StartPayoutAccountVerificationResult extends Model
{
    public const WIRE = ['status' => '', 'attemptsLeft' => '', 'failureCode' => '', 'action' => ''];
    public const REQUIRED = ['status'];

    /** @var 'verifying'|'rejected'|'unverified' */
    public readonly string $status;
    public readonly ?int $attemptsLeft;
    /**
     * `BE01` when the bank says that the holder is somebody else. Another code with `unverified`: the bank made no
     * deposits; `order_unfit` when it cannot be given these data, as for a phone without the document of its owner.
     */
    public readonly ?string $failureCode;
    public readonly ?string $action;
}
