<?php

declare(strict_types=1);

namespace Pasarela\Exception;

/** 403: the key or the account may not do this. */
final class Forbidden extends ApiException
{
}
