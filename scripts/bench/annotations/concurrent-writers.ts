/** 20 people change one layer at once, each over a connection of their own, in 3 processes of the product. */
import { callApi } from '../../services/api-client.ts';
import type { RunningProduct } from '../product.ts';
import { slideNames } from '../slides/slides.ts';
import type { Row } from './annotations-part.ts';
import { type MadeFeature, makeLayer, outline } from './made-annotations.ts';

const people = 20;
/** Annotations that all of them change; each also draws new ones. */
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

export async function changeTogether(
  product: RunningProduct,
  database: string,
  rounds: number,
): Promise<Row> {
  const { url, token } = product;
  const shared = Array.from({ length: sharedCount }, (_, i) => outline(1000 * i + 500, 500, 200, 12));
  const layerId = await makeLayer({ url, token, imageId: product.imageId(slideNames.scan) }, shared);

  const send = async (feature: MadeFeature, base: number | null): Promise<Reply> => {
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
  /** How often the server said that each shared annotation was changed. */
  const acknowledged = new Map<string, number>(shared.map(({ id }) => [id, 1]));
  await Promise.all(
    Array.from({ length: people }, async (_, person) => {
      const known = new Map<string, number>();
      for (let round = 0; round < rounds; round++) {
        const own = outline(300 * person, 100 * round + 2000, 20, 12);
        const { status } = await send(own, null);
        if (status !== 200) throw new Error(`A new annotation was answered with ${status}.`);
        drawn.add(own.id);
        changes++;
        const target = shared[(person + round) % sharedCount];
        if (target === undefined) continue;
        for (;;) {
          const moved = outline(1000 * person, 10 * round, 150 + Math.random(), 12, target.id);
          const answer = await send(moved, known.get(target.id) ?? 1);
          if (answer.status === 200) {
            known.set(target.id, answer.body.revisions?.[target.id] ?? 0);
            acknowledged.set(target.id, (acknowledged.get(target.id) ?? 0) + 1);
            changes++;
            break;
          }
          if (answer.status !== 409) throw new Error(`A change was answered with ${answer.status}.`);
          conflicts++;
          known.set(target.id, answer.body.conflicts?.[0]?.properties.revision ?? 0);
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
