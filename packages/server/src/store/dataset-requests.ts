/** Who asked for which restricted dataset, and what was answered: the last time of each person and dataset. */
import type { DatasetRequest } from '@lamina/contract';
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';

export type DatasetRequestRow = Row<'dataset_requests'>;

/** Takes the place of an earlier one of this person for this dataset. */
export async function saveDatasetRequest(
  db: Connection,
  request: Pick<DatasetRequestRow, 'id' | 'uid' | 'dataset' | 'reason' | 'at'>,
): Promise<void> {
  const open = { answer: null, answer_reason: null, answered_by: null, answered_at: null };
  const { id, reason, at } = request;
  await db
    .insertInto('dataset_requests')
    .values({ ...request, ...open })
    .onConflict((conflict) => conflict.columns(['uid', 'dataset']).doUpdateSet({ id, reason, at, ...open }))
    .execute();
}

export async function findDatasetRequest(db: Connection, id: string): Promise<DatasetRequestRow | null> {
  const row = await db.selectFrom('dataset_requests').selectAll().where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

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

export function listDatasetRequestsOf(db: Connection, uid: string): Promise<DatasetRequestRow[]> {
  return db.selectFrom('dataset_requests').selectAll().where('uid', '=', uid).execute();
}

export interface DatasetAnswer {
  readonly answer: 'granted' | 'refused';
  readonly reason: string | null;
  /** Uid of the administrator. */
  readonly by: string;
  readonly now: string;
}

/** Answers what is still open of these; nothing happens to what was answered before. */
export async function answerDatasetRequests(
  db: Connection,
  { uid, datasets }: { readonly uid: string; readonly datasets: readonly string[] },
  { answer, reason, by, now }: DatasetAnswer,
): Promise<void> {
  if (datasets.length === 0) return;
  await db
    .updateTable('dataset_requests')
    .set({ answer, answer_reason: reason, answered_by: by, answered_at: now })
    .where('uid', '=', uid)
    .where('dataset', 'in', [...datasets])
    .where('answer', 'is', null)
    .execute();
}

/** Those of active members that nobody has answered, oldest first. */
export function listOpenDatasetRequests(
  db: Connection,
): Promise<(DatasetRequest & { readonly dataset: string })[]> {
  return openRequests(db)
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

/** @param since ISO 8601; only those asked after it */
export async function countOpenDatasetRequests(db: Connection, since = ''): Promise<number> {
  const { count } = await openRequests(db)
    .select((eb) => eb.fn.countAll().as('count'))
    .where('dataset_requests.at', '>', since)
    .executeTakeFirstOrThrow();
  return Number(count);
}

function openRequests(db: Connection) {
  return db
    .selectFrom('dataset_requests')
    .innerJoin('users', 'users.uid', 'dataset_requests.uid')
    .innerJoin('datasets', 'datasets.name', 'dataset_requests.dataset')
    .where('dataset_requests.answer', 'is', null)
    .where('datasets.access', '=', 'restricted')
    .where('users.status', '=', 'active');
}
