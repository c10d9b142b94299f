<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Card token. */
final class CardToken extends Model
{
    public const WIRE = ['token' => ''];
    public const REQUIRED = ['token'];
    public const SECRET = ['token'];

    /** @param string $token Of a card that a checkout page took from its holder. */
    public function __construct(
        #[\SensitiveParameter] public readonly string $token,
    ) {
        parent::__construct();
    }
}
