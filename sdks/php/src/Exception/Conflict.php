<?php

declare(strict_types=1);

namespace Pasarela\Exception;

/** 409 or 410: it is not as the request supposes. Of `external_ref_conflict`, `differs` and `existingId` say more. */
final class Conflict extends ApiException
{
}
