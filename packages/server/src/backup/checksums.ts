/** SHA-256 of files, and the list of them that `sha256sum -c` reads. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** Returns the hash in hexadecimal. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(fs.createReadStream(file, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}

/** Returns a line for each file in the format of GNU coreutils, which escapes line breaks and backslashes in names. */
export function writeChecksums(sums: ReadonlyMap<string, string>): string {
  const lines = [...sums].map(([name, sum]) => {
    const escaped = name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
    return `${escaped === name ? '' : '\\'}${sum}  ${escaped}\n`;
  });
  return lines.join('');
}

/** @throws Error with one sentence for an invalid line */
export function readChecksums(text: string): ReadonlyMap<string, string> {
  const sums = new Map<string, string>();
  for (const line of text.split('\n').filter(Boolean)) {
    const [, mark, sum, name] = /^(\\?)([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? [];
    if (sum === undefined || name === undefined) throw new Error('The list of checksums is damaged.');
    sums.set(mark === '' ? name : unescapeName(name), sum);
  }
  return sums;
}

function unescapeName(name: string): string {
  return name.replaceAll(/\\([\\nr])/g, (_, character: string) => {
    if (character === 'n') return '\n';
    return character === 'r' ? '\r' : '\\';
  });
}
