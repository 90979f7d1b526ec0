// @ts-check
/**
 * `node scripts/run.mjs <script> [arguments]`: installs the packages when the lock file changed, then runs a TypeScript
 * script of the project with the project's own Node. Every npm script except `start` begins here, because the Node of
 * the shell may be older (20 or newer) and may not run TypeScript.
 */
import './launcher/require-node.mjs';
import { install } from './launcher/install.mjs';
import { main, productNode, runInstead, Stop } from './launcher/runtime.mjs';

await main(async () => {
  const [script, ...args] = process.argv.slice(2);
  if (script === undefined) throw new Stop('Usage: node scripts/run.mjs <script> [arguments]');
  await install();
  return runInstead([productNode(), script, ...args]);
});
