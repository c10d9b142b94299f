<?php

declare(strict_types=1);

namespace Pasarela\Exception;

/** 422: a rule says no, such as `insufficient_balance`. */
final class Refused extends ApiException
{
}
