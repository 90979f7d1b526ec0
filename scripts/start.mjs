/** `npm start`: installs and builds what changed, then becomes the server. Needs nothing installed. */
import './require-node.mjs';
import { install } from './install.mjs';
import { main, productNode, runInstead } from './runtime.mjs';
import { buildWebApp } from './web-app.mjs';

await main(async () => {
  await install();
  await buildWebApp();
  return runInstead([productNode(), '--env-file-if-exists=.env', 'packages/server/src/main.ts']);
});
