/**
 * `npm run bench`: how fast the product is beside others, and in a browser. `npm run load`: with a thousand viewers.
 *
 * Parts can be named: `npm run bench -- servers`, `browser`, `viewers`. `--quick` only shows that everything works;
 * without it the tables of docs/performance.md are written anew. Slides and other data stay in BENCH_DIR, by
 * default in the user's cache folder.
 */
import './require-node.mjs';
import { install } from './install.mjs';
import { main, productNode, run } from './runtime.mjs';
import { buildWebApp } from './web-app.mjs';

await main(async () => {
  await install();
  await buildWebApp();
  // By the product's Node: npm's own may be older.
  const { code } = await run([productNode(), 'scripts/bench/main.mjs', ...process.argv.slice(2)]);
  return code;
});
