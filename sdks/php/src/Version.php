<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela;

/** The version, which is the server's. */
final class Version
{
    public const VERSION = '0.2.0';
}
