<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Card. */
final class Card extends Model
{
    public const WIRE = ['number' => '', 'expMonth' => '', 'expYear' => '', 'cvv' => '', 'holderName' => '', 'holderId' => ''];
    public const REQUIRED = ['number', 'expMonth', 'expYear', 'cvv', 'holderName', 'holderId'];
    public const SECRET = ['number', 'cvv'];

    /**
     * @param string $number 13 to 19 digits that pass the Luhn check.
     * @param string $holderId V, E, J, P or G and 5 to 9 digits, with or without a dash.
     */
    public function __construct(
        #[\SensitiveParameter] public readonly string $number,
        public readonly int $expMonth,
        public readonly int $expYear,
        #[\SensitiveParameter] public readonly string $cvv,
        public readonly string $holderName,
        public readonly string $holderId,
    ) {
        parent::__construct();
    }
}
