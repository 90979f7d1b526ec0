/** Third part (`npm run load`): a thousand people at once, for five minutes, on this machine alone. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { crowdPlan, crowdReport, watchCrowd, watched } from './crowd.mjs';
import { startProduct } from './product.mjs';
import { circumstances, publish } from './report.mjs';
import { untilTilesAreMade } from './tiles-made.mjs';
import { makeSessions } from './viewer-sessions.mjs';

export async function viewersPart(ground, { isQuick }) {
  const plan = crowdPlan(isQuick);
  const own = { ...ground, cache: join(ground.cache, 'viewers') };
  rmSync(join(own.cache, 'data'), { recursive: true, force: true }); // nobody known
  const product = await startProduct(own, { THROTTLE: 'off' });
  try {
    console.log(`Making accounts for ${plan.viewers} viewers …`);
    const sessions = await makeSessions(product, plan.viewers);
    console.log('Leaving the slides alone until their tiles are made …');
    await untilTilesAreMade([join(own.cache, 'data')]);
    const images = watched.map((name) => product.images.find(({ file_name }) => file_name === name));
    const pathOf = (place, tile) => product.tilePath(images[place % images.length].id, tile, sessions[place]);
    const crowd = { count: sessions.length, port: product.port, tileSize: ground.tileSize, pathOf };
    report(await watchCrowd(crowd, { 'the product': product.roots }, plan), plan, isQuick);
  } finally {
    await product.stop();
  }
}

function report(seen, { viewers, arrivingSeconds }, isQuick) {
  publish(
    'viewers',
    [
      circumstances({}),
      '',
      `${viewers} viewers, each with an image session of its own, arriving within ${arrivingSeconds} s at two slides that nobody has opened before, but which have been in the catalogue for a minute: their tiles had been made meanwhile; client and server share all processors.`,
      '',
      crowdReport(seen),
    ].join('\n'),
    { isKept: !isQuick },
  );
}
