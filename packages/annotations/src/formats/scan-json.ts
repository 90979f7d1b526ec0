import { annotationLimits } from '../model/limits.ts';
import { importLimits } from './import-limits.ts';
import { ImportError } from './import-types.ts';

const quote = 0x22;
const backslash = 0x5c;

/**
 * Counts the nested values of a JSON text before it is parsed: a parser would spend hundreds of bytes on each position.
 *
 * @returns whether the text may contain NaN or Infinity outside of strings, which some versions of QuPath write
 * @throws ImportError when a limit is exceeded
 */
export function scanJson(bytes: Uint8Array): { readonly hasBareNumbers: boolean } {
  let depth = 0;
  let arrays = 0;
  let objects = 0;
  let outerObjects = 0;
  let commas = 0;
  let hasBareNumbers = false;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case quote:
        at = endOfString(bytes, at);
        break;
      case 0x5b: // [
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
        if (depth > 3) break;
        outerObjects++;
        if (outerObjects > importLimits.jsonOuterObjects) {
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
      case 0x4e: // N
      case 0x49: // I
        hasBareNumbers = true;
        break;
      default:
    }
  }
  return { hasBareNumbers };
}

function endOfString(bytes: Uint8Array, start: number): number {
  let end = bytes.indexOf(quote, start + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return end;
    end = bytes.indexOf(quote, end + 1);
  }
  return bytes.length;
}

/** Puts NaN, Infinity and -Infinity between quotes, outside of strings. */
export function quoteBareNumbers(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/gs, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  );
}
