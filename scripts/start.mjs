/** `npm start`: installs and builds what changed, then becomes the server. Needs nothing installed. */
import './require-node.mjs';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { install } from './install.mjs';
import { main, root, runInstead, server } from './runtime.mjs';
import { buildWebApp } from './web-app.mjs';

await main(async () => {
  await install();
  await buildWebApp();
  const settings = existsSync(join(root, '.env')) ? ['--env-file=.env'] : [];
  return runInstead(server(settings));
});
