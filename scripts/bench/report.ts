/** Formats measurements as Markdown tables, prints them and writes them into docs/performance.md. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { root } from '../launcher/runtime.mjs';

const performancePage = join(root, 'docs/performance.md');

/** Returns a Markdown table. @param rows objects with the same keys, which are the column headings */
export function tableOf(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  const headings = Object.keys(rows[0] ?? {});
  const rule = headings.map(() => '---');
  return [line(headings), line(rule), ...rows.map((row) => line(Object.values(row)))].join('\n');
}

/**
 * Returns the text of a page with one measured part replaced, or added at the end when the page does not have it.
 *
 * @param name the name of the part, which is between `<!-- measured: name -->` and `<!-- end: name -->`
 */
export function withPart(text: string, name: string, part: string): string {
  const startMark = `<!-- measured: ${name} -->`;
  const endMark = `<!-- end: ${name} -->`;
  const start = text.indexOf(startMark);
  const end = text.indexOf(endMark);
  const marked = `${startMark}\n${part}\n${endMark}`;
  if (start < 0 || end < start) return `${text.trimEnd()}\n\n${marked}\n`;
  return text.slice(0, start) + marked + text.slice(end + endMark.length);
}

/** Prints a part, and writes it into docs/performance.md unless the run was quick. */
export function publish(
  name: string,
  lines: readonly string[],
  { isQuick }: { readonly isQuick: boolean },
): void {
  const part = lines.join('\n');
  console.log(`\n${part}\n`);
  if (isQuick) return;
  const text = existsSync(performancePage) ? readFileSync(performancePage, 'utf8') : '# Performance\n';
  writeFileSync(performancePage, withPart(text, name, part));
}

/** Returns a sentence with the date, the hardware and the versions of the programs, but not the name of the machine. */
export function circumstances(versions: Readonly<Record<string, string>> = {}): string {
  const [cpu] = os.cpus();
  const day = new Date().toISOString().slice(0, 10);
  const gigabytes = Math.round(os.totalmem() / 1024 ** 3);
  const machine = `${os.cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, ${gigabytes} GB, ${os.type()} ${os.release().split('-')[0]}`;
  const programs = Object.entries({ Node: process.versions.node, ...versions }).map((pair) => pair.join(' '));
  return `${day}. ${machine}. ${programs.join(', ')}.`;
}
