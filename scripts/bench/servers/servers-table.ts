/** The table with the results of all compared servers. */
import { markdownTable } from '../report.ts';
import type { ComparedServer, ServerResult } from './compare-servers.ts';

/** Returns a number with a fixed number of decimal places; a dash for null and NaN. */
const decimal = (value: number | null, digits = 0) =>
  value !== null && Number.isFinite(value)
    ? value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits })
    : '–';

/** Returns the ratio to a value of nginx; a dash when nginx was not measured. */
const ratio = (value: number, nginxValue = Number.NaN) =>
  Number.isFinite(value / nginxValue) ? (value / nginxValue).toFixed(3) : '–';

/** Returns a table with one row per server. A ratio to nginx is a dash if nginx did not run or had another slide. */
export function serversTable(
  servers: readonly Pick<ComparedServer, 'name' | 'usesOtherSlide'>[],
  results: Readonly<Record<string, ServerResult>>,
): string {
  return markdownTable(
    servers.flatMap(({ name, usesOtherSlide }) => {
      const result = results[name];
      if (result === undefined) return [];
      const { native, cold, again, firstTile } = result;
      const nginx = usesOtherSlide ? undefined : results.nginx;
      // The keys are the headings and must differ: a space at the end distinguishes two headings that look equal.
      return [
        {
          server: usesOtherSlide ? `${name} (its own slide)` : name,
          'native/s': decimal(native.perSecond),
          'of nginx': ratio(native.perSecond, nginx?.native.perSecond),
          'p50 / p99 ms': `${decimal(native.p50, 1)} / ${decimal(native.p99, 1)}`,
          'CPU s/1000': decimal(native.cpuPer1000, 3),
          'cold view/s': decimal(cold.perSecond),
          'p50 / p99 ms ': `${decimal(cold.p50, 1)} / ${decimal(cold.p99, 1)}`,
          'native p95 ms': decimal(cold.nativeP95, 1),
          'again/s': decimal(again.perSecond),
          'of nginx ': ratio(again.perSecond, nginx?.again.perSecond),
          'first tile ms': decimal(firstTile, 1),
          MB: decimal(cold.megabytes),
          failed: decimal(native.failed + cold.failed + again.failed),
        },
      ];
    }),
  );
}
