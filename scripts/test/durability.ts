/** `npm run durability`: tests that 10,000 acknowledged writes of accounts survive 50 `kill -9`. `npm test` runs it with fewer writes. */
import { main, run, tool } from '../launcher/runtime.mjs';

await main(async () => {
  const { code } = await run([...tool('vitest'), 'run', 'packages/server/src/store/durability.test.ts'], {
    env: { DURABILITY: 'full' },
  });
  return code;
});
