/**
 * Queries for requests for access to restricted datasets (sets of slides that not all members may see). The table contains only the
 * last request of each account for each dataset.
 */
import type { DatasetRequest } from '@lamina/contract';
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';

export type DatasetRequestRow = Row<'dataset_requests'>;

/** Stores an open (not yet answered) request, which replaces an earlier request of the account for the same dataset. */
export async function saveDatasetRequest(
  db: Connection,
  request: Pick<DatasetRequestRow, 'id' | 'uid' | 'dataset' | 'reason' | 'at'>,
): Promise<void> {
  const noAnswer = { answer: null, answer_reason: null, answered_by: null, answered_at: null };
  const { id, reason, at } = request;
  await db
    .insertInto('dataset_requests')
    .values({ ...request, ...noAnswer })
    .onConflict((conflict) =>
      conflict.columns(['uid', 'dataset']).doUpdateSet({ id, reason, at, ...noAnswer }),
    )
    .execute();
}

export async function findDatasetRequest(db: Connection, id: string): Promise<DatasetRequestRow | null> {
  const row = await db.selectFrom('dataset_requests').selectAll().where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

/** Finds the last request of an account for a dataset; null when there is none. */
export async function findDatasetRequestOf(
  db: Connection,
  uid: string,
  dataset: string,
): Promise<DatasetRequestRow | null> {
  const row = await db
    .selectFrom('dataset_requests')
    .selectAll()
    .where('uid', '=', uid)
    .where('dataset', '=', dataset)
    .executeTakeFirst();
  return row ?? null;
}

/** Lists the last request of an account for each dataset, unordered. */
export function listDatasetRequestsOf(db: Connection, uid: string): Promise<DatasetRequestRow[]> {
  return db.selectFrom('dataset_requests').selectAll().where('uid', '=', uid).execute();
}

export interface DatasetAnswer {
  readonly answer: 'granted' | 'refused';
  readonly reason: string | null;
  /** Uid of the administrator who answers. */
  readonly answeredBy: string;
  /** ISO 8601. */
  readonly now: string;
}

/** Stores the answer to the open requests of an account for these datasets. Answered requests stay unchanged. */
export async function answerDatasetRequests(
  db: Connection,
  { uid, datasets }: { readonly uid: string; readonly datasets: readonly string[] },
  { answer, reason, answeredBy, now }: DatasetAnswer,
): Promise<void> {
  if (datasets.length === 0) return;
  await db
    .updateTable('dataset_requests')
    .set({ answer, answer_reason: reason, answered_by: answeredBy, answered_at: now })
    .where('uid', '=', uid)
    .where('dataset', 'in', [...datasets])
    .where('answer', 'is', null)
    .execute();
}

/** Lists the open requests of active accounts for datasets that are still restricted, oldest first. */
export function listOpenDatasetRequests(
  db: Connection,
): Promise<(DatasetRequest & { readonly dataset: string })[]> {
  return selectOpenRequests(db)
    .select([
      'dataset_requests.id',
      'dataset_requests.dataset',
      'dataset_requests.reason',
      'dataset_requests.at',
      'users.uid',
      'users.email',
      'users.display_name as displayName',
    ])
    .orderBy('dataset_requests.at')
    .orderBy('dataset_requests.id')
    .execute();
}

/** Counts those requests of `listOpenDatasetRequests` that are later than `since` (ISO 8601; '' counts all). */
export async function countOpenDatasetRequests(db: Connection, since = ''): Promise<number> {
  const { count } = await selectOpenRequests(db)
    .select((eb) => eb.fn.countAll().as('count'))
    .where('dataset_requests.at', '>', since)
    .executeTakeFirstOrThrow();
  return Number(count);
}

function selectOpenRequests(db: Connection) {
  return db
    .selectFrom('dataset_requests')
    .innerJoin('users', 'users.uid', 'dataset_requests.uid')
    .innerJoin('datasets', 'datasets.name', 'dataset_requests.dataset')
    .where('dataset_requests.answer', 'is', null)
    .where('datasets.access', '=', 'restricted')
    .where('users.status', '=', 'active');
}
