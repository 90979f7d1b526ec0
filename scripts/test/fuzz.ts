/**
 * `npm run fuzz`: runs tests with more cases than `npm run test:all` does. The main property tests of slide formats read 500,000 damaged
 * files each, the others a share of this number (`FUZZ_RUNS` sets another number). The fault test of the database makes the queries of
 * API calls fail one by one: on SQLite all of them, on PostgreSQL those of calls that change data (with `test:all` only some of these).
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
