/** `npm run build`: builds the web app when its sources changed. `npm start` runs this script before the server. */
import { main } from '../launcher/runtime.mjs';
import { buildWebApp } from './web-app.ts';

await main(async () => {
  await buildWebApp();
  return 0;
});
