/** Third part (`npm run load`): a thousand people at once, for five minutes, on this machine alone. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { viewersVerdicts } from './goals.mjs';
import { usageOf } from './processes.mjs';
import { startProduct } from './product.mjs';
import { circumstances, publish, tableOf } from './report.mjs';
import { bigSlide, slideNames } from './slides.mjs';
import { quantile } from './statistics.mjs';
import { untilTilesAreMade } from './tiles-made.mjs';
import { makeSessions } from './viewer-sessions.mjs';
import { simulateViewer } from './viewers.mjs';

const watched = [slideNames.scan, slideNames.halves];

export async function viewersPart(ground, { isQuick }) {
  const plan = isQuick
    ? { viewers: 50, arrivingSeconds: 5, seconds: 20, everySeconds: 5 }
    : { viewers: 1000, arrivingSeconds: 30, seconds: 330, everySeconds: 30 };
  const own = { ...ground, cache: join(ground.cache, 'viewers') };
  rmSync(join(own.cache, 'data'), { recursive: true, force: true }); // nobody known
  const product = await startProduct(own, { THROTTLE: 'off' });
  try {
    console.log(`Making accounts for ${plan.viewers} viewers …`);
    const sessions = await makeSessions(product, plan.viewers);
    console.log('Leaving the slides alone until their tiles are made …');
    await untilTilesAreMade([join(own.cache, 'data')]);
    report(await simulate(product, ground.tileSize, sessions, plan), plan, isQuick);
  } finally {
    await product.stop();
  }
}

/** @returns all times, those of slow lines apart, what failed, and a row every so often */
async function simulate(product, tileSize, sessions, { arrivingSeconds, seconds, everySeconds }) {
  const images = watched.map((name) => product.images.find(({ file_name }) => file_name === name));
  const end = new AbortController();
  const fast = [];
  const slow = [];
  const rows = [];
  let lately = [];
  let failed = 0;
  const onTile = ({ status, ms, isSlow }) => {
    if (end.signal.aborted) return; // connections are closed under what is on its way
    if (status !== 200) failed += 1;
    (isSlow ? slow : fast).push(ms);
    if (!isSlow) lately.push(ms);
  };
  const viewers = sessions.map((session, place) =>
    simulateViewer({
      place,
      port: product.port,
      slide: { ...bigSlide, tileSize },
      pathOf: (tile) => product.tilePath(images[place % images.length].id, tile, session),
      startAfterMs: (place / sessions.length) * arrivingSeconds * 1000,
      signal: end.signal,
      onTile,
    }),
  );
  const all = Promise.all(viewers);
  try {
    let before = usageOf(product.roots);
    for (let at = everySeconds; at <= seconds; at += everySeconds) {
      await Promise.race([setTimeout(everySeconds * 1000), all]);
      const now = usageOf(product.roots);
      const row = {
        at,
        perSecond: lately.length / everySeconds,
        p50: quantile(lately, 0.5),
        p99: quantile(lately, 0.99),
        cores: (now.cpuSeconds - before.cpuSeconds) / everySeconds,
        megabytes: now.megabytes,
        failed,
      };
      console.log(`${at} s: ${describe(row)}`);
      rows.push(row);
      [lately, before] = [[], now];
    }
  } finally {
    end.abort();
  }
  await all;
  return { fast, slow, rows, failed };
}

function describe({ perSecond, p50, p99, cores, megabytes, failed }) {
  return `${perSecond.toFixed(0)} tiles/s, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${cores.toFixed(2)} cores, ${megabytes.toFixed(0)} MB, ${failed} failed`;
}

function report({ fast, slow, rows, failed }, { viewers, arrivingSeconds }, isQuick) {
  const verdicts = viewersVerdicts({
    failed,
    p99: quantile(fast, 0.99),
    growth: growthOf(rows.map(({ megabytes }) => megabytes)),
  });
  publish(
    'viewers',
    [
      circumstances({}),
      '',
      `${viewers} viewers, each with an image session of its own, arriving within ${arrivingSeconds} s at two slides that nobody has opened before, but which have been in the catalogue for a minute: their tiles had been made meanwhile; client and server share all processors. One of ten is on a slow line: ${slow.length.toLocaleString('en')} tiles, p50 ${quantile(slow, 0.5).toFixed(0)} ms, p99 ${quantile(slow, 0.99).toFixed(0)} ms until the whole tile was there. The goals are about the other ${fast.length.toLocaleString('en')} tiles.`,
      '',
      tableOf(verdicts),
      '',
      tableOf(
        rows.map(({ at, perSecond, p50, p99, cores, megabytes, failed: soFar }) => ({
          second: at,
          'tiles/s': perSecond.toFixed(0),
          'p50 ms': p50.toFixed(1),
          'p99 ms': p99.toFixed(1),
          'cores taken': cores.toFixed(2),
          MB: megabytes.toFixed(0),
          'failed so far': soFar,
        })),
      ),
    ].join('\n'),
    { isKept: !isQuick },
  );
}

/** The most of the last third against the most of the third before it: 1 is flat. */
export function growthOf(numbers) {
  const third = Math.ceil(numbers.length / 3);
  return Math.max(...numbers.slice(-third)) / Math.max(...numbers.slice(-2 * third, -third));
}
