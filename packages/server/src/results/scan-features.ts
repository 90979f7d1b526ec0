/**
 * Finds the objects of a result (such as detected cells) in a JSON file of any size, with only one object in memory at a time. Objects
 * are the members of one of these containers: the array `features` of a GeoJSON FeatureCollection, an array at the top level, the array
 * `cells` (CellViT), or the JSON object `nuc` (HoVerNet). A file of at most `maxObjectBytes` without such a container is one object, so
 * the scanner keeps the start of a file until it finds a container. It tracks only brackets and strings, and parses each object separately.
 */
import { quoteNonFiniteNumbers } from '@lamina/annotations';
import { parseFlatFeature } from './flat-rings.ts';
import { mayExceedHeap } from './json-heap.ts';
import { ImportRejectedError } from './problems.ts';

const maxObjectBytes = 24 * 2 ** 20;
/** Maximum nesting of brackets. */
const maxDepth = 64;
const maxTypeMapBytes = 2 ** 16;

export interface ScannedObject {
  readonly value: unknown;
  /** Key of the object in `nuc`; null in a list. */
  readonly key: string | null;
}

interface ScanTarget {
  /** Called for each object. The coordinates of a polygon may be `FlatRings`, lists x, y, x, y, … (flat-rings.ts). */
  onObject(scanned: ScannedObject): void;
  /** Called with the names of the classes by number (`type_map`), which HoVerNet writes before the objects. */
  onTypeMap(map: unknown): void;
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket, colon] = [
  0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x3a,
] as const;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
/** Keys at the top level of the file whose value is a list of objects. */
const listKeys: ReadonlySet<string> = new Set(['features', 'cells', 'nuc']);
/** Maximum number of parts of the file over which a key may extend. A string in more parts is too long to be a key. */
const maxKeyParts = 8;

/**
 * Scans a file for objects.
 *
 * @param file parts of the file; the memory of a part may be reused for the next part
 * @throws ImportRejectedError damaged, too_complex, unknown_format
 */
export async function scanFeatures(file: AsyncIterable<Buffer>, target: ScanTarget): Promise<void> {
  const scanner = createScanner(target);
  for await (const part of file) scanner.add(part);
  scanner.end();
}

