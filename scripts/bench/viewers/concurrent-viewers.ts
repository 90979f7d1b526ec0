/** A simulation of many people who view slides at the same time for minutes. It measures response times and resource usage. */
import os from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { viewerVerdicts } from '../goals.ts';
import { quantile } from '../load/statistics.ts';
import { markdownTable } from '../report.ts';
import { usageOf } from '../resource-usage.ts';
import { bigSlide, slideNames } from '../slides/slides.ts';
import { simulateViewer, type TileResponse } from './simulated-viewer.ts';

/** The slides that are viewed. Each has the same number of viewers. */
export const viewedSlides = [slideNames.scan, slideNames.halves];

/** How many viewers are simulated, and for how long. */
export interface LoadProfile {
  readonly viewers: number;
  /** The viewers start evenly within this time. */
  readonly rampUpSeconds: number;
  /** Duration of the measurement, including the time in which the viewers start. */
  readonly seconds: number;
  /** Seconds that one row of the result covers. */
  readonly rowSeconds: number;
}

/** Returns the profile of a quick or a full run. */
export const loadProfileOf = (isQuick: boolean): LoadProfile =>
  isQuick
    ? { viewers: 50, rampUpSeconds: 5, seconds: 20, rowSeconds: 5 }
    : { viewers: 1000, rampUpSeconds: 30, seconds: 330, rowSeconds: 30 };

export interface ViewersTarget {
  readonly port: number;
  readonly tileSize: number;
  /** Returns the URL path of a tile for a viewer, counted from 0. */
  pathOf(viewer: number, tile: string): string;
  /** Process ids by the name in the result table; the first entry must be the product. */
  readonly processIds: Readonly<Record<string, readonly number[]>>;
}

/** The results of one interval of `rowSeconds`. */
interface Row {
  /** End of the interval, in seconds since the start. */
  readonly second: number;
  /** Tiles per second of viewers with a fast network. */
  readonly perSecond: number;
  /** Response times of viewers with a fast network, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  /** Mean number of processors that the processes of each name have used since the last row. */
  readonly cores: readonly (readonly [name: string, cores: number])[];
  /** Memory of the product. */
  readonly megabytes: number;
  /** Failed requests since the start. */
  readonly failed: number;
}

export interface ViewersResult {
  /** Milliseconds of all responses to viewers with a fast network, and to those with a slow one. */
  readonly fast: readonly number[];
  readonly slow: readonly number[];
  /** Number of failed requests by status. Status 0: there was no response. */
  readonly failures: ReadonlyMap<number, number>;
  readonly rows: readonly Row[];
}

/** Runs the simulation and prints a line for each interval. */
export async function measureViewers(target: ViewersTarget, profile: LoadProfile): Promise<ViewersResult> {
  const { viewers, rampUpSeconds, seconds, rowSeconds } = profile;
  const endController = new AbortController();
  const [fast, slow]: [number[], number[]] = [[], []];
  const failures = new Map<number, number>();
  const rows: Row[] = [];
  /** Response times of viewers with a fast network, since the last row. */
  let rowTimes: number[] = [];
  const onTile = ({ status, ms, isSlow }: TileResponse) => {
    if (endController.signal.aborted) return; // responses that arrive after the end of the measurement are not counted
    if (status !== 200) failures.set(status, (failures.get(status) ?? 0) + 1);
    (isSlow ? slow : fast).push(ms);
    if (!isSlow) rowTimes.push(ms);
  };
  const allViewers = Promise.all(
    Array.from({ length: viewers }, (_, index) =>
      simulateViewer({
        index,
        port: target.port,
        slide: { ...bigSlide, tileSize: target.tileSize },
        pathOf: (tile) => target.pathOf(index, tile),
        startAfterMs: (index / viewers) * rampUpSeconds * 1000,
        signal: endController.signal,
        onTile,
      }),
    ),
  );
  try {
    let lastUsage = readUsage(target);
    for (let second = rowSeconds; second <= seconds; second += rowSeconds) {
      // Waits for the end of the interval, or rejects when a viewer fails. No viewer ends before `endController` aborts.
      await Promise.race([setTimeout(rowSeconds * 1000), allViewers]);
      const usage = readUsage(target);
      const row = {
        second,
        perSecond: rowTimes.length / rowSeconds,
        p50: quantile(rowTimes, 0.5),
        p99: quantile(rowTimes, 0.99),
        longest: quantile(rowTimes, 1),
        cores: usage.map(({ name, cpuSeconds }, i) => {
          return [name, (cpuSeconds - (lastUsage[i]?.cpuSeconds ?? 0)) / rowSeconds] as const;
        }),
        megabytes: usage[0]?.megabytes ?? 0,
        failed: countFailures(failures),
      };
      console.log(`${second} s: ${describeRow(row)}`);
      rows.push(row);
      rowTimes = [];
      lastUsage = usage;
    }
  } finally {
    endController.abort();
  }
  await allViewers;
  return { fast, slow, failures, rows };
}

