/**
 * `npm run bench` runs benchmarks. A part is a group of measurements with its own tables in docs/performance.md. Without arguments,
 * the parts `servers` (a comparison with other tile servers) and `browser` run; `npm run bench -- results sharing` runs the named
 * parts. `npm run load` runs the part `viewers`, which simulates 1,000 viewers.
 *
 * `--beside <folder>` measures another version in turns with this one, in the parts `servers` and `browser`. The folder is a checkout in
 * which `npm start` has run once, so that its packages are installed and its web app is built.
 *
 * The results replace the tables in docs/performance.md, except with `--beside`, and with `--quick`, which only checks that the parts work. Slides and
 * other data are kept in BENCH_DIR, by default in the user's cache folder.
 */
import { platform } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildWebApp } from '../build/web-app.ts';
import { main, ScriptExit } from '../launcher/runtime.mjs';
import type { BenchOptions } from './environment.ts';

/** The parts by name; the module of a part is loaded only when the part runs. */
const parts: Readonly<Record<string, () => Promise<(options: BenchOptions) => Promise<void>>>> = {
  servers: async () => (await import('./servers/servers-part.ts')).serversPart,
  browser: async () => (await import('./browser/browser-part.ts')).browserPart,
  renderer: async () => (await import('./renderer/renderer-part.ts')).rendererPart,
  colours: async () => (await import('./renderer/colours-part.ts')).coloursPart,
  'main-thread': async () => (await import('./renderer/main-thread-part.ts')).mainThreadPart,
  viewers: async () => (await import('./viewers/viewers-part.ts')).viewersPart,
  catalogue: async () => (await import('./catalogue/catalogue-part.ts')).cataloguePart,
  fairness: async () => (await import('./fairness/fairness-part.ts')).fairnessPart,
  results: async () => (await import('./results/results-part.ts')).resultsPart,
  annotations: async () => (await import('./annotations/annotations-part.ts')).annotationsPart,
  sharing: async () => (await import('./sharing/sharing-part.ts')).sharingPart,
  interoperability: async () =>
    (await import('./interoperability/interoperability-part.ts')).interoperabilityPart,
  processes: async () => (await import('./processes/processes-part.ts')).processesPart,
};

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: 'boolean', default: false }, beside: { type: 'string' } },
  });
  const names = positionals.length > 0 ? positionals : ['servers', 'browser'];
  const partLoaders = names.map((name) => {
    const loadPart = parts[name];
    if (loadPart === undefined) {
      throw new ScriptExit(`There is no part "${name}". The parts are ${Object.keys(parts).join(', ')}.`);
    }
    return loadPart;
  });
  if (values.beside !== undefined && names.some((name) => name !== 'servers' && name !== 'browser')) {
    throw new ScriptExit('Only the parts servers and browser measure another version with --beside.');
  }
  if (platform() !== 'linux')
    throw new ScriptExit('The bench reads resource usage from /proc: it needs Linux.');

  const otherCheckout = values.beside === undefined ? null : resolve(values.beside);
  await buildWebApp();
  for (const loadPart of partLoaders) {
    const part = await loadPart();
    await part({ isQuick: values.quick, otherCheckout });
  }
  return 0;
});
