import { describe, expect, it } from 'vitest';
import { medians } from './compare-servers.mjs';
import { growthOf } from './crowd.mjs';
import { serverVerdicts, verdictOf } from './goals.mjs';
import { serversTable, tableOf, withPart } from './report.mjs';
import { median, quantile } from './statistics.mjs';

const result = (perSecond) => ({
  native: { perSecond, p50: 1, p99: 4, cpuPer1000: 0.02, failed: 0 },
  cold: { perSecond: perSecond / 10, p50: 8, p99: 90, nativeP95: 2.5, megabytes: 240, failed: 0 },
  again: { perSecond, failed: 0 },
  firstTile: 6,
});
const results = { product: result(30_000), nginx: result(60_000), OpenSlide: result(500) };

describe('numbers', () => {
  it('are told by their quantiles', () => {
    expect(quantile([5, 1, 3], 0)).toBe(1);
    expect(median([5, 1, 3])).toBe(3);
    expect(quantile([5, 1, 3], 1)).toBe(5);
    expect(median([])).toBeNaN();
  });

  it('of several rounds are taken by their medians, each for itself', () => {
    const rounds = [
      { a: 1, b: { c: 9 } },
      { a: 3, b: { c: 7 } },
      { a: 2, b: { c: 8 } },
    ];
    expect(medians(rounds)).toEqual({ a: 2, b: { c: 8 } });
  });

  it('that stay the same grow by 1', () => {
    expect(growthOf([100, 300, 300, 280, 290, 300])).toBe(1);
    expect(growthOf([100, 100, 100, 100, 150, 150])).toBe(1.5);
  });
});

describe('a goal', () => {
  it.each([
    ['atLeast', 0.7, 'aim'],
    ['atLeast', 0.5, 'must'],
    ['atLeast', 0.3, '**not met**'],
  ])('%s 0.4, better 0.6, is with %d at: %s', (is, value, reached) => {
    expect(verdictOf({ goal: 'g', is, must: 0.4, aim: 0.6 }, value)).toMatchObject({ reached });
  });

  it('shows its limits with their unit', () => {
    const goal = { goal: 'p99', is: 'below', must: 10, aim: 5, unit: ' ms', digits: 1 };
    expect(verdictOf(goal, 5)).toEqual({
      goal: 'p99',
      measured: '5.0 ms',
      must: '< 10 ms',
      aim: '< 5 ms',
      reached: 'must',
    });
  });

  it('whose peer is absent is not measured, and not called missed', () => {
    const { nginx: _, ...withoutNginx } = results;
    const [ofNginx, cpu] = serverVerdicts(withoutNginx, null);
    expect(ofNginx).toMatchObject({ measured: 'not measured', reached: '' });
    expect(cpu).toMatchObject({ measured: '0.020', reached: 'aim' });
  });
});

describe('the table of servers', () => {
  it('has a row for each that ran, with its ratio to nginx', () => {
    const peers = ['nginx', 'product', 'OpenSlide'].map((name) => ({ name }));
    const [head, , nginx, product] = serversTable({ peers, results }).split('\n');
    expect(head).toMatch(/^\| server \| native\/s \| of nginx \|/);
    expect(nginx).toMatch(/^\| nginx \| 60,000 \| 1\.000 \|/);
    expect(product).toMatch(/^\| product \| 30,000 \| 0\.500 \|/);
  });

  it('compares nothing with a server that showed another slide', () => {
    const peers = [{ name: 'product', isOfAnotherSlide: true }];
    expect(serversTable({ peers, results }).split('\n')[2]).toMatch(/its own slide\) \| 30,000 \| – \|/);
  });
});

describe('the page', () => {
  it('gets a measured part at its end', () => {
    expect(withPart('# Performance\n', 'servers', tableOf([{ a: 1 }]))).toBe(
      '# Performance\n\n<!-- measured: servers -->\n| a |\n| --- |\n| 1 |\n<!-- end: servers -->\n',
    );
  });

  it('keeps what people have written when the part is measured again', () => {
    const once = `${withPart('# Performance\n', 'servers', 'old')}\nWhy it is so.\n`;
    expect(withPart(once, 'servers', 'new')).toBe(once.replace('old', 'new'));
  });
});
