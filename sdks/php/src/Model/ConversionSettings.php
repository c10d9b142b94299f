<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Conversion settings. */
final class ConversionSettings extends Model
{
    public const WIRE = ['autoConvert' => '@ConversionSettingsAutoConvert', 'enabledCurrencies' => '', 'spreadPercent' => '@ConversionSettingsSpreadPercent', 'minimumUsdt' => 't2', 'dailyLimit' => '@ConversionSettingsDailyLimit'];
    public const REQUIRED = ['autoConvert', 'enabledCurrencies', 'spreadPercent', 'minimumUsdt', 'dailyLimit'];

    public readonly ConversionSettingsAutoConvert $autoConvert;
    /** @var list<'VES'|'COP'> */
    public readonly array $enabledCurrencies;
    public readonly ConversionSettingsSpreadPercent $spreadPercent;
    public readonly string $minimumUsdt;
    public readonly ConversionSettingsDailyLimit $dailyLimit;
}
