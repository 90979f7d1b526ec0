import { describe, expect, it } from 'vitest';
import type { MetricNow } from './counted.ts';
import { createMetrics } from './metrics.ts';
import { createEndedMetrics, metricsPage } from './metrics-page.ts';

const asked = async (times: number) => {
  const metrics = createMetrics();
  for (let i = 0; i < times; i++) metrics.request('GET', '/a', 200, 3);
  metrics.watch({ name: 'open', help: '', type: 'gauge', aggregator: 'sum', read: () => times });
  return metrics.now();
};
const valuesOf = async (...processes: (readonly MetricNow[])[]) => {
  const page = await metricsPage(processes);
  const seriesOf = (series: string) =>
    Number(
      page
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')
        .at(-1),
    );
  return {
    requests: seriesOf('http_requests_total{route="/a",method="GET",status="200"}'),
    within5ms: seriesOf('http_request_seconds_bucket{le="0.005",route="/a"}'),
    within1ms: seriesOf('http_request_seconds_bucket{le="0.001",route="/a"}'),
    seconds: seriesOf('http_request_seconds_sum{route="/a"}'),
    open: seriesOf('open'),
  };
};

describe('the metrics of several processes', () => {
  it('are one sum', async () => {
    expect(await valuesOf(await asked(2), await asked(5))).toEqual({
      requests: 7,
      within5ms: 7,
      within1ms: 0,
      seconds: expect.closeTo(0.021, 6) as number,
      open: 7,
    });
  });

  it('never shrink when a process ends: its counts stay, what it had open does not', async () => {
    const ended = createEndedMetrics();
    ended.add(await asked(4));
    ended.add(await asked(3));
    expect(await valuesOf(ended.now(), await asked(1))).toMatchObject({ requests: 8, within5ms: 8, open: 1 });
  });
});
