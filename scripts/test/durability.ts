/**
 * `npm run durability`: tests that 10,000 acknowledged writes of accounts survive 50 kills of the server with SIGKILL.
 * `npm run test:all` runs the same test with fewer writes and kills.
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
