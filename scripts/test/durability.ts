/**
 * `npm run durability`: tests that 10,000 acknowledged writes of accounts survive 50 kills of the server with SIGKILL. `npm test`
 * runs the same test with fewer writes.
 */
import { main, run, toolCommand } from '../launcher/runtime.mjs';

await main(async () => {
  const { code } = await run(
    [...toolCommand('vitest'), 'run', 'packages/server/src/store/durability.test.ts'],
    {
      env: { DURABILITY: 'full' },
    },
  );
  return code;
});
