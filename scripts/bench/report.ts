/** Prints measurements as Markdown tables and writes them into docs/performance.md. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { root } from '../launcher/runtime.mjs';

const page = join(root, 'docs/performance.md');

/** Returns a Markdown table. @param rows objects with the same keys, which are the column headings */
export function tableOf(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  const names = Object.keys(rows[0] ?? {});
  return [line(names), line(names.map(() => '---')), ...rows.map((row) => line(Object.values(row)))].join(
    '\n',
  );
}

/**
 * Replaces one measured part of a page, and leaves the text around it as it is.
 *
 * @param name of the part, which stands between `<!-- measured: name -->` and `<!-- end: name -->`
 */
export function withPart(text: string, name: string, part: string): string {
  const [from, to] = [`<!-- measured: ${name} -->`, `<!-- end: ${name} -->`];
  const [start, end] = [text.indexOf(from), text.indexOf(to)];
  const marked = `${from}\n${part}\n${to}`;
  if (start < 0 || end < start) return `${text.trimEnd()}\n\n${marked}\n`;
  return text.slice(0, start) + marked + text.slice(end + to.length);
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
  const text = existsSync(page) ? readFileSync(page, 'utf8') : '# Performance\n';
  writeFileSync(page, withPart(text, name, part));
}

/** Describes the date, the hardware and the versions of the programs; it does not name the machine. */
export function circumstances(versions: Readonly<Record<string, string>> = {}): string {
  const [cpu] = os.cpus();
  const day = new Date().toISOString().slice(0, 10);
  const gigabytes = Math.round(os.totalmem() / 1024 ** 3);
  const machine = `${os.cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, ${gigabytes} GB, ${os.type()} ${os.release().split('-')[0]}`;
  const programs = Object.entries({ Node: process.versions.node, ...versions }).map((pair) => pair.join(' '));
  return `${day}. ${machine}. ${programs.join(', ')}.`;
}
