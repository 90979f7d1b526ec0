/** Typed access to the values of a DICOM data set (a list of elements with a tag and a value). */
import { corruptError } from './errors.ts';
import { nameOfTag, type Tag } from './tags.ts';

/** Position in the file of a value that is read later, e.g. of pixel data. */
export interface ValuePosition {
  readonly offset: number;
  /** Bytes; null for an undefined length, when a delimiter ends the value. */
  readonly length: number | null;
}

/** The value of one requested data element. `vr` is its value representation, a data type of two letters. */
export type Value =
  | { readonly kind: 'bytes'; readonly vr: string; readonly bytes: Uint8Array }
  | { readonly kind: 'items'; readonly items: readonly DataSet[] }
  | { readonly kind: 'position'; readonly position: ValuePosition };

/** Decodes the bytes of free text; see `textDecodingOf` (character-set.ts). */
export type DecodeText = (bytes: Uint8Array) => string;

/**
 * The requested data elements of a file or of a sequence item.
 *
 * Accessors return null, or an empty list, for an element that is absent or empty. For an invalid number, `whole` throws
 * FILE_CORRUPT, because the image depends on it; `real` returns null.
 */
export interface DataSet {
  has(tag: Tag): boolean;
  /** Returns the first string, without padding. Characters other than ASCII may be wrong: use `freeText` for free text. */
  text(tag: Tag): string | null;
  /** Returns the first string of free text in the character set of the file, without padding. */
  freeText(tag: Tag, decode: DecodeText): string | null;
  /** Returns all strings of a backslash-separated value. */
  texts(tag: Tag): readonly string[];
  /** Returns the first integer, which may be negative. @throws SlideError FILE_CORRUPT when the value is no integer */
  whole(tag: Tag): number | null;
  /** Returns the first number; null when any number of the value is invalid or not finite. */
  real(tag: Tag): number | null;
  /** Returns all numbers; empty when one of them is invalid or not finite. */
  reals(tag: Tag): readonly number[];
  items(tag: Tag): readonly DataSet[];
  /** Returns the position of a value that was selected as `position`. */
  position(tag: Tag): ValuePosition | null;
}

type ReadNumber = (view: DataView, offset: number) => number;

/** Readers of binary numbers by value representation. Source: DICOM PS3.5, table 6.2-1. */
const wholeNumbers = new Map<string, { readonly bytes: number; readonly read: ReadNumber }>([
  ['US', { bytes: 2, read: (view, offset) => view.getUint16(offset, true) }],
  ['SS', { bytes: 2, read: (view, offset) => view.getInt16(offset, true) }],
  ['UL', { bytes: 4, read: (view, offset) => view.getUint32(offset, true) }],
  ['SL', { bytes: 4, read: (view, offset) => view.getInt32(offset, true) }],
]);
const realNumbers = new Map<string, { readonly bytes: number; readonly read: ReadNumber }>([
  ...wholeNumbers,
  ['FL', { bytes: 4, read: (view, offset) => view.getFloat32(offset, true) }],
  ['FD', { bytes: 8, read: (view, offset) => view.getFloat64(offset, true) }],
]);

const latin1 = new TextDecoder('latin1');
const decodeLatin1: DecodeText = (bytes) => latin1.decode(bytes);
/**
 * Patterns of numbers that are stored as text. A hostile text may have 64 KiB, so they must match in linear time: no two
 * repetitions in a pattern can match the same digits. Source: DICOM PS3.5, table 6.2-1 (IS and DS).
 */
const INTEGER_STRING = /^[+-]?\d{1,12}$/;
const DECIMAL_STRING = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** Returns a data set with accessors for the given values. */
export function dataSetOf(values: ReadonlyMap<number, Value>): DataSet {
  function textsOf(tag: Tag, decode = decodeLatin1): readonly string[] {
    const value = values.get(tag);
    if (value?.kind !== 'bytes') return [];
    const texts = decode(value.bytes)
      .split('\\')
      .map((part) => part.replaceAll('\0', ' ').trim()); // values are padded with spaces or NUL
    return texts.length === 1 && texts[0] === '' ? [] : texts;
  }

  /** Returns the numbers of a value, with NaN for an invalid one. `pattern` checks numbers that are stored as text. */
  function numbersOf(tag: Tag, readers: typeof wholeNumbers, pattern: RegExp): readonly number[] {
    const value = values.get(tag);
    if (value?.kind !== 'bytes') return [];
    const { vr, bytes } = value;
    if (vr === 'IS' || vr === 'DS') {
      return textsOf(tag).map((text) => (pattern.test(text) ? Number(text) : Number.NaN));
    }
    if (bytes.length === 0) return [];
    const reader = readers.get(vr);
    if (!reader || bytes.length % reader.bytes !== 0) return [Number.NaN];
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return Array.from({ length: bytes.length / reader.bytes }, (_, i) => reader.read(view, i * reader.bytes));
  }

  function realsOf(tag: Tag): readonly number[] {
    const numbers = numbersOf(tag, realNumbers, DECIMAL_STRING);
    return numbers.every(Number.isFinite) ? numbers : [];
  }

  return {
    has: (tag) => values.has(tag),
    text: (tag) => textsOf(tag)[0] ?? null,
    freeText: (tag, decode) => textsOf(tag, decode)[0] ?? null,
    texts: (tag) => textsOf(tag),
    whole(tag) {
      const [first] = numbersOf(tag, wholeNumbers, INTEGER_STRING);
      if (Number.isNaN(first)) throw corruptError(`${nameOfTag(tag)} is not a whole number`);
      return first ?? null;
    },
    real: (tag) => realsOf(tag)[0] ?? null,
    reals: realsOf,
    items(tag) {
      const value = values.get(tag);
      return value?.kind === 'items' ? value.items : [];
    },
    position(tag) {
      const value = values.get(tag);
      return value?.kind === 'position' ? value.position : null;
    },
  };
}