/** Returns CPU time and memory of the processes of each name, and then the CPU time of the whole machine, whose memory is given as 0. */
function readUsage({ processIds }: ViewersTarget) {
  return [
    ...Object.entries(processIds).map(([name, ids]) => ({ name, ...usageOf(ids) })),
    { name: 'all processes', cpuSeconds: machineCpuSeconds(), megabytes: 0 },
  ];
}

/** Returns the CPU time of the whole machine. */
function machineCpuSeconds(): number {
  return os
    .cpus()
    .reduce((sum, { times }) => sum + (times.user + times.nice + times.sys + times.irq) / 1000, 0);
}

function countFailures(failures: ReadonlyMap<number, number>): number {
  return [...failures.values()].reduce((sum, count) => sum + count, 0);
}

function describeRow({ perSecond, p50, p99, longest, cores, megabytes, failed }: Row): string {
  const used = cores.map(([name, count]) => `${name} ${count.toFixed(2)}`).join(', ');
  return `${perSecond.toFixed(0)} tiles/s, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, longest ${longest.toFixed(0)} ms, cores: ${used}; ${megabytes.toFixed(0)} MB, ${failed} failed`;
}

/** Returns the result as Markdown: a sentence, the goals, and a row for each interval. */
export function viewersReport({ fast, slow, failures, rows }: ViewersResult): string {
  const failed = countFailures(failures);
  const verdicts = viewerVerdicts({
    failed,
    p99: quantile(fast, 0.99),
    growth: growthOf(rows.map(({ megabytes }) => megabytes)),
  });
  const byStatus = [...failures].map(([status, count]) => `${count} with ${status || 'no response'}`);
  return [
    `One of ten viewers has a slow network: ${slow.length.toLocaleString('en')} tiles, p50 ${quantile(slow, 0.5).toFixed(0)} ms, p99 ${quantile(slow, 0.99).toFixed(0)} ms until the complete response. The goals apply to the other ${fast.length.toLocaleString('en')} tiles.${failed > 0 ? ` Failed: ${byStatus.join(', ')}.` : ''}`,
    '',
    markdownTable(verdicts),
    '',
    markdownTable(
      rows.map(({ second, perSecond, p50, p99, longest, cores, megabytes, failed: failedSoFar }) => ({
        second,
        'tiles/s': perSecond.toFixed(0),
        'p50 ms': p50.toFixed(1),
        'p99 ms': p99.toFixed(1),
        'longest ms': longest.toFixed(0),
        ...Object.fromEntries(cores.map(([name, count]) => [`cores of ${name}`, count.toFixed(2)])),
        MB: megabytes.toFixed(0),
        'failed so far': failedSoFar,
      })),
    ),
  ].join('\n');
}

/**
 * Returns how much the memory grows: the maximum of the last third of the numbers, divided by the maximum of the middle third; 1
 * means no growth.
 */
export function growthOf(numbers: readonly number[]): number {
  const third = Math.ceil(numbers.length / 3);
  return Math.max(...numbers.slice(-third)) / Math.max(...numbers.slice(-2 * third, -third));
}
