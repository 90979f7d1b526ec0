/** `npm run bench -- servers`: compares the product with other tile servers, each on one processor. */
import { availableParallelism } from 'node:os';
import {
  type BenchOptions,
  createEnvironment,
  useAllProcessors,
  withSeparateProcessors,
} from '../environment.ts';
import { serverVerdicts } from '../goals.ts';
import { circumstances, publish, tableOf } from '../report.ts';
import { comparePixels } from './compare-pixels.ts';
import { compareServers } from './compare-servers.ts';
import { serversTable } from './servers-table.ts';

export async function serversPart({ isQuick }: BenchOptions): Promise<void> {
  const processors = availableParallelism();
  const environment = await createEnvironment();
  const pinned = withSeparateProcessors(environment);
  const { plan, servers, absent, results } = await compareServers(pinned ?? environment, { isQuick });
  const pixels = await comparePixels(pinned ?? environment, { isQuick });
  if (pinned !== null) useAllProcessors(processors);

  const versions = Object.fromEntries(
    servers.filter(({ name }) => name !== 'product').map(({ name, version }) => [name, version]),
  );
  const clientShare = Math.max(...Object.values(results).map(({ native }) => native.clientShare));
  publish(
    'servers',
    [
      circumstances(versions),
      '',
      `${plan.rounds} interleaved rounds, medians. ${pinned === null ? 'Servers and client on the same processors' : 'Every server on one processor, the client on another'}; the client took at most ${Math.round(clientShare * 100)} % of a processor.`,
      `Native: ${plan.native.toLocaleString('en')} distinct tiles in random order for ${plan.seconds} s over 64 connections. View: 3 viewers, ${plan.viewing.toLocaleString('en')} tiles, 16 connections.`,
      ...(absent.length > 0 ? [`Not measured because they are not installed: ${absent.join(', ')}.`] : []),
      pixels === null
        ? 'Pixels were not compared.'
        : `${pixels.compared} native tiles compared with OpenSlide's pixels: largest difference ${pixels.largest}.`,
      '',
      tableOf(serverVerdicts({ results, pixels })),
      '',
      serversTable(servers, results),
    ],
    { isQuick },
  );
}
