import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';
import { createEndedProcessMetrics, metricsPage } from './metrics-page.ts';
import type { MetricNow } from './prometheus-types.ts';

/** Returns the metrics of a process that has answered some requests in 3 ms each; the gauge `open` is their number too. */
const metricsAfter = async (requestCount: number) => {
  const metrics = createMetrics();
  for (let i = 0; i < requestCount; i++) metrics.request('GET', '/a', 200, 3);
  metrics.watch({ name: 'open', help: '', type: 'gauge', aggregator: 'sum', read: () => requestCount });
  return metrics.now();
};
/** Returns the values of some series on the metrics page of several processes. */
const valuesOf = async (...processes: (readonly MetricNow[])[]) => {
  const page = await metricsPage(processes);
  const valueOfSeries = (series: string) =>
    Number(
      page
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')
        .at(-1),
    );
  return {
    requests: valueOfSeries('http_requests_total{route="/a",method="GET",status="200"}'),
    within5ms: valueOfSeries('http_request_seconds_bucket{le="0.005",route="/a"}'),
    within1ms: valueOfSeries('http_request_seconds_bucket{le="0.001",route="/a"}'),
    seconds: valueOfSeries('http_request_seconds_sum{route="/a"}'),
    open: valueOfSeries('open'),
  };
};

describe('metricsPage (Prometheus metrics of all server processes)', () => {
  it('returns the sums of the metrics of several processes', async () => {
    expect(await valuesOf(await metricsAfter(2), await metricsAfter(5))).toEqual({
      requests: 7,
      within5ms: 7,
      within1ms: 0,
      seconds: expect.closeTo(0.021, 6) as number, // 7 requests of 3 ms
      open: 7,
    });
  });

  it('adds the counters of exited processes to the sums, but not their gauges', async () => {
    const exited = createEndedProcessMetrics();
    exited.add(await metricsAfter(4));
    exited.add(await metricsAfter(3));
    expect(await valuesOf(exited.now(), await metricsAfter(1))).toMatchObject({
      requests: 8,
      within5ms: 8,
      open: 1,
    });
  });
});
