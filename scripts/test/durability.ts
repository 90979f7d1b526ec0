/** `npm run durability`: 10,000 acknowledged account writes under 50 `kill -9`. `npm test` makes fewer writes. */
import { main, run, tool } from '../launcher/runtime.mjs';

await main(async () => {
  const { code } = await run([...tool('vitest'), 'run', 'packages/server/src/store/durability.test.ts'], {
    env: { DURABILITY: 'full' },
  });
  return code;
});
