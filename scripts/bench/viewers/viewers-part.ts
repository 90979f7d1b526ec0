/** `npm run load`: simulates a thousand concurrent viewers for five minutes; client and server run on this machine. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchOptions, createEnvironment } from '../environment.ts';
import { startProduct } from '../product.ts';
import { waitUntilTilesAreRendered } from '../rendered-tiles.ts';
import { circumstances, publish } from '../report.ts';
import { measureViewers, viewedSlides, viewersPlan, viewersReport } from './concurrent-viewers.ts';
import { createViewerSessions } from './viewer-sessions.ts';

export async function viewersPart({ isQuick }: BenchOptions): Promise<void> {
  const plan = viewersPlan(isQuick);
  const shared = await createEnvironment();
  const environment = { ...shared, cache: join(shared.cache, 'viewers') };
  const dataDir = join(environment.cache, 'data');
  rmSync(dataDir, { recursive: true, force: true }); // removes the accounts of the last run
  const product = await startProduct(environment, { THROTTLE: 'off' });
  try {
    console.log(`Creating accounts for ${plan.viewers} viewers …`);
    const sessions = await createViewerSessions(product.url, product.token, plan.viewers);
    console.log('Waiting until the tiles of the slides are rendered …');
    await waitUntilTilesAreRendered([dataDir]);
    const ids = viewedSlides.map((name) => product.imageId(name));
    const result = await measureViewers(
      {
        port: product.port,
        tileSize: environment.tileSize,
        pathOf: (viewer, tile) =>
          product.tilePath(ids[viewer % ids.length] ?? '', tile, sessions[viewer] ?? ''),
        roots: { 'the product': product.roots },
      },
      plan,
    );
    publish(
      'viewers',
      [
        circumstances(),
        '',
        `${plan.viewers} viewers, each with an own image session, arrive within ${plan.arrivingSeconds} s at two slides that have not been opened before, but whose tiles have been rendered since they were added to the catalogue; client and server share all processors.`,
        '',
        viewersReport(result),
      ],
      { isQuick },
    );
  } finally {
    await product.stop();
  }
}
