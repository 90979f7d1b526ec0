/**
 * `npm run fuzz`: runs tests with more cases than `npm test` does. The property tests of slide formats read 500,000 damaged files each
 * (`FUZZ_RUNS` sets another number). The fault test of the database makes each query of each API call fail once, also on PostgreSQL
 * (`npm test` does so only on SQLite).
 */
import { main, run, toolCommand } from '../launcher/runtime.mjs';
import { startPostgres } from '../services/postgres.ts';

const { FUZZ_RUNS = '500000' } = process.env;

await main(async () => {
  const vitest = [...toolCommand('vitest'), 'run'];
  const formats = await run([...vitest, 'packages/slide/src/formats/', '-t', 'damaged'], {
    env: { FUZZ_RUNS },
  });
  const postgres = await startPostgres();
  try {
    const queries = await run([...vitest, 'packages/server/src/system-tests/faults/database-calls.test.ts'], {
      env: { FAILING_QUERIES: 'all', ...(postgres && { TEST_DATABASE_URL: postgres.url }) },
    });
    return Math.max(formats.code, queries.code);
  } finally {
    await postgres?.stop();
  }
});
