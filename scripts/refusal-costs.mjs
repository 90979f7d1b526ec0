/** `npm run refusal-costs -- <folder>`: what each of its files costs a making process, dearest first. */
import './require-node.mjs';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { refusalCosts } from '../packages/slide/src/corpus/refusal-cost.ts';

const folder = process.argv[2] ?? '../shared/bad-slides';
const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
const costs = [];
for await (const cost of refusalCosts(files.map((file) => join(file.parentPath, file.name))))
  costs.push(cost);
costs.sort((one, other) => other.processorMs - one.processorMs || other.ms - one.ms);
console.log('processor ms    ms  memory MB  answer');
for (const { path, code, ms, processorMs, bytes } of costs) {
  const numbers = [
    String(processorMs).padStart(12),
    ms.toFixed(0).padStart(5),
    (bytes / 2 ** 20).toFixed(1).padStart(10),
  ];
  console.log(`${numbers.join(' ')}  ${(code ?? 'shown').padEnd(20)} ${path}`);
}
