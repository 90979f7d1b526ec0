/** Checks the size of a JSON text before `JSON.parse`, and quotes NaN and Infinity, which JSON does not allow. */
import { annotationLimits } from '../model/limits.ts';
import { importLimits } from './import-limits.ts';
import { ImportError } from './import-types.ts';

/** Objects at most this deep are counted as outer objects; see `jsonOuterObjects` in `import-limits.ts`. */
const outerDepth = 3;
const quote = 0x22;
const backslash = 0x5c;
const minus = 0x2d;
const [letterN, letterI] = [0x4e, 0x49];

/**
 * Counts the values of a JSON text and their depth without parsing it. `JSON.parse` would use hundreds of bytes for each position
 * before a limit could be checked.
 *
 * @returns `hasNonFiniteNumbers`: whether the text may contain NaN or Infinity outside of strings, as some versions of QuPath write them
 * @throws ImportError when a limit is exceeded
 */
export function scanJson(bytes: Uint8Array): { readonly hasNonFiniteNumbers: boolean } {
  let depth = 0;
  let arrays = 0;
  let objects = 0;
  let outerObjects = 0;
  let commas = 0;
  let hasNonFiniteNumbers = false;
  for (let index = 0; index < bytes.length; index++) {
    switch (bytes[index]) {
      case quote:
        index = findEndOfString(bytes, index);
        break;
      case 0x5b: // [, almost always a position
        arrays++;
        depth++;
        if (depth > importLimits.jsonDepth)
          throw new ImportError('nested_too_deeply', { limit: importLimits.jsonDepth });
        if (arrays > importLimits.jsonArrays)
          throw new ImportError('too_many_vertices', { limit: importLimits.jsonArrays });
        break;
      case 0x7b: // {
        objects++;
        depth++;
        if (depth > importLimits.jsonDepth)
          throw new ImportError('nested_too_deeply', { limit: importLimits.jsonDepth });
        if (objects > importLimits.jsonObjects)
          throw new ImportError('too_many_values', { limit: importLimits.jsonObjects });
        if (depth > outerDepth) break;
        outerObjects++;
        if (outerObjects > importLimits.jsonOuterObjects) {
          // A feature has at most four outer objects, so the file has more features than a layer may have.
          throw new ImportError('too_many_features', { limit: annotationLimits.layerAnnotations });
        }
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case 0x2c: // ,
        commas++;
        if (commas > importLimits.jsonCommas)
          throw new ImportError('too_many_values', { limit: importLimits.jsonCommas });
        break;
      case letterN: // of NaN
      case letterI: // of Infinity
        hasNonFiniteNumbers = true;
        break;
      default:
    }
  }
  return { hasNonFiniteNumbers };
}

/** Returns the index of the quote that ends a string, or the text's length. A quote after an odd number of backslashes is escaped. */
function findEndOfString(bytes: Uint8Array, start: number): number {
  let end = bytes.indexOf(quote, start + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return end;
    end = bytes.indexOf(quote, end + 1);
  }
  return bytes.length;
}

/**
 * Returns the JSON text with quotes around NaN, Infinity and -Infinity outside of strings, for `JSON.parse`. Copies byte by
 * byte, because a regular expression that matches whole strings overflows its stack on strings of millions of characters.
 */
export function quoteNonFiniteNumbers(bytes: Uint8Array): Uint8Array {
  // Two quotes for each token of three bytes, and between two tokens at least one byte, add at most half of the size.
  const quoted = new Uint8Array(Math.ceil(bytes.length * 1.5));
  let length = 0;
  for (let index = 0; index < bytes.length; ) {
    const isString = bytes[index] === quote;
    const tokenLength = isString ? 0 : nonFiniteLength(bytes, index);
    const end = isString
      ? Math.min(findEndOfString(bytes, index) + 1, bytes.length)
      : index + (tokenLength || 1);
    if (tokenLength > 0) quoted[length++] = quote;
    while (index < end) quoted[length++] = bytes[index++] ?? 0;
    if (tokenLength > 0) quoted[length++] = quote;
  }
  return quoted.subarray(0, length);
}

/** The numbers that JSON does not allow, as some versions of QuPath write them. */
const nonFiniteTokens = ['NaN', '-NaN', 'Infinity', '-Infinity'].map((name) =>
  new TextEncoder().encode(name),
);

/** Returns the length of the NaN or Infinity, with its sign, that begins at the index; 0 when none begins there. */
function nonFiniteLength(bytes: Uint8Array, start: number): number {
  const firstByte = bytes[start];
  if (firstByte !== letterN && firstByte !== letterI && firstByte !== minus) return 0;
  const token = nonFiniteTokens.find((each) => each.every((byte, offset) => bytes[start + offset] === byte));
  if (token === undefined) return 0;
  const isPartOfWord =
    isWordByte(bytes[start + token.length]) || (firstByte !== minus && isWordByte(bytes[start - 1]));
  return isPartOfWord ? 0 : token.length;
}

/** Returns whether the byte is an ASCII letter, a digit or an underscore. */
function isWordByte(byte: number | undefined): boolean {
  return byte !== undefined && /\w/.test(String.fromCharCode(byte));
}
