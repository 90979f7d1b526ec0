import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildSvs } from '../testing/build-svs.ts';
import { badSlides } from './bad-slides.ts';
import { type RefusalCost, refusalCosts } from './refusal-cost.ts';

const badFolder = join(process.env.TEST_SLIDES ?? '', '../bad-slides');
const isAvailable = process.env.TEST_SLIDES !== undefined && existsSync(badFolder);
const skipReason = isAvailable ? '' : ' (skipped: TEST_SLIDES names no folder with bad-slides beside it)';

const MAX_BYTES = 64 * 2 ** 20;
/** Maximum processor time; wall time would depend on the load of the machine. */
const MAX_MS = 1000;

async function expectCheap(paths: readonly string[]): Promise<readonly RefusalCost[]> {
  const costs: RefusalCost[] = [];
  for await (const cost of refusalCosts(paths)) costs.push(cost);
  expect(costs).toHaveLength(paths.length);
  expect(costs.filter(({ bytes }) => bytes > MAX_BYTES)).toEqual([]);
  expect(costs.filter(({ processorMs }) => processorMs > MAX_MS)).toEqual([]);
  return costs;
}

describe.skipIf(process.platform !== 'linux')('a render process (opens and renders slides)', () => {
  it.skipIf(!isAvailable)(
    `needs at most 1 s of processor time and 64 MiB to open or reject each damaged slide in bad-slides${skipReason}`,
    async () => {
      await expectCheap(badSlides.map(([name]) => join(badFolder, name)));
    },
    300_000,
  );

  it('needs at most 1 s of processor time and 64 MiB to reject a truncated slide with FILE_TRUNCATED', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'refusal-cost-'));
    const slide = await buildSvs({ width: 1200, height: 900 });
    const paths: string[] = [];
    for (let twentieths = 1; twentieths < 20; twentieths++) {
      const path = join(folder, `${twentieths}.svs`);
      await writeFile(path, slide.subarray(0, Math.floor((slide.length * twentieths) / 20)));
      paths.push(path);
    }
    const costs = await expectCheap(paths);
    await rm(folder, { recursive: true });
    expect(new Set(costs.map(({ code }) => code))).toEqual(new Set(['FILE_TRUNCATED']));
  });
});
