/** Checks the size of a JSON text before `JSON.parse`, and quotes NaN and Infinity, which JSON does not allow. */
import { annotationLimits } from '../model/limits.ts';
import { importLimits } from './import-limits.ts';
import { ImportError } from './import-types.ts';

/** Objects at most this deep are counted as outer objects; see `jsonOuterObjects` in `import-limits.ts`. */
const outerDepth = 3;
const quote = 0x22;
const backslash = 0x5c;

/**
 * Counts the values of a JSON text and their depth without parsing it. `JSON.parse` would use hundreds of bytes for each position
 * before a limit could be checked.
 *
 * @returns `hasBareNumbers`: whether the text may contain NaN or Infinity outside of strings, as some versions of QuPath write them
 * @throws ImportError when a limit is exceeded
 */
export function scanJson(bytes: Uint8Array): { readonly hasBareNumbers: boolean } {
  let depth = 0;
  let arrays = 0;
  let objects = 0;
  let outerObjects = 0;
  let commas = 0;
  let hasBareNumbers = false;
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
      case 0x4e: // N, of NaN
      case 0x49: // I, of Infinity
        hasBareNumbers = true;
        break;
      default:
    }
  }
  return { hasBareNumbers };
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

/** Quotes bare NaN, Infinity and -Infinity for `JSON.parse`. Also matches strings, and keeps them unchanged. */
export function quoteBareNumbers(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/gs, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  );
}
