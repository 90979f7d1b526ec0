/** Merges several spellings of a dataset or an organ into one. */
import type { DatasetAccess } from '@lamina/contract';
import { sql } from 'kysely';
import { mergeClasses } from './annotation-classes.ts';
import type { NameKind } from './catalogue-names.ts';
import type { Change, Connection } from './database.ts';
import { saveDataset } from './datasets.ts';
import { listDatasetNames } from './listed-images.ts';
import type { ImageNaming } from './managed-images.ts';

/** Lists every spelling in use once, unordered. */
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
  // Jumps from each name to the next in the index: one step per name instead of per entry.
  const { rows } = await sql<{ name: string }>`
    with recursive names (name) as (
      select min(organ_type) from images
      union all
      select (select min(organ_type) from images where organ_type > name) from names where name is not null
    )
    select name from names where name is not null`.execute(db);
  return rows.map(({ name }) => name);
}

/** Lists entries with exactly this spelling, including removed ones and missing files, by id after an id. */
export function listSlidesNamed(
  tx: Change,
  kind: NameKind,
  name: string,
  afterId: string,
  limit: number,
): Promise<ImageNaming[]> {
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
  readonly name: string;
  /** All spellings; may include `name`. */
  readonly spellings: readonly string[];
  readonly now: string;
}

/**
 * Merges the access settings: restricted if one of them was, listed if all restricted ones were. An account
 * keeps its grant if it had one for each restricted spelling; if none was restricted, for each spelling with
 * any grant. Rights to download, and the permission of identifiable originals, stay if every spelling had them.
 *
 * @returns the access, and the accounts that lost a grant
 */
export async function mergeDatasetRows(
  tx: Change,
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

  const needed = new Set(
    restricted.length > 0 ? restricted.map((row) => row.name) : grants.map(({ dataset }) => dataset),
  );
  const grantsOf = Map.groupBy(grants, ({ uid }) => uid);
  const keptGrants = [...grantsOf].filter(([, own]) => {
    const granted = new Set(own.map(({ dataset }) => dataset));
    return [...needed].every((required) => granted.has(required));
  });
  const keptUids = new Set(keptGrants.map(([uid]) => uid));

  await tx.deleteFrom('dataset_grants').where('dataset', 'in', spellings).execute();
  for (const [, own] of keptGrants) {
    const [first] = own.toSorted((a, b) => (a.at < b.at ? -1 : 1));
    if (first !== undefined)
      await tx
        .insertInto('dataset_grants')
        .values({
          ...first,
          dataset: name,
          may_download: own.length >= needed.size && own.every((grant) => grant.may_download === 1) ? 1 : 0,
        })
        .execute();
  }
  await tx.deleteFrom('datasets').where('name', 'in', spellings).execute();
  if (rows.length > 0) {
    const isListed = restricted.length > 0 && restricted.every((row) => row.is_listed === 1);
    const hasIdentifiableOriginals =
      rows.length === new Set(spellings).size && rows.every((row) => row.identifiable_originals === 1);
    await saveDataset(tx, { name, access, isListed, hasIdentifiableOriginals, now });
  }
  await mergeRequests(tx, name, spellings);
  await mergeClasses(tx, name, spellings);
  return { access, revoked: [...grantsOf.keys()].filter((uid) => !keptUids.has(uid)) };
}

/** Merges requests; the last one of each account stays. */
async function mergeRequests(tx: Change, name: string, spellings: readonly string[]): Promise<void> {
  const requests = await tx
    .selectFrom('dataset_requests')
    .selectAll()
    .where('dataset', 'in', spellings)
    .orderBy('at')
    .execute();
  await tx.deleteFrom('dataset_requests').where('dataset', 'in', spellings).execute();
  const last = new Map(requests.map((request) => [request.uid, request]));
  for (const request of last.values()) {
    await tx
      .insertInto('dataset_requests')
      .values({ ...request, dataset: name })
      .execute();
  }
}
