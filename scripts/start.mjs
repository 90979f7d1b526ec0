// @ts-check
/**
 * `npm start`: installs the packages if the lock file changed, builds the web app if its sources changed, and runs the server with
 * the settings of `.env`. This script runs on Node 20 or newer; the server runs on Node 24, which npm installs as a package.
 */
import './launcher/require-node.mjs';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { install } from './launcher/install.mjs';
import { findProductNode, main, root, run, runInstead, serverCommand } from './launcher/runtime.mjs';

await main(async () => {
  await install();
  const { code } = await run([findProductNode(), 'scripts/build/main.ts']);
  if (code !== 0) return code;
  const nodeOptions = existsSync(join(root, '.env')) ? ['--env-file=.env'] : [];
  return runInstead(serverCommand(nodeOptions));
});
