/** Asks a server for a list of tiles over many connections and tells how it went. */
import { openConnection, requestOf } from './connection.mjs';
import { usageOf } from './processes.mjs';
import { quantile } from './statistics.mjs';

/**
 * Every connection asks for the next tile as soon as it has got one.
 *
 * @param peer the running server: `{ port, roots, pathOf }`
 * @param tiles names of tiles, asked for in this order
 * @param seconds the list is asked for again and again for so long; null asks for it once
 */
export async function load(peer, tiles, { connections, seconds = null }) {
  const requests = tiles.map((tile) => requestOf(peer.pathOf(tile)));
  // Two lists of numbers: an object for each answer would have the client pause to collect them.
  const times = [];
  const asked = [];
  let next = 0;
  let failed = 0;
  let bytes = 0;

  const before = usageOf(peer.roots);
  const client = process.cpuUsage();
  const began = performance.now();
  const isOver = () =>
    seconds === null ? next >= requests.length : performance.now() > began + seconds * 1000;

  await Promise.all(
    Array.from({ length: connections }, () => {
      const { promise, resolve } = Promise.withResolvers();
      let place = 0;
      const connection = openConnection({
        port: peer.port,
        onAnswer: (status, received, ms) => {
          if (status !== 200) failed += 1;
          bytes += received;
          times.push(ms);
          asked.push(place);
          askNext();
        },
      });
      const askNext = () => {
        if (isOver()) {
          connection.close();
          resolve();
          return;
        }
        place = next % requests.length;
        next += 1;
        connection.ask(requests[place]);
      };
      askNext();
      return promise;
    }),
  );

  const elapsed = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(client);
  const { cpuSeconds, megabytes } = usageOf(peer.roots);
  return {
    requests: times.length,
    failed,
    perSecond: times.length / elapsed,
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    p99: quantile(times, 0.99),
    cpuPer1000: ((cpuSeconds - before.cpuSeconds) * 1000) / times.length,
    /** Of one core; near 1 the client was the limit and not the server. */
    clientShare: (user + system) / 1e6 / elapsed,
    megabytes,
    bytesPerTile: bytes / times.length,
    times: times.map((ms, i) => ({ tile: tiles[asked[i]], ms })),
  };
}
