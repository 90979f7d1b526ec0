/** Many people at once, for minutes: what they waited for, and what it took. */
import os from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { viewersVerdicts } from './goals.mjs';
import { usageOf } from './processes.mjs';
import { tableOf } from './report.mjs';
import { bigSlide, slideNames } from './slides.mjs';
import { quantile } from './statistics.mjs';
import { simulateViewer } from './viewers.mjs';

/** What they look at, one half of them each. */
export const watched = [slideNames.scan, slideNames.halves];

/** How many, and for how long. */
export const crowdPlan = (isQuick) =>
  isQuick
    ? { viewers: 50, arrivingSeconds: 5, seconds: 20, everySeconds: 5 }
    : { viewers: 1000, arrivingSeconds: 30, seconds: 330, everySeconds: 30 };

/**
 * @param crowd `count` people who ask at `port` for tiles of `tileSize`; `pathOf(place, tile)` is the path of each
 * @param roots processes whose share of the machine is told, by what they are called in the table
 * @param plan `{ arrivingSeconds, seconds, everySeconds }`
 * @returns milliseconds of all answers, those on slow lines apart, how many were no tiles, by their status (0: none
 *   came), and a row every so often
 */
export async function watchCrowd({ count, port, tileSize, pathOf }, roots, plan) {
  const { arrivingSeconds, seconds, everySeconds } = plan;
  const end = new AbortController();
  const seen = { fast: [], slow: [], failures: new Map(), rows: [] };
  let lately = [];
  const onTile = ({ status, ms, isSlow }) => {
    if (end.signal.aborted) return; // connections are closed under what is on its way
    if (status !== 200) seen.failures.set(status, (seen.failures.get(status) ?? 0) + 1);
    (isSlow ? seen.slow : seen.fast).push(ms);
    if (!isSlow) lately.push(ms);
  };
  const viewers = Array.from({ length: count }, (_, place) =>
    simulateViewer({
      place,
      port,
      slide: { ...bigSlide, tileSize },
      pathOf: (tile) => pathOf(place, tile),
      startAfterMs: (place / count) * arrivingSeconds * 1000,
      signal: end.signal,
      onTile,
    }),
  );
  const all = Promise.all(viewers);
  const usages = () => [
    ...Object.entries(roots).map(([name, ids]) => [name, usageOf(ids)]),
    ['all there is', { cpuSeconds: busySeconds() }],
  ];
  try {
    let before = usages();
    for (let at = everySeconds; at <= seconds; at += everySeconds) {
      await Promise.race([setTimeout(everySeconds * 1000), all]);
      const now = usages();
      const row = {
        at,
        perSecond: lately.length / everySeconds,
        p50: quantile(lately, 0.5),
        p99: quantile(lately, 0.99),
        longest: quantile(lately, 1),
        cores: now.map(([name, { cpuSeconds }], i) => [
          name,
          (cpuSeconds - before[i][1].cpuSeconds) / everySeconds,
        ]),
        megabytes: now[0][1].megabytes,
        failed: failedOf(seen),
      };
      console.log(`${at} s: ${describe(row)}`);
      seen.rows.push(row);
      [lately, before] = [[], now];
    }
  } finally {
    end.abort();
  }
  await all;
  return seen;
}

/** Of all processors, with whatever they did. */
function busySeconds() {
  return os
    .cpus()
    .reduce((sum, { times }) => sum + (times.user + times.nice + times.sys + times.irq) / 1000, 0);
}

function failedOf({ failures }) {
  return [...failures.values()].reduce((sum, count) => sum + count, 0);
}

function describe({ perSecond, p50, p99, longest, cores, megabytes, failed }) {
  const taken = cores.map(([name, share]) => `${name} ${share.toFixed(2)}`).join(', ');
  return `${perSecond.toFixed(0)} tiles/s, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, longest ${longest.toFixed(0)} ms, cores: ${taken}; ${megabytes.toFixed(0)} MB, ${failed} failed`;
}

/** What has come of it, as Markdown: a sentence, the goals, and how it went. */
export function crowdReport(seen) {
  const { fast, slow, failures, rows } = seen;
  const failed = failedOf(seen);
  const verdicts = viewersVerdicts({
    failed,
    p99: quantile(fast, 0.99),
    growth: growthOf(rows.map(({ megabytes }) => megabytes)),
  });
  const instead = [...failures].map(([status, count]) => `${count} with ${status || 'no answer'}`);
  return [
    `One of ten is on a slow line: ${slow.length.toLocaleString('en')} tiles, p50 ${quantile(slow, 0.5).toFixed(0)} ms, p99 ${quantile(slow, 0.99).toFixed(0)} ms until the whole tile was there. The goals are about the other ${fast.length.toLocaleString('en')} tiles.${failed > 0 ? ` Failed: ${instead.join(', ')}.` : ''}`,
    '',
    tableOf(verdicts),
    '',
    tableOf(
      rows.map(({ at, perSecond, p50, p99, longest, cores, megabytes, failed: soFar }) => ({
        second: at,
        'tiles/s': perSecond.toFixed(0),
        'p50 ms': p50.toFixed(1),
        'p99 ms': p99.toFixed(1),
        'longest ms': longest.toFixed(0),
        ...Object.fromEntries(cores.map(([name, share]) => [`cores of ${name}`, share.toFixed(2)])),
        MB: megabytes.toFixed(0),
        'failed so far': soFar,
      })),
    ),
  ].join('\n');
}

/** The most of the last third against the most of the third before it: 1 is flat. */
export function growthOf(numbers) {
  const third = Math.ceil(numbers.length / 3);
  return Math.max(...numbers.slice(-third)) / Math.max(...numbers.slice(-2 * third, -third));
}
