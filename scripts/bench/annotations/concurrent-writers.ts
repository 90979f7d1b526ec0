/**
 * A measurement in which 20 users change one annotation layer at the same time, over separate connections to 3 server processes. It
 * counts acknowledged changes that are lost.
 */
import { callApi } from '../../services/api-client.ts';
import type { RunningProduct } from '../product.ts';
import { slideNames } from '../slides/slides.ts';
import type { Row } from './annotations-part.ts';
import { type GeneratedFeature, makeLayer, outline } from './generated-annotations.ts';

/** Number of users, each with connections of its own. */
const users = 20;
/** Number of annotations that all users change. Each user also draws new annotations. */
const sharedCount = 5;

/**
 * The response to a change: the new revisions by annotation id, or the current annotations with which the change
 * conflicts.
 */
interface ChangeResponse {
  readonly status: number;
  readonly body: {
    readonly revisions?: Readonly<Record<string, number>>;
    readonly conflicts?: readonly {
      readonly id: string;
      readonly properties: { readonly revision: number };
    }[];
  };
}

/**
 * Runs one loop per user, all with the token of the administrator. In each of `rounds` rounds a user draws a new annotation and changes a
 * shared one; after a conflict (409) the user sends the change again with the current revision.
 */
export async function measureConcurrentChanges(
  product: RunningProduct,
  database: string,
  rounds: number,
): Promise<Row> {
  const { url, token } = product;
  // Arguments of `outline`: x and y of the centre, radius, number of vertices.
  const sharedAnnotations = Array.from({ length: sharedCount }, (_, i) =>
    outline(1000 * i + 500, 500, 200, 12),
  );
  const layerId = await makeLayer(
    { url, token, imageId: product.imageIdOf(slideNames.scan) },
    sharedAnnotations,
  );

  /** Sends a change. @param baseRevision revision (number of changes) of the annotation before this change; null for a new one */
  const sendChange = async (
    feature: GeneratedFeature,
    baseRevision: number | null,
  ): Promise<ChangeResponse> => {
    const response = await fetch(`${url}/api/v1/annotation-layers/${layerId}/changes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ changes: [{ op: 'put', feature, base_revision: baseRevision }] }),
    });
    return { status: response.status, body: (await response.json()) as ChangeResponse['body'] };
  };

  let conflicts = 0;
  let changes = 0;
  /** Ids of the new annotations that the server has acknowledged. */
  const acknowledgedNew = new Set<string>();
  /** Number of acknowledged changes, creation included, by id of the shared annotation. It must equal the revision. */
  const acknowledgedChanges = new Map<string, number>(sharedAnnotations.map(({ id }) => [id, 1]));
  await Promise.all(
    Array.from({ length: users }, async (_, user) => {
      const knownRevisions = new Map<string, number>();
      for (let round = 0; round < rounds; round++) {
        const newAnnotation = outline(300 * user, 100 * round + 2000, 20, 12);
        const { status } = await sendChange(newAnnotation, null);
        if (status !== 200) throw new Error(`The server rejected a new annotation with status ${status}.`);
        acknowledgedNew.add(newAnnotation.id);
        changes++;
        const target = sharedAnnotations[(user + round) % sharedCount];
        if (target === undefined) continue;
        for (;;) {
          const moved = outline(1000 * user, 10 * round, 150 + Math.random(), 12, target.id); // differs in every attempt
          const response = await sendChange(moved, knownRevisions.get(target.id) ?? 1); // the creation is revision 1
          if (response.status === 200) {
            knownRevisions.set(target.id, response.body.revisions?.[target.id] ?? 0);
            acknowledgedChanges.set(target.id, (acknowledgedChanges.get(target.id) ?? 0) + 1);
            changes++;
            break;
          }
          if (response.status !== 409)
            throw new Error(`The server rejected a change with status ${response.status}.`);
          conflicts++;
          knownRevisions.set(target.id, response.body.conflicts?.[0]?.properties.revision ?? 0);
        }
      }
    }),
  );

  const list = await callApi<{
    readonly features: readonly { readonly id: string; readonly properties: { readonly revision: number } }[];
  }>(url, 'GET', `/annotation-layers/${layerId}/annotations`, { token });
  const revisions = new Map(list.features.map(({ id, properties }) => [id, properties.revision]));
  const lostNew = [...acknowledgedNew].filter((id) => !revisions.has(id)).length;
  const lostChanges = [...acknowledgedChanges].reduce(
    (sum, [id, count]) => sum + Math.abs(count - (revisions.get(id) ?? 0)),
    0,
  );
  return {
    measured: `${database}: ${users} users change one layer at once in 3 processes; acknowledged changes that are lost`,
    result: lostNew + lostChanges,
    detail: `${changes.toLocaleString('en')} changes, ${conflicts.toLocaleString('en')} reported as conflicts and sent again`,
    limit: '0',
  };
}
