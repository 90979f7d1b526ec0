/** `npm run load`: simulates a thousand concurrent viewers for five and a half minutes; client and server run on this machine. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchOptions, createEnvironment } from '../environment.ts';
import { startProduct } from '../product.ts';
import { waitUntilTilesAreRendered } from '../rendered-tiles.ts';
import { describeMachine, publish } from '../report.ts';
import { loadProfileOf, measureViewers, viewedSlides, viewersReport } from './concurrent-viewers.ts';
import { createViewerSessions } from './viewer-sessions.ts';

export async function viewersPart({ isQuick }: BenchOptions): Promise<void> {
  const profile = loadProfileOf(isQuick);
  const shared = await createEnvironment();
  const environment = { ...shared, cache: join(shared.cache, 'viewers') };
  const dataDir = join(environment.cache, 'data');
  rmSync(dataDir, { recursive: true, force: true }); // removes the accounts of the last run
  // Without the throttle: all accounts register and sign in from one client address.
  const product = await startProduct(environment, { THROTTLE: 'off' });
  try {
    console.log(`Creating accounts for ${profile.viewers} viewers …`);
    const sessions = await createViewerSessions(product.url, product.token, profile.viewers);
    console.log('Waiting until the tiles of the slides are rendered …');
    await waitUntilTilesAreRendered([dataDir]);
    const ids = viewedSlides.map((name) => product.imageIdOf(name));
    const result = await measureViewers(
      {
        port: product.port,
        tileSize: environment.tileSize,
        pathOf: (viewer, tile) =>
          product.tilePath(ids[viewer % ids.length] ?? '', tile, sessions[viewer] ?? ''),
        processIds: { 'the product': product.processIds },
      },
      profile,
    );
    publish(
      'viewers',
      [
        describeMachine(),
        '',
        `${profile.viewers} viewers, each with its own image session, arrive within ${profile.rampUpSeconds} s at two slides that have not been opened before, but whose tiles have been rendered since they were added to the catalogue; client and server share all processors.`,
        '',
        viewersReport(result),
      ],
      { isQuick },
    );
  } finally {
    await product.stop();
  }
}
