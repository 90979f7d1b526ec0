/** The tables that are printed and written into docs/performance.md. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { root } from '../runtime.mjs';

const page = join(root, 'docs/performance.md');

/** A Markdown table. @param rows objects with the same keys; the keys are its head */
export function tableOf(rows) {
  const [first] = rows;
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const names = Object.keys(first);
  return [line(names), line(names.map(() => '---')), ...rows.map((row) => line(Object.values(row)))].join(
    '\n',
  );
}

/**
 * The text with one of its measured parts exchanged; what people have written around it stays.
 *
 * @param name of the part, as its marks have it: `<!-- measured: name -->` to `<!-- end: name -->`
 */
export function withPart(text, name, part) {
  const [from, to] = [`<!-- measured: ${name} -->`, `<!-- end: ${name} -->`];
  const [start, end] = [text.indexOf(from), text.indexOf(to)];
  const marked = `${from}\n${part}\n${to}`;
  if (start < 0 || end < start) return `${text.trimEnd()}\n\n${marked}\n`;
  return text.slice(0, start) + marked + text.slice(end + to.length);
}

/** Prints a part and writes it into the page. */
export function publish(name, part, { isKept }) {
  console.log(`\n${part}\n`);
  if (!isKept) return;
  const text = existsSync(page) ? readFileSync(page, 'utf8') : '# Performance\n';
  writeFileSync(page, withPart(text, name, part));
}

/** When, on what machine, with which versions; nothing that names the machine. */
export function circumstances(versions) {
  const [cpu] = os.cpus();
  const day = new Date().toISOString().slice(0, 10);
  const gigabytes = Math.round(os.totalmem() / 1024 ** 3);
  const machine = `${os.cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, ${gigabytes} GB, ${os.type()} ${os.release().split('-')[0]}`;
  const programs = Object.entries({ Node: process.versions.node, ...versions }).map((pair) => pair.join(' '));
  return `${day}. ${machine}. ${programs.join(', ')}.`;
}

const number = (value, digits = 0) =>
  Number.isFinite(value)
    ? value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits })
    : '–';

/** One row a server, ratios to nginx where it ran. */
export function serversTable({ peers, results }) {
  const ratio = (value, base) => (Number.isFinite(value / base) ? (value / base).toFixed(3) : '–');
  return tableOf(
    peers.map(({ name, isOfAnotherSlide }) => {
      const { native, cold, again, firstTile } = results[name];
      const base = isOfAnotherSlide ? undefined : results.nginx;
      return {
        server: isOfAnotherSlide ? `${name} (its own slide)` : name,
        'native/s': number(native.perSecond),
        'of nginx': ratio(native.perSecond, base?.native.perSecond),
        'p50 / p99 ms': `${number(native.p50, 1)} / ${number(native.p99, 1)}`,
        'CPU s/1000': number(native.cpuPer1000, 3),
        'cold view/s': number(cold.perSecond),
        'p50 / p99 ms ': `${number(cold.p50, 1)} / ${number(cold.p99, 1)}`,
        'native p95 ms': number(cold.nativeP95, 1),
        'again/s': number(again.perSecond),
        'of nginx ': ratio(again.perSecond, base?.again.perSecond),
        'first tile ms': number(firstTile, 1),
        MB: number(cold.megabytes),
        failed: number(native.failed + cold.failed + again.failed),
      };
    }),
  );
}
