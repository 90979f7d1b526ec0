/** The parts of the bench, one after the other; ../bench.mjs says how it is called. */
import { platform } from 'node:os';
import { parseArgs } from 'node:util';
import { main, Stop } from '../runtime.mjs';
import { cacheFolder, groundOf } from './ground.mjs';

const parts = {
  servers: async () => (await import('./servers-part.mjs')).serversPart,
  browser: async () => (await import('./browser-part.mjs')).browserPart,
  viewers: async () => (await import('./viewers-part.mjs')).viewersPart,
  catalogue: async () => (await import('./catalogue-part.mjs')).cataloguePart,
  processes: async () => (await import('./processes-part.mjs')).processesPart,
};
/** Those that look at no slide. */
const withoutSlides = new Set(['catalogue']);

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: 'boolean', default: false } },
  });
  const names = positionals.length > 0 ? positionals : ['servers', 'browser'];
  const unknown = names.find((name) => !Object.hasOwn(parts, name));
  if (unknown) throw new Stop(`There is no part "${unknown}": ${Object.keys(parts).join(', ')}.`);
  if (platform() !== 'linux')
    throw new Stop('The bench reads what processes take from /proc: it needs Linux.');

  const ground = names.every((name) => withoutSlides.has(name)) ? { cache: cacheFolder() } : await groundOf();
  for (const name of names) {
    const part = await parts[name]();
    await part(ground, { isQuick: values.quick });
  }
  return 0;
});
