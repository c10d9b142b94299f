<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Mandate. */
final class Mandate extends Model
{
    public const WIRE = ['agent' => '', 'perCall' => '@MandatePerCall', 'perDay' => '@MandatePerDay', 'perMonth' => '@MandatePerMonth', 'payees' => '', 'approvalAbove' => '@MandateApprovalAbove'];
    public const REQUIRED = [];

    /**
     * @param ?string $agent Who holds the key.
     * @param ?MandatePerCall $perCall The most that goes out in one call, by currency.
     * @param ?MandatePerDay $perDay The most on a day in Caracas.
     * @param ?MandatePerMonth $perMonth The most in a month in Caracas.
     * @param list<string>|null $payees Who may be paid: ids of merchants, accounts, phones, wallets. All that the
     *     account may pay, if it is empty or missing.
     * @param ?MandateApprovalAbove $approvalAbove A call that takes out more waits for an approval: by currency;
     *     none does of one that is not named.
     */
    public function __construct(
        public readonly ?string $agent = null,
        public readonly ?MandatePerCall $perCall = null,
        public readonly ?MandatePerDay $perDay = null,
        public readonly ?MandatePerMonth $perMonth = null,
        public readonly ?array $payees = null,
        public readonly ?MandateApprovalAbove $approvalAbove = null,
    ) {
        parent::__construct();
    }
}
