/** `npm run fuzz`: the property tests of slide files with a million damaged ones. `FUZZ_RUNS` asks for another number a format. */
import './require-node.mjs';
import { install } from './install.mjs';
import { main, run, tool } from './runtime.mjs';

await main(async () => {
  await install();
  const env = { FUZZ_RUNS: process.env.FUZZ_RUNS ?? '500000' };
  const { code } = await run([...tool('vitest'), 'run', 'packages/slide/src/formats/', '-t', 'damaged'], {
    env,
  });
  return code;
});
