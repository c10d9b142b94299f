<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Quote sources. */
final class QuoteSources extends Model
{
    public const WIRE = ['vexFx' => '@QuoteSourcesVexFx', 'bank' => '@QuoteSourcesBank|QuoteSourcesBankError'];
    public const REQUIRED = ['vexFx', 'bank'];

    public readonly QuoteSourcesVexFx $vexFx;
    public readonly QuoteSourcesBank|QuoteSourcesBankError $bank;
}
