/** Imports annotation files of other programs. `importLimits` and `annotationLimits` apply to all formats. */
import { type Collector, createCollector } from './collector.ts';
import { importLimits } from './import-limits.ts';
import { ImportError, type ImportFormat, type ImportOptions, type ImportResult } from './import-types.ts';
import { readAperio } from './read-aperio.ts';
import { readAsap } from './read-asap.ts';
import { isDsa, readDsa } from './read-dsa.ts';
import { readQuPath } from './read-qupath.ts';
import { quoteNonFiniteNumbers, scanJson } from './scan-json.ts';

/** Bytes to skip before the content: space, tab, line feed, carriage return, and the three of the UTF-8 byte order mark. */
const skippedBytes: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);
const lessThanSign = 0x3c;

/**
 * Reads the annotations of a file. Invalid features are rejected one by one, and the valid ones are returned. A file that cannot be
 * read at all gives a result with `ok: false`.
 *
 * @param file the decompressed file: UTF-8 bytes, or its text
 */
export function importAnnotations(file: Uint8Array | string, options: ImportOptions): ImportResult {
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : file;
  const collector = createCollector(options);
  try {
    if (bytes.length > importLimits.bytes) throw new ImportError('too_large', { limit: importLimits.bytes });
    return collector.result(readFile(bytes, options.format, collector));
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return { ok: false, error: { code: error.code, params: error.params } };
  }
}

/** Passes the features of a file to the collector. @returns the format, detected if `format` is `auto` */
function readFile(bytes: Uint8Array, format: ImportFormat | 'auto', collector: Collector): ImportFormat {
  const isXml = bytes[findContentStart(bytes)] === lessThanSign;
  const isXmlFormat = format === 'asap' || format === 'aperio';
  if (format !== 'auto' && isXml !== isXmlFormat) throw new ImportError('unknown_format');
  if (isXml) return readXml(decode(bytes), format, collector);
  return readJson(bytes, format, collector);
}

function readXml(text: string, format: ImportFormat | 'auto', collector: Collector): ImportFormat {
  // The root element is expected in the first 10,000 characters.
  const isAsap =
    format === 'auto' ? /<ASAP_Annotations[\s>/]/.test(text.slice(0, 10_000)) : format === 'asap';
  if (isAsap) readAsap(text, collector);
  else readAperio(text, collector);
  return isAsap ? 'asap' : 'aperio';
}

function readJson(bytes: Uint8Array, format: ImportFormat | 'auto', collector: Collector): ImportFormat {
  // Checks the limits before `JSON.parse` uses memory, and finds unquoted NaN and Infinity, which `JSON.parse` rejects.
  const { hasNonFiniteNumbers } = scanJson(bytes);
  const value = parseJson(decode(hasNonFiniteNumbers ? quoteNonFiniteNumbers(bytes) : bytes));
  if (format === 'dsa' || (format === 'auto' && isDsa(value))) {
    readDsa(value, collector);
    return 'dsa';
  }
  readQuPath(value, collector);
  return format === 'geojson' ? 'geojson' : 'qupath'; // one reader for both formats
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ImportError('not_json');
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ImportError('not_text');
  }
}

/** Returns the index of the first byte that is neither white space nor a byte order mark. */
function findContentStart(bytes: Uint8Array): number {
  let index = 0;
  while (index < bytes.length && skippedBytes.has(bytes[index] ?? 0)) index++;
  return index;
}
