/**
 * Exact amounts. An amount is a string such as `"25.50"`, in and out: no number of JavaScript is 0.1, so none is taken.
 */

import { AMOUNT_FORM, AMOUNT_TYPE } from './generated/shared.js';

/** An amount that is answered: digits, and a point if there are decimals. */
export type DecimalString = string;

/** What is taken for an amount. */
export type Amount = string | bigint;

interface Parts {
  digits: bigint; // the amount without its point
  places: number;
}

/** An amount as the text of a decimal. TypeError for a number, RangeError for what is no amount. */
export function exact(amount: Amount): DecimalString {
  if (typeof amount === 'bigint') return amount.toString();
  if (typeof amount !== 'string') throw new TypeError(AMOUNT_TYPE('a bigint or a string', typeof amount));
  const text = amount.trim();
  if (!/^-?[0-9]+(\.[0-9]+)?$/.test(text)) throw new RangeError(AMOUNT_FORM);
  return text.replace(/^(-?)0+(?=[0-9])/, '$1');
}

function parts(amount: Amount): Parts {
  const [whole = '', decimals = ''] = exact(amount).split('.');
  return { digits: BigInt(whole + decimals), places: decimals.length };
}

function scaled({ digits, places }: Parts, wanted: number): bigint {
  return digits * 10n ** BigInt(wanted - places);
}

function text({ digits, places }: Parts): DecimalString {
  const sign = digits < 0n ? '-' : '';
  const all = (digits < 0n ? -digits : digits).toString().padStart(places + 1, '0');
  return sign + (places === 0 ? all : `${all.slice(0, -places)}.${all.slice(-places)}`);
}

function joined(one: Amount, other: Amount, join: (one: bigint, other: bigint) => bigint): DecimalString {
  const [a, b] = [parts(one), parts(other)];
  const places = Math.max(a.places, b.places);
  return text({ digits: join(scaled(a, places), scaled(b, places)), places });
}

export function add(one: Amount, other: Amount): DecimalString {
  return joined(one, other, (a, b) => a + b);
}

export function subtract(one: Amount, other: Amount): DecimalString {
  return joined(one, other, (a, b) => a - b);
}

/** Exact: the decimals of both are in the product. `round` it to what a currency has. */
export function multiply(one: Amount, other: Amount): DecimalString {
  const [a, b] = [parts(one), parts(other)];
  return text({ digits: a.digits * b.digits, places: a.places + b.places });
}

export function sum(amounts: Iterable<Amount>): DecimalString {
  let total: DecimalString = '0';
  for (const amount of amounts) total = add(total, amount);
  return total;
}

/** Negative, zero or positive, as `sort` wants it. `"10"` and `"10.00"` are equal. */
export function compare(one: Amount, other: Amount): number {
  const difference = parts(subtract(one, other)).digits;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function equals(one: Amount, other: Amount): boolean {
  return compare(one, other) === 0;
}

/** Half up, away from zero, as the gateway rounds; pads with zeros. */
export function round(amount: Amount, places: number): DecimalString {
  const given = parts(amount);
  if (given.places <= places) return text({ digits: scaled(given, places), places });
  const unit = 10n ** BigInt(given.places - places);
  const half = given.digits < 0n ? -unit / 2n : unit / 2n;
  return text({ digits: (given.digits + half) / unit, places });
}

/** At least so many decimals; digits are never cut. */
export function padded(amount: Amount, places: number): DecimalString {
  const given = parts(amount);
  return given.places < places ? text({ digits: scaled(given, places), places }) : exact(amount);
}

/**
 * A JSON number of the gateway as text. Its amounts have at most 14 digits and its rates fewer: up to 15 digits the
 * shortest text of a double is the text that it was read from, so nothing is lost here.
 */
export function ofNumber(number: number): DecimalString {
  const shortest = String(number);
  return shortest.includes('e') ? number.toFixed(20).replace(/\.?0+$/, '') : shortest;
}
