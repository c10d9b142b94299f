<?php

declare(strict_types=1);

namespace Pasarela\Exception;

/** The root of everything that this library throws by itself, misuse aside. */
class PasarelaException extends \RuntimeException
{
}
