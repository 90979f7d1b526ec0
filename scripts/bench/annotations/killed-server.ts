/** A measurement that kills the server repeatedly during saves, and counts acknowledged annotations that are lost after the restart. */
import { setTimeout } from 'node:timers/promises';
import { callApi } from '../../services/api-client.ts';
import type { BenchEnvironment } from '../environment.ts';
import { type RunningProduct, startProduct } from '../product.ts';
import { slideNames } from '../slides/slides.ts';
import type { Row } from './annotations-part.ts';
import { type GeneratedFeature, makeLayer, outline } from './generated-annotations.ts';

/** Number of loops that save annotations at the same time. */
const writers = 4;
/** Number of new annotations in each request. */
const changesPerBatch = 5;

/** Annotations that were sent in one request. */
interface SentBatch {
  readonly features: readonly GeneratedFeature[];
  /** Whether the server has responded that the batch is saved. */
  isAcknowledged: boolean;
}

/** Kills and restarts the server `kills` times. A lost annotation is counted again after every later restart. */
export async function measureKills(
  environment: BenchEnvironment,
  env: NodeJS.ProcessEnv,
  database: string,
  kills: number,
): Promise<Row> {
  let product = await startProduct(environment, env);
  const layerId = await makeLayer({ ...product, imageId: product.imageIdOf(slideNames.scan) }, []);
  const sent: SentBatch[] = [];
  let lost = 0;
  let rejected = 0;
  for (let kill = 0; kill < kills; kill++) {
    const firstBatchOfRound = sent.length;
    const saving = Array.from({ length: writers }, () => saveUntilKilled(product, layerId, sent));
    await setTimeout(100 + Math.random() * 400); // ms until the kill
    for (const pid of product.processIds) process.kill(pid, 'SIGKILL');
    await Promise.all(saving);
    await product.stop(); // waits until the killed process has ended
    product = await startProduct(environment, env);
    const savedIds = await listIds(product, layerId);
    for (const { features, isAcknowledged } of sent) {
      if (isAcknowledged) lost += features.filter(({ id }) => !savedIds.has(id)).length;
    }
    // Batches without a response are sent again, as the browser does.
    for (const batch of sent.slice(firstBatchOfRound).filter(({ isAcknowledged }) => !isAcknowledged)) {
      if (await save(product, layerId, batch.features)) batch.isAcknowledged = true;
      else rejected++;
    }
  }
  const acknowledgedBatches = sent.filter(({ isAcknowledged }) => isAcknowledged).length;
  await product.stop();
  return {
    measured: `${database}: kill -9 of the server ${kills} times during saves; acknowledged annotations that are lost`,
    result: lost,
    detail: `${(acknowledgedBatches * changesPerBatch).toLocaleString('en')} annotations; ${rejected} batches rejected when they were sent again`,
    limit: '0',
  };
}

/** Saves new batches until the server is killed, and appends them to `sent`. */
async function saveUntilKilled(product: RunningProduct, layerId: string, sent: SentBatch[]): Promise<void> {
  for (;;) {
    const features = Array.from({ length: changesPerBatch }, () =>
      outline(Math.random() * 10_000, Math.random() * 10_000, 50, 20),
    );
    const batch: SentBatch = { features, isAcknowledged: false };
    sent.push(batch);
    try {
      if (!(await save(product, layerId, features))) throw new Error('A batch was rejected.');
    } catch (error) {
      if (error instanceof TypeError) return; // `fetch` failed, because the server was killed
      throw error;
    }
    batch.isAcknowledged = true;
  }
}

/** Saves a batch. @returns whether the server accepted it */
async function save(
  { url, token }: RunningProduct,
  layerId: string,
  features: readonly GeneratedFeature[],
): Promise<boolean> {
  const changes = features.map((feature) => ({ op: 'put', feature, base_revision: null }));
  const response = await fetch(`${url}/api/v1/annotation-layers/${layerId}/changes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ changes }),
  });
  await response.arrayBuffer(); // `fetch` can use the connection again only after the body is read
  return response.ok;
}

/** Returns the ids of all saved annotations of the layer. */
async function listIds({ url, token }: RunningProduct, layerId: string): Promise<ReadonlySet<string>> {
  const path = `/annotation-layers/${layerId}/annotations`;
  const { features } = await callApi<{ features: { id: string }[] }>(url, 'GET', path, { token });
  return new Set(features.map(({ id }) => id));
}
