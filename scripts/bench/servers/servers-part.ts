/** `npm run bench -- servers`: compares the product with other tile servers, each on one processor. */
import { availableParallelism } from 'node:os';
import {
  type BenchOptions,
  createEnvironment,
  useAllProcessors,
  withSeparateProcessors,
} from '../environment.ts';
import { serverVerdicts } from '../goals.ts';
import { describeMachine, markdownTable, publish } from '../report.ts';
import { comparePixels } from './compare-pixels.ts';
import { compareServers } from './compare-servers.ts';
import { serversTable } from './servers-table.ts';

export async function serversPart({ isQuick, otherCheckout }: BenchOptions): Promise<void> {
  const processors = availableParallelism();
  const environment = await createEnvironment();
  const pinnedEnvironment = withSeparateProcessors(environment); // null: servers and client share the processors
  const { workload, servers, absent, results } = await compareServers(pinnedEnvironment ?? environment, {
    isQuick,
    otherCheckout,
  });
  const pixels = await comparePixels(pinnedEnvironment ?? environment, { isQuick });
  if (pinnedEnvironment !== null) useAllProcessors(processors);

  const versions = Object.fromEntries(
    servers.filter(({ isProduct }) => !isProduct).map(({ name, version }) => [name, version]),
  );
  const clientShare = Math.max(...Object.values(results).map(({ native }) => native.clientShare));
  publish(
    'servers',
    [
      describeMachine(versions),
      '',
      `${workload.rounds} interleaved rounds, medians. ${pinnedEnvironment === null ? 'Servers and client on the same processors' : 'Every server on one processor, the client on another'}; the client took at most ${Math.round(clientShare * 100)} % of a processor.`,
      `Native: ${workload.nativeTiles.toLocaleString('en')} distinct tiles in random order for ${workload.seconds} s over 64 connections. View: 3 viewers, ${workload.viewingTiles.toLocaleString('en')} tiles, 16 connections.`,
      ...(absent.length > 0 ? [`Not measured because they are not installed: ${absent.join(', ')}.`] : []),
      pixels === null
        ? 'Pixels were not compared.'
        : `${pixels.compared} native tiles compared with OpenSlide's pixels: largest difference ${pixels.largest}.`,
      '',
      markdownTable(serverVerdicts({ results, pixels })),
      '',
      serversTable(servers, results),
    ],
    { isQuick, otherCheckout },
  );
}
