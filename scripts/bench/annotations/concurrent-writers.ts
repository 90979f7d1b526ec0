/**
 * Lets 20 users change one annotation layer at the same time, over separate connections to 3 server processes, and counts acknowledged
 * changes that are lost.
 */
import { callApi } from '../../services/api-client.ts';
import type { RunningProduct } from '../product.ts';
import { slideNames } from '../slides/slides.ts';
import type { Row } from './annotations-part.ts';
import { type GeneratedFeature, makeLayer, outline } from './generated-annotations.ts';

const people = 20;
/** Number of annotations that all users change; each user also draws new ones. */
const sharedCount = 5;

interface Reply {
  readonly status: number;
  readonly body: {
    readonly revisions?: Readonly<Record<string, number>>;
    readonly conflicts?: readonly {
      readonly id: string;
      readonly properties: { readonly revision: number };
    }[];
  };
}

/** Sends the changes of all users; a user who gets a conflict (409) sends the change again with the current revision. */
export async function changeTogether(
  product: RunningProduct,
  database: string,
  rounds: number,
): Promise<Row> {
  const { url, token } = product;
  const shared = Array.from({ length: sharedCount }, (_, i) => outline(1000 * i + 500, 500, 200, 12));
  const layerId = await makeLayer({ url, token, imageId: product.imageId(slideNames.scan) }, shared);

  const send = async (feature: GeneratedFeature, base: number | null): Promise<Reply> => {
    const response = await fetch(`${url}/api/v1/annotation-layers/${layerId}/changes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ changes: [{ op: 'put', feature, base_revision: base }] }),
    });
    return { status: response.status, body: (await response.json()) as Reply['body'] };
  };

  let conflicts = 0;
  let changes = 0;
  const drawn = new Set<string>();
  /** Number of acknowledged changes of each shared annotation, which must equal its revision. */
  const acknowledged = new Map<string, number>(shared.map(({ id }) => [id, 1]));
  await Promise.all(
    Array.from({ length: people }, async (_, person) => {
      const knownRevisions = new Map<string, number>();
      for (let round = 0; round < rounds; round++) {
        const newAnnotation = outline(300 * person, 100 * round + 2000, 20, 12);
        const { status } = await send(newAnnotation, null);
        if (status !== 200) throw new Error(`A new annotation was answered with ${status}.`);
        drawn.add(newAnnotation.id);
        changes++;
        const target = shared[(person + round) % sharedCount];
        if (target === undefined) continue;
        for (;;) {
          const moved = outline(1000 * person, 10 * round, 150 + Math.random(), 12, target.id);
          const answer = await send(moved, knownRevisions.get(target.id) ?? 1);
          if (answer.status === 200) {
            knownRevisions.set(target.id, answer.body.revisions?.[target.id] ?? 0);
            acknowledged.set(target.id, (acknowledged.get(target.id) ?? 0) + 1);
            changes++;
            break;
          }
          if (answer.status !== 409) throw new Error(`A change was answered with ${answer.status}.`);
          conflicts++;
          knownRevisions.set(target.id, answer.body.conflicts?.[0]?.properties.revision ?? 0);
        }
      }
    }),
  );

  const list = await callApi<{
    readonly features: readonly { readonly id: string; readonly properties: { readonly revision: number } }[];
  }>(url, 'GET', `/annotation-layers/${layerId}/annotations`, { token });
  const revisions = new Map(list.features.map(({ id, properties }) => [id, properties.revision]));
  const lostDrawn = [...drawn].filter((id) => !revisions.has(id)).length;
  const lostChanges = [...acknowledged].reduce(
    (sum, [id, count]) => sum + Math.abs(count - (revisions.get(id) ?? 0)),
    0,
  );
  return {
    measured: `${database}: ${people} people change one layer at once in 3 processes; acknowledged changes that are lost`,
    result: lostDrawn + lostChanges,
    detail: `${changes.toLocaleString('en')} changes, ${conflicts.toLocaleString('en')} reported as conflicts and sent again`,
    limit: '0',
  };
}
