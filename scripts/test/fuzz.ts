/** `npm run fuzz`: runs the property tests of slide formats, each with 500,000 damaged files. `FUZZ_RUNS` sets another number. */
import { main, run, tool } from '../launcher/runtime.mjs';

await main(async () => {
  const env = { FUZZ_RUNS: process.env.FUZZ_RUNS ?? '500000' };
  const { code } = await run([...tool('vitest'), 'run', 'packages/slide/src/formats/', '-t', 'damaged'], {
    env,
  });
  return code;
});