/** Creates the scanner of one file. It is longer than 60 lines because all its functions share the state of the scan. */
function createScanner(target: ScanTarget) {
  /** Number of open brackets and braces. */
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let hasStarted = false; // true from the first bracket or brace on
  /** Bracket depth of the members of the list that is being read; 0 outside of a list. */
  let listDepth = 0;
  let isListFound = false;
  /** What is being captured (collected until its closing bracket): an object, the class names by number, or nothing. */
  let captureKind: 'object' | 'typeMap' | null = null;
  let capturedParts: Buffer[] = [];
  let capturedBytes = 0;
  /** Bracket depth before the captured bytes; the capture ends when `depth` has this value again. */
  let captureDepth = 0;
  /** Last string at depth 1: when a bracket opens, the key of the value that begins there. */
  let topKey = '';
  /** Last string at depth 2, which is the key of the next object in `nuc`. */
  let memberKey = '';
  /** If the string that is being read may be a key: its bytes from earlier parts of the file. Otherwise null. */
  let keyParts: Buffer[] | null = null;
  /** Index in the current part at which this string, or the rest of it, begins. */
  let keyStart = 0;
  /** All parts so far, in case the whole file is a single object; null once a list is found or the file is too large. */
  let wholeFile: Buffer[] | null = [];
  let wholeBytes = 0;
  let isTopArray = false; // true when the whole file is an array

  function addToCapture(part: Buffer, start: number, end: number): void {
    if (captureKind === null || end <= start) return;
    capturedBytes += end - start;
    if (capturedBytes > (captureKind === 'typeMap' ? maxTypeMapBytes : maxObjectBytes)) {
      throw new ImportRejectedError('too_complex', `An object has at least ${capturedBytes} bytes`);
    }
    capturedParts.push(part.subarray(start, end));
  }

  function finishCapture(): void {
    const [firstPart] = capturedParts;
    const isSinglePart = capturedParts.length === 1 && firstPart !== undefined;
    const bytes = isSinglePart ? firstPart : Buffer.concat(capturedParts);
    if (captureKind === 'typeMap') target.onTypeMap(parse(bytes));
    else {
      const value = parseFlatFeature(bytes) ?? parse(bytes);
      target.onObject({ value, key: isTopArray || topKey !== 'nuc' ? null : memberKey });
    }
    captureKind = null;
    capturedParts = [];
    capturedBytes = 0;
  }

  function beginCapture(kind: 'object' | 'typeMap'): void {
    captureKind = kind;
    captureDepth = depth;
  }

  /** Handles an opening bracket or brace, which `depth` does not count yet. @returns whether a capture begins with it */
  function handleOpening(byte: number): boolean {
    if (!hasStarted) {
      hasStarted = true;
      isTopArray = byte === openBracket;
      if (isTopArray) {
        listDepth = 1;
        isListFound = true;
        wholeFile = null;
      }
    } else if (!isTopArray && depth === 1 && listKeys.has(topKey)) {
      listDepth = 2;
      isListFound = true;
      wholeFile = null;
    } else if (!isTopArray && depth === 1 && topKey === 'type_map' && byte === openBrace) {
      beginCapture('typeMap');
      return true;
    } else if (listDepth !== 0 && depth === listDepth && byte === openBrace && captureKind === null) {
      beginCapture('object');
      return true;
    }
    return false;
  }

  return {
    add(part: Buffer): void {
      if (wholeFile !== null) {
        wholeBytes += part.length;
        if (wholeBytes > maxObjectBytes) {
          wholeFile = null;
          if (!hasStarted) throw new ImportRejectedError('unknown_format', 'The file is not JSON');
        } else wholeFile.push(Buffer.from(part));
      }
      // Index in this part at which the captured bytes begin; -1 while nothing is captured.
      let captureStart = captureKind === null ? -1 : 0;
      const { length } = part;
      for (let i = 0; i < length; i++) {
        const byte = part[i] as number;
        if (isInString) {
          if (isEscaped) isEscaped = false;
          else if (byte === backslash) isEscaped = true;
          else if (byte === quote) {
            isInString = false;
            if (keyParts !== null) endKey(part, i);
          }
          continue;
        }
        if (byte > quote && byte < colon) continue; // skips digits, commas and signs, the most frequent bytes, quickly
        if (byte === quote) {
          isInString = true;
          const isKeyDepth = depth === 1 || (depth === 2 && listDepth === 2);
          if (captureKind === null && isKeyDepth) {
            keyParts = [];
            keyStart = i + 1;
          }
        } else if (byte === openBrace || byte === openBracket) {
          if (handleOpening(byte)) captureStart = i;
          if (++depth > maxDepth)
            throw new ImportRejectedError('too_complex', 'The file is nested too deeply');
        } else if (byte === closeBrace || byte === closeBracket) {
          if (--depth < 0)
            throw new ImportRejectedError('damaged', 'A closing bracket has no opening bracket');
          if (captureKind !== null && depth === captureDepth) {
            addToCapture(part, captureStart, i + 1);
            captureStart = -1;
            finishCapture();
          }
          if (listDepth !== 0 && depth < listDepth) listDepth = 0;
        } else if (!hasStarted && byte > 0x20 && !byteOrderMark.includes(byte)) {
          // White space (at most 0x20) and a byte order mark may precede the first bracket.
          throw new ImportRejectedError('unknown_format', 'The file is not JSON');
        }
      }
      if (captureKind !== null) {
        addToCapture(part, Math.max(0, captureStart), length);
        // The last entry refers to the memory of this part, which may be overwritten by the next part, so it is copied.
        const last = capturedParts.pop();
        if (last !== undefined) capturedParts.push(Buffer.from(last));
      }
      if (keyParts !== null) {
        keyParts.push(Buffer.from(part.subarray(keyStart)));
        keyStart = 0;
        if (keyParts.length > maxKeyParts) keyParts = null;
      }
    },
    end(): void {
      if (!hasStarted) throw new ImportRejectedError('unknown_format', 'The file contains no object');
      if (depth !== 0 || isInString) throw new ImportRejectedError('damaged', 'The file ends early');
      if (isListFound) return;
      if (wholeFile === null)
        throw new ImportRejectedError('unknown_format', 'The file has no list of objects');
      target.onObject({ value: parse(Buffer.concat(wholeFile)), key: null });
    },
  };

  function endKey(part: Buffer, end: number): void {
    const text = Buffer.concat([...(keyParts ?? []), part.subarray(keyStart, end)]).toString();
    keyParts = null;
    keyStart = 0;
    if (depth === 1) topKey = text;
    else memberKey = text;
  }
}

/** Parses JSON. QuPath may have written measurements as NaN or Infinity, which become strings. @throws ImportRejectedError */
function parse(bytes: Buffer): unknown {
  if (mayExceedHeap([bytes])) {
    throw new ImportRejectedError('too_complex', `An object of ${bytes.length} bytes has too many values`);
  }
  const decoder = new TextDecoder(); // drops a byte order mark
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    // Probably NaN or Infinity. They are rare, so objects are searched for them only after a failure.
  }
  try {
    return JSON.parse(decoder.decode(quoteNonFiniteNumbers(bytes)));
  } catch (cause) {
    throw new ImportRejectedError('damaged', `An object cannot be parsed: ${(cause as Error).message}`);
  }
}
