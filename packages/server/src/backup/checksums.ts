/** SHA-256 of files, and the list of them that `sha256sum -c` reads. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** Hexadecimal. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(fs.createReadStream(file, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}

/** A line for each file, as GNU coreutils writes them: names with a line break or a backslash are marked. */
export function writeChecksums(sums: ReadonlyMap<string, string>): string {
  const lines = [...sums].map(([name, sum]) => {
    const escaped = name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
    return `${escaped === name ? '' : '\\'}${sum}  ${escaped}\n`;
  });
  return lines.join('');
}

/** @throws Error with one sentence for a line that is none */
export function readChecksums(text: string): ReadonlyMap<string, string> {
  const sums = new Map<string, string>();
  for (const line of text.split('\n').filter(Boolean)) {
    const [, mark, sum, name] = /^(\\?)([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? [];
    if (sum === undefined || name === undefined) throw new Error('The list of checksums is damaged.');
    sums.set(mark === '' ? name : unescaped(name), sum);
  }
  return sums;
}

function unescaped(name: string): string {
  return name.replaceAll(/\\([\\nr])/g, (_, letter: string) => {
    if (letter === 'n') return '\n';
    return letter === 'r' ? '\r' : '\\';
  });
}
