<?php

declare(strict_types=1);

namespace Pasarela\Exception;

/** 500 and above. `outcomeUnknown()` says whether it may have happened. */
final class Unavailable extends ApiException
{
}
