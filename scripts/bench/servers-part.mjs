/** First part: the product beside other tile servers, on one processor each. */
import { availableParallelism } from 'node:os';
import { comparePixels } from './compare-pixels.mjs';
import { compareServers } from './compare-servers.mjs';
import { serverVerdicts } from './goals.mjs';
import { releaseProcessors, withOwnProcessors } from './ground.mjs';
import { circumstances, publish, serversTable, tableOf } from './report.mjs';

export async function serversPart(ground, { isQuick }) {
  const processors = availableParallelism();
  const pinned = withOwnProcessors(ground);
  const comparison = await compareServers(pinned, { isQuick });
  const pixels = await comparePixels(pinned, { isQuick });
  if (pinned.isPinned) releaseProcessors(processors);

  const { plan, peers, absent, results } = comparison;
  const versions = Object.fromEntries(
    peers.filter(({ name }) => name !== 'product').map(({ name, version }) => [name, version]),
  );
  const clientShare = Math.max(...Object.values(results).map(({ native }) => native.clientShare));
  publish(
    'servers',
    [
      circumstances(versions),
      '',
      `${plan.rounds} interleaved rounds, medians. ${pinned.isPinned ? 'Every server on one processor, the client on another' : 'Servers and client on the same processors'}; at most ${Math.round(clientShare * 100)} % of its own was taken by the client.`,
      `Native: ${plan.native.toLocaleString('en')} distinct tiles in no order for ${plan.seconds} s over 64 connections. View: 3 people, ${plan.viewing.toLocaleString('en')} tiles, 16 connections.`,
      ...(absent.length > 0 ? [`Not installed, so not measured: ${absent.join(', ')}.`] : []),
      pixels === null
        ? 'Pixels were not compared.'
        : `${pixels.compared} tiles of stored levels compared with OpenSlide's pixels: largest difference ${pixels.largest}.`,
      '',
      tableOf(serverVerdicts(results, pixels)),
      '',
      serversTable(comparison),
    ].join('\n'),
    { isKept: !isQuick },
  );
}
