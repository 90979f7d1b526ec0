// @ts-check
/**
 * `node scripts/run.mjs <script> [arguments]`: installs the packages when the lock file changed, then runs a TypeScript
 * script of the project with the Node that npm has installed as a package. All npm scripts that run a file of this folder,
 * except `start`, begin here: the Node of the shell must be 20 or newer, but it may be too old for TypeScript.
 */
import './launcher/require-node.mjs';
import { install } from './launcher/install.mjs';
import { findProductNode, main, runInstead, ScriptExit } from './launcher/runtime.mjs';

await main(async () => {
  const [script, ...args] = process.argv.slice(2);
  if (script === undefined) throw new ScriptExit('Usage: node scripts/run.mjs <script> [arguments]');
  await install();
  return runInstead([findProductNode(), script, ...args]);
});
