/** `npm run test:quick`: runs the tests of quick-folders.ts, which need no other process; at most 60 s on two cores. */
import { availableParallelism } from 'node:os';
import { main, run, toolCommand } from '../launcher/runtime.mjs';
import { quickFolders } from './quick-folders.ts';

await main(async () => {
  // By default, Vitest leaves one processor idle, even if there are only two; this option then uses both.
  const workers = `--maxWorkers=${Math.max(2, availableParallelism() - 1)}`;
  const folders = quickFolders.map((folder) => `${folder}/`);
  const { code } = await run([...toolCommand('vitest'), 'run', workers, '--reporter=dot', ...folders]);
  return code;
});
