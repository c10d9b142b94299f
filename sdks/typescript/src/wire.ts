/** JSON of the gateway and objects of a program: amounts become text on the way in, and numbers again on the way out. */

import { EVENT_SHAPES, SHAPES } from './generated/shapes.js';
import { exact, ofNumber, padded, type Amount } from './money.js';

/**
 * What of a model needs care: `n` is an amount that is a JSON number, `t` one that is a string, `t2` one with exactly
 * two decimals, `@Name` another model (or several, joined by `|`), `#` the data of an event.
 */
export type Shape = Readonly<Record<string, string>>;

/** A number that is written digit by digit. */
class Digits {
  constructor(readonly text: string) {}
}

type Members = Record<string, unknown>;

/** Reads a model, in place: numbers that are amounts become strings. */
export function decode(names: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => decode(names, item));
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Members;
  for (const shape of names.split('|').map((name) => SHAPES[name])) {
    for (const [name, kind] of Object.entries(shape ?? {})) {
      const member = members[name];
      if (kind === 'n' && typeof member === 'number') members[name] = ofNumber(member);
      else if (kind === '#') decodeEvent(String(members['event']), member);
      else if (kind.startsWith('@')) members[name] = decode(kind.slice(1), member);
    }
  }
  return members;
}

/** Reads the data of an event, in place. */
export function decodeEvent(event: string, data: unknown): unknown {
  return decode(EVENT_SHAPES[event] ?? '', data);
}

/** Writes a model: amounts are checked, and what is undefined is left out. */
export function encode(name: string, value: object): Members {
  const shape = SHAPES[name] ?? {};
  const given = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(given.map(([member, inner]) => [member, encodeMember(shape[member], inner)]));
}

function encodeMember(kind: string | undefined, value: unknown): unknown {
  if (kind === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => encodeMember(kind, item));
  if (kind === 'n') return new Digits(exact(value as Amount));
  if (kind.startsWith('t')) return padded(value as Amount, Number(kind.slice(1)));
  return encode(kind.slice(1), value as object);
}

export function writeJson(value: unknown): string {
  if (value instanceof Digits) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => writeJson(item ?? null)).join(',')}]`;
  if (typeof value === 'object' && value !== null && !('toJSON' in value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
