/** Queries that merge several spellings of the name of a dataset or an organ into one, the canonical spelling. */
import type { DatasetAccess } from '@lamina/contract';
import { sql } from 'kysely';
import { mergeClasses } from './annotation-classes.ts';
import type { NameKind } from './catalogue-names.ts';
import type { Connection, DatabaseTransaction } from './database.ts';
import { saveDataset } from './datasets.ts';
import { listDatasetNames } from './listed-images.ts';
import type { ImageNames } from './managed-images.ts';

/** Lists each spelling of a dataset or organ that is in use, unordered and without duplicates. */
export async function listNamesInUse(db: Connection, kind: NameKind): Promise<string[]> {
  if (kind === 'organ') return listOrganNames(db);
  const fromSettings = await db
    .selectFrom('datasets')
    .select('name')
    .union(db.selectFrom('dataset_grants').select('dataset as name'))
    .union(db.selectFrom('dataset_requests').select('dataset as name'))
    .union(db.selectFrom('annotation_classes').select('dataset as name'))
    .execute();
  return [...new Set([...(await listDatasetNames(db)), ...fromSettings.map(({ name }) => name)])];
}

async function listOrganNames(db: Connection): Promise<string[]> {
  // The recursive query looks up the next name in the index: one step per name instead of one per entry.
  const { rows } = await sql<{ name: string }>`
    with recursive names (name) as (
      select min(organ_type) from images
      union all
      select (select min(organ_type) from images where organ_type > name) from names where name is not null
    )
    select name from names where name is not null`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Lists the entries with exactly this spelling, including removed entries and entries with a missing file, sorted by id,
 * starting after `afterId`.
 */
export function listSlidesNamed(
  tx: DatabaseTransaction,
  kind: NameKind,
  name: string,
  afterId: string,
  limit: number,
): Promise<ImageNames[]> {
  return tx
    .selectFrom('images')
    .select(['id', 'file_name', 'dataset_name', 'organ_type', 'edited_fields', 'metadata_hold'])
    .where(kind === 'dataset' ? 'dataset_name' : 'organ_type', '=', name)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

interface Spellings {
  /** The canonical spelling, which remains. */
  readonly name: string;
  /** All spellings; may include `name`. */
  readonly spellings: readonly string[];
  /** ISO 8601. */
  readonly now: string;
}

/**
 * Merges the access settings of all spellings of a dataset so that no account gains access:
 * - The dataset is restricted if a spelling was restricted, and listed (members see that it exists) if all restricted
 *   spellings were listed.
 * - An account keeps its grant if it had a grant for every restricted spelling. If no spelling was restricted, the
 *   account must have had a grant for every spelling for which any account had one.
 * - The right of an account to download remains if the account had this right for every spelling. The permission
 *   to download identifiable originals remains if every spelling had it.
 * - Share links may no longer open slides of the dataset, until an administrator allows it again.
 *
 * @returns the merged access, and the uids of the accounts that lost their grants
 */
export async function mergeDatasetRows(
  tx: DatabaseTransaction,
  { name, spellings, now }: Spellings,
): Promise<{ readonly access: DatasetAccess; readonly revoked: readonly string[] }> {
  const rows = await tx.selectFrom('datasets').selectAll().where('name', 'in', spellings).execute();
  const grants = await tx
    .selectFrom('dataset_grants')
    .selectAll()
    .where('dataset', 'in', spellings)
    .execute();
  const restricted = rows.filter(({ access }) => access === 'restricted');
  const access = restricted.length > 0 ? 'restricted' : 'open';

  const spellingCount = new Set(spellings).size;
  const spellingsToBeGranted = new Set(
    restricted.length > 0 ? restricted.map((row) => row.name) : grants.map(({ dataset }) => dataset),
  );
  const grantsByUid = Map.groupBy(grants, ({ uid }) => uid);
  const keptGrants = [...grantsByUid].filter(([, accountGrants]) => {
    const granted = new Set(accountGrants.map(({ dataset }) => dataset));
    return [...spellingsToBeGranted].every((dataset) => granted.has(dataset));
  });
  const keptUids = new Set(keptGrants.map(([uid]) => uid));

  await tx.deleteFrom('dataset_grants').where('dataset', 'in', spellings).execute();
  for (const [, accountGrants] of keptGrants) {
    const [oldest] = accountGrants.toSorted((a, b) => (a.at < b.at ? -1 : 1));
    if (oldest === undefined) continue; // does not happen, because each group has a grant
    const mayDownload =
      accountGrants.length === spellingCount && accountGrants.every((grant) => grant.may_download === 1);
    await tx
      .insertInto('dataset_grants')
      .values({ ...oldest, dataset: name, may_download: mayDownload ? 1 : 0 })
      .execute();
  }
  await tx.deleteFrom('datasets').where('name', 'in', spellings).execute();
  if (rows.length > 0) {
    const isListed = restricted.length > 0 && restricted.every((row) => row.is_listed === 1);
    const hasIdentifiableOriginals =
      rows.length === spellingCount && rows.every((row) => row.identifiable_originals === 1);
    // Without `isShared`, the stored value becomes false, so share links may no longer open slides of the dataset.
    await saveDataset(tx, { name, access, isListed, hasIdentifiableOriginals, now });
  }
  await mergeRequests(tx, name, spellings);
  await mergeClasses(tx, name, spellings); // annotation classes
  return { access, revoked: [...grantsByUid.keys()].filter((uid) => !keptUids.has(uid)) };
}

/** Merges the requests for access; only the last request of each account remains. */
async function mergeRequests(
  tx: DatabaseTransaction,
  name: string,
  spellings: readonly string[],
): Promise<void> {
  const requests = await tx
    .selectFrom('dataset_requests')
    .selectAll()
    .where('dataset', 'in', spellings)
    .orderBy('at')
    .execute();
  await tx.deleteFrom('dataset_requests').where('dataset', 'in', spellings).execute();
  const lastByUid = new Map(requests.map((request) => [request.uid, request])); // later requests replace earlier ones
  for (const request of lastByUid.values()) {
    await tx
      .insertInto('dataset_requests')
      .values({ ...request, dataset: name })
      .execute();
  }
}
