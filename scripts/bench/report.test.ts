/** Tests the arithmetic and the tables of the benchmarks. */
import { describe, expect, it } from 'vitest';
import { serverVerdicts, verdictOf } from './goals.ts';
import { median, quantile } from './load/statistics.ts';
import { markdownTable, replacePart } from './report.ts';
import { medians, type ServerResult } from './servers/compare-servers.ts';
import { serversTable } from './servers/servers-table.ts';
import { growthOf } from './viewers/concurrent-viewers.ts';

/** Returns the figures of a load that sent `perSecond` requests per second. */
const summary = (perSecond: number) => ({
  requests: 1000,
  failed: 0,
  perSecond,
  p50: 1,
  p95: 3,
  p99: 4,
  cpuPer1000: 0.02,
  clientShare: 0.5,
  megabytes: 240,
  bytesPerTile: 9000,
});
const result = (perSecond: number): ServerResult => ({
  native: summary(perSecond),
  cold: { ...summary(perSecond / 10), nativeP95: 2.5 },
  again: summary(perSecond),
  firstTile: 6,
});
const results = { product: result(30_000), nginx: result(60_000), OpenSlide: result(500) };

describe('quantile and median (benchmark statistics)', () => {
  it('return the quantile and the median of unsorted numbers', () => {
    expect(quantile([5, 1, 3], 0)).toBe(1);
    expect(median([5, 1, 3])).toBe(3);
    expect(quantile([5, 1, 3], 1)).toBe(5);
    expect(median([])).toBeNaN();
  });
});

describe('medians (of repeated benchmark rounds)', () => {
  it('returns the median of each field over several objects, including the fields of nested objects', () => {
    const rounds = [
      { a: 1, b: { c: 9 } },
      { a: 3, b: { c: 7 } },
      { a: 2, b: { c: 8 } },
    ];
    expect(medians(rounds)).toEqual({ a: 2, b: { c: 8 } });
  });
});

describe('growthOf (growth of memory during a benchmark)', () => {
  it('divides the maximum of the last third of the numbers by the maximum of the middle third', () => {
    expect(growthOf([100, 300, 300, 280, 290, 300])).toBe(1);
    expect(growthOf([100, 100, 100, 100, 150, 150])).toBe(1.5);
  });
});

describe('verdictOf (comparison of a benchmark result with its goal)', () => {
  it.each([
    ['atLeast', 0.7, 'aim'],
    ['atLeast', 0.5, 'must'],
    ['atLeast', 0.3, '**not met**'],
  ] as const)(
    'reports "$2" for a result of $1 when the goal requires at least 0.4 and aims at 0.6',
    (relation, value, reached) => {
      expect(verdictOf({ goal: 'g', relation, must: 0.4, aim: 0.6 }, value)).toMatchObject({ reached });
    },
  );

  it('returns the measured value, the required value and the aim as strings with the unit of the goal', () => {
    const goal = { goal: 'p99', relation: 'below', must: 10, aim: 5, unit: ' ms', digits: 1 } as const;
    expect(verdictOf(goal, 5)).toEqual({
      goal: 'p99',
      measured: '5.0 ms',
      must: '< 10 ms',
      aim: '< 5 ms',
      reached: 'must',
    });
  });
});

describe('serverVerdicts (goals of the server benchmark)', () => {
  it('reports the throughput ratio to nginx as "not measured" when nginx is not installed', () => {
    const { nginx: _, ...withoutNginx } = results;
    const [ratioToNginx, cpu] = serverVerdicts({ results: withoutNginx, pixels: null });
    expect(ratioToNginx).toMatchObject({ measured: 'not measured', reached: '' });
    expect(cpu).toMatchObject({ measured: '0.020', reached: 'aim' });
  });
});

describe('serversTable (results of the server benchmark)', () => {
  it('has a row for each measured server, with its throughput divided by that of nginx', () => {
    const servers = ['nginx', 'product', 'OpenSlide'].map((name) => ({
      name,
      version: '1',
      usesOtherSlide: false,
    }));
    const [head, , nginx, product] = serversTable(servers, results).split('\n');
    expect(head).toMatch(/^\| server \| native\/s \| of nginx \|/);
    expect(nginx).toMatch(/^\| nginx \| 60,000 \| 1\.000 \|/);
    expect(product).toMatch(/^\| product \| 30,000 \| 0\.500 \|/);
  });

  it('shows no throughput ratio to nginx for a server that was measured with another slide than nginx', () => {
    const servers = [{ name: 'product', version: '1', usesOtherSlide: true }];
    expect(serversTable(servers, results).split('\n')[2]).toMatch(/its own slide\) \| 30,000 \| – \|/);
  });
});

describe('replacePart (writes results into docs/performance.md)', () => {
  it('appends the results of a part that the page does not contain yet', () => {
    expect(replacePart('# Performance\n', 'servers', markdownTable([{ a: 1 }]))).toBe(
      '# Performance\n\n<!-- measured: servers -->\n| a |\n| --- |\n| 1 |\n<!-- end: servers -->\n',
    );
  });

  it('replaces the results of a part and keeps the text around them', () => {
    const once = `${replacePart('# Performance\n', 'servers', 'old')}\nWhy it is so.\n`;
    expect(replacePart(once, 'servers', 'new')).toBe(once.replace('old', 'new'));
  });
});
