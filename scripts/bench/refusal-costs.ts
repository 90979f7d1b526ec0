/**
 * `npm run refusal-costs -- <folder>`: prints the CPU time and memory that a render worker (a process that opens and
 * decodes slides) spends on each file of a folder, in descending order. The output shows how much damaged and hostile
 * files cost before the worker rejects them.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type RefusalCost, refusalCosts } from '../../packages/slide/src/corpus/refusal-cost.ts';
import { main, ScriptExit } from '../launcher/runtime.mjs';

await main(async () => {
  const folder = process.argv[2];
  if (folder === undefined) throw new ScriptExit('Usage: npm run refusal-costs -- <folder>');
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const costs: RefusalCost[] = [];
  for await (const cost of refusalCosts(files)) costs.push(cost);
  costs.sort((a, b) => b.processorMs - a.processorMs || b.elapsedMs - a.elapsedMs);
  console.log('      CPU ms    ms  memory MB  result');
  for (const { path, code, elapsedMs, processorMs, bytes } of costs) {
    const numbers = [
      String(processorMs).padStart(12),
      elapsedMs.toFixed(0).padStart(5),
      (bytes / 2 ** 20).toFixed(1).padStart(10),
    ];
    console.log(`${numbers.join(' ')}  ${(code ?? 'opened').padEnd(20)} ${path}`);
  }
  return 0;
});
