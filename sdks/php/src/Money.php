<?php

declare(strict_types=1);

namespace Pasarela;

/**
 * Exact amounts. An amount is a string such as "25.50", in and out: no float is 0.1, so none is taken. Sums need no
 * extension; they are exact up to 18 digits, and throw beyond.
 */
final class Money
{
    /** An amount as the text of a decimal. TypeError for a float, InvalidArgumentException for what is no amount. */
    public static function exact(string|int|float $amount): string
    {
        if (is_float($amount)) {
            throw new \TypeError(sprintf(Shared::AMOUNT_TYPE, 'an int or a string', 'float'));
        }
        $text = trim((string) $amount);
        if (preg_match('/^-?[0-9]+(\.[0-9]+)?$/D', $text) !== 1) {
            throw new \InvalidArgumentException(Shared::AMOUNT_FORM);
        }
        return preg_replace('/^(-?)0+(?=[0-9])/', '$1', $text);
    }

    public static function add(string|int|float $one, string|int|float $other): string
    {
        return self::joined($one, $other, static fn (int $a, int $b): int|float => $a + $b);
    }

    public static function subtract(string|int|float $one, string|int|float $other): string
    {
        return self::joined($one, $other, static fn (int $a, int $b): int|float => $a - $b);
    }

    /** Exact: the decimals of both are in the product. `round` it to what a currency has. */
    public static function multiply(string|int|float $one, string|int|float $other): string
    {
        [$a, $decimalsOfA] = self::parts($one);
        [$b, $decimalsOfB] = self::parts($other);
        return self::text(self::whole($a * $b), $decimalsOfA + $decimalsOfB);
    }

    /** @param iterable<string|int> $amounts */
    public static function sum(iterable $amounts): string
    {
        $total = '0';
        foreach ($amounts as $amount) {
            $total = self::add($total, $amount);
        }
        return $total;
    }

    /** -1, 0 or 1, as usort wants it. "10" and "10.00" are equal. */
    public static function compare(string|int|float $one, string|int|float $other): int
    {
        return self::parts(self::subtract($one, $other))[0] <=> 0;
    }

    public static function equals(string|int|float $one, string|int|float $other): bool
    {
        return self::compare($one, $other) === 0;
    }

    /** Half up, away from zero, as the gateway rounds; pads with zeros. */
    public static function round(string|int|float $amount, int $places): string
    {
        [$digits, $decimals] = self::parts($amount);
        if ($decimals <= $places) {
            return self::text(self::scaled($digits, $places - $decimals), $places);
        }
        $unit = self::scaled(1, $decimals - $places);
        $half = $digits < 0 ? -intdiv($unit, 2) : intdiv($unit, 2);
        return self::text(intdiv(self::whole($digits + $half), $unit), $places);
    }

    /** At least so many decimals; digits are never cut. */
    public static function padded(string|int|float $amount, int $places): string
    {
        [$digits, $decimals] = self::parts($amount);
        return $decimals < $places ? self::text(self::scaled($digits, $places - $decimals), $places) : self::exact($amount);
    }

    /** @return array{int, int} the amount without its point, and how many decimals it has */
    private static function parts(string|int|float $amount): array
    {
        [$whole, $decimals] = [...explode('.', self::exact($amount)), ''];
        $digits = filter_var(preg_replace('/^(-?)0+(?=[0-9])/', '$1', $whole . $decimals), FILTER_VALIDATE_INT);
        return [$digits === false && (int) ($whole . $decimals) !== 0 ? self::whole(INF) : (int) $digits, strlen($decimals)];
    }

    private static function joined(string|int|float $one, string|int|float $other, \Closure $join): string
    {
        [$a, $decimalsOfA] = self::parts($one);
        [$b, $decimalsOfB] = self::parts($other);
        $places = max($decimalsOfA, $decimalsOfB);
        return self::text(self::whole($join(self::scaled($a, $places - $decimalsOfA), self::scaled($b, $places - $decimalsOfB))), $places);
    }

    private static function scaled(int $digits, int $by): int
    {
        return self::whole($digits * 10 ** $by);
    }

    /** What PHP made of a sum: past its integers it is a float, and that is no amount. */
    private static function whole(int|float $result): int
    {
        return is_int($result) ? $result : throw new \OverflowException(Shared::AMOUNT_DIGITS);
    }

    private static function text(int $digits, int $places): string
    {
        $all = str_pad((string) abs($digits), $places + 1, '0', STR_PAD_LEFT);
        $sign = $digits < 0 ? '-' : '';
        return $places === 0 ? $sign . $all : $sign . substr($all, 0, -$places) . '.' . substr($all, -$places);
    }
}
