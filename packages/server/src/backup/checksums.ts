/** Hashes files with SHA-256, and reads and writes lists of hashes in the format of `sha256sum`. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** Returns the hash in hexadecimal. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(fs.createReadStream(file, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}

/**
 * Returns the list of hashes, with one line for each file. As in GNU coreutils, line breaks and backslashes in names are escaped, and
 * such a line starts with a backslash.
 *
 * @param sums hashes by file name
 */
export function writeChecksums(sums: ReadonlyMap<string, string>): string {
  const lines = [...sums].map(([name, sum]) => {
    const escaped = name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
    return `${escaped === name ? '' : '\\'}${sum}  ${escaped}\n`;
  });
  return lines.join('');
}

/** Parses a list of checksums, and returns them by file name. @throws Error with a message for the operator when a line is invalid */
export function readChecksums(text: string): ReadonlyMap<string, string> {
  const sums = new Map<string, string>();
  for (const line of text.split('\n').filter(Boolean)) {
    // 64 hexadecimal digits, a space, a space (text mode) or asterisk (binary mode), and the name.
    const [, escapeMark, sum, name] = /^(\\?)([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? [];
    if (sum === undefined || name === undefined) throw new Error('The list of checksums is damaged.');
    sums.set(escapeMark === '' ? name : unescapeName(name), sum);
  }
  return sums;
}

function unescapeName(name: string): string {
  return name.replaceAll(/\\([\\nr])/g, (_, character: string) => {
    if (character === 'n') return '\n';
    return character === 'r' ? '\r' : '\\';
  });
}
