// @ts-check
/** `npm start`: installs the packages and builds the web app when they changed, then runs the server. Runs on Node 20 or newer. */
import './launcher/require-node.mjs';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { install } from './launcher/install.mjs';
import { main, productNode, root, run, runInstead, server } from './launcher/runtime.mjs';

await main(async () => {
  await install();
  const { code } = await run([productNode(), 'scripts/build/main.ts']);
  if (code !== 0) return code;
  const settings = existsSync(join(root, '.env')) ? ['--env-file=.env'] : [];
  return runInstead(server(settings));
});
