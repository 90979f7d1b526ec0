/** `npm run durability`: 10,000 acknowledged account writes under 50 `kill -9`. `npm test` makes fewer. */
import './require-node.mjs';
import { install } from './install.mjs';
import { main, run, tool } from './runtime.mjs';

await main(async () => {
  await install();
  const { code } = await run([...tool('vitest'), 'run', 'packages/server/src/store/durability.test.ts'], {
    env: { DURABILITY: 'full' },
  });
  return code;
});
