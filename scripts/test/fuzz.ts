/** `npm run fuzz`: reads 500,000 randomly damaged files of each slide format (property tests). `FUZZ_RUNS` sets another number. */
import { main, run, tool } from '../launcher/runtime.mjs';

await main(async () => {
  const env = { FUZZ_RUNS: process.env.FUZZ_RUNS ?? '500000' };
  const testsNamedDamaged = ['-t', 'damaged'];
  const { code } = await run(
    [...tool('vitest'), 'run', 'packages/slide/src/formats/', ...testsNamedDamaged],
    {
      env,
    },
  );
  return code;
});
