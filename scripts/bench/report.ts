/** The output of the benchmarks: Markdown tables of the measurements, printed and written into docs/performance.md. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { root } from '../launcher/runtime.mjs';
import type { BenchOptions } from './environment.ts';

const performancePage = join(root, 'docs/performance.md');

/** Returns a Markdown table. @param rows objects with the same keys, which are the column headings */
export function markdownTable(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  const headings = Object.keys(rows[0] ?? {});
  const separators = headings.map(() => '---');
  return [line(headings), line(separators), ...rows.map((row) => line(Object.values(row)))].join('\n');
}

/**
 * Returns the text of a page with the results of one part replaced, or added at the end when the page does not have them.
 *
 * @param name the name of the part, whose results are between `<!-- measured: name -->` and `<!-- end: name -->`
 */
export function replacePart(text: string, name: string, results: string): string {
  const startMark = `<!-- measured: ${name} -->`;
  const endMark = `<!-- end: ${name} -->`;
  const start = text.indexOf(startMark);
  const end = text.indexOf(endMark);
  const markedResults = `${startMark}\n${results}\n${endMark}`;
  if (start < 0 || end < start) return `${text.trimEnd()}\n\n${markedResults}\n`;
  return text.slice(0, start) + markedResults + text.slice(end + endMark.length);
}

/**
 * Prints the results of a part, and writes them into docs/performance.md unless the run was quick or measured another version too.
 *
 * @param lines Markdown
 */
export function publish(
  name: string,
  lines: readonly string[],
  { isQuick, otherCheckout = null }: Pick<BenchOptions, 'isQuick'> & Partial<BenchOptions>,
): void {
  const results = lines.join('\n');
  console.log(`\n${results}\n`);
  if (isQuick || otherCheckout !== null) return;
  const text = existsSync(performancePage) ? readFileSync(performancePage, 'utf8') : '# Performance\n';
  writeFileSync(performancePage, replacePart(text, name, results));
}

/** Returns a sentence with the date, the hardware and the versions of the programs, but not the name of the machine. */
export function describeMachine(versions: Readonly<Record<string, string>> = {}): string {
  const [cpu] = os.cpus();
  const date = new Date().toISOString().slice(0, 10);
  const gigabytes = Math.round(os.totalmem() / 1024 ** 3);
  const [kernelVersion] = os.release().split('-'); // without the suffix of the distribution
  const machine = `${os.cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, ${gigabytes} GB, ${os.type()} ${kernelVersion}`;
  const programs = Object.entries({ Node: process.versions.node, ...versions }).map((pair) => pair.join(' '));
  return `${date}. ${machine}. ${programs.join(', ')}.`;
}
