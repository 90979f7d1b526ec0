/** Queries for share links, with which visitors without an account open slides, and for the slides that each link opens. */
import type { ShareTargetType } from '@lamina/contract';
import { sql } from 'kysely';
import type { Connection, DatabaseTransaction } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { NewRow, Row } from './schema.ts';

export type ShareLinkRow = Row<'share_links'>;

/** The slide, case, saved view or collection to which a link leads. */
export interface ShareTarget {
  readonly type: ShareTargetType;
  readonly id: string;
}

export async function insertShareLink(tx: DatabaseTransaction, row: NewRow<'share_links'>): Promise<void> {
  await tx.insertInto('share_links').values(row).execute();
}

export async function findShareLink(db: Connection, id: string): Promise<ShareLinkRow | null> {
  const row = await db.selectFrom('share_links').selectAll().where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

export async function findShareLinkBySecret(
  db: Connection,
  secretHash: string,
): Promise<ShareLinkRow | null> {
  const row = await db
    .selectFrom('share_links')
    .selectAll()
    .where('secret_hash', '=', secretHash)
    .executeTakeFirst();
  return row ?? null;
}

/** Lists links with the accounts that created them, newest first. @param uid creator; undefined lists the links of all accounts */
export async function listShareLinkRows(db: Connection, uid: string | undefined) {
  let query = db
    .selectFrom('share_links')
    .innerJoin('users', 'users.uid', 'share_links.uid')
    .selectAll('share_links')
    .select([
      'users.email',
      'users.display_name',
      'users.status',
      'users.role',
      'users.expires_at as account_expires_at',
    ])
    .orderBy('share_links.created_at', 'desc')
    .orderBy('share_links.id');
  if (uid !== undefined) query = query.where('share_links.uid', '=', uid);
  return query.execute();
}

/**
 * Counts an opening of a link, unless the link has been ended or has reached its maximum number of openings. The caller
 * checks that the link has not expired.
 *
 * @returns whether the opening was counted, so that the visitor may open the link
 */
export async function countOpening(tx: DatabaseTransaction, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('share_links')
    .set((eb) => ({ openings: eb('openings', '+', 1) }))
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .where((eb) => eb.or([eb('max_openings', 'is', null), eb('openings', '<', eb.ref('max_openings'))]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends links and deletes the image sessions (credentials for pixels) of their visitors. @param endedAt ISO 8601 */
export async function endShareLinks(
  tx: DatabaseTransaction,
  ids: readonly string[],
  endedAt: string,
): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .updateTable('share_links')
    .set({ ended_at: endedAt })
    .where(isOneOf(tx, 'id', ids))
    .where('ended_at', 'is', null)
    .execute();
  await tx
    .deleteFrom('image_sessions')
    .where(isOneOf(tx, 'share_link_id', ids))
    .execute();
}

/** Ends every link that an account has created. @returns the ids of the links that had not been ended before */
export async function endShareLinksOf(
  tx: DatabaseTransaction,
  uid: string,
  endedAt: string,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('share_links')
    .select('id')
    .where('uid', '=', uid)
    .where('ended_at', 'is', null)
    .execute();
  const ids = rows.map(({ id }) => id);
  await endShareLinks(tx, ids, endedAt);
  return ids;
}

/** Deletes the image sessions of visitors whose link opens a slide of the dataset, or leads to a case of the dataset. */
export async function deleteVisitorSessionsIn(tx: DatabaseTransaction, dataset: string): Promise<void> {
  const linksInUse = await tx
    .selectFrom('image_sessions')
    .select('share_link_id as id')
    .distinct()
    .where('share_link_id', 'is not', null)
    .execute();
  const ids = linksInUse.flatMap(({ id }) => id ?? []);
  if (ids.length === 0) return;
  const { rows } = await sql<{ link_id: string }>`
    select distinct linked.link_id from (${selectLinkedImages(tx, ids)}) as linked
    join images on images.id = linked.image_id
    where images.dataset_name = ${dataset} or linked.case_dataset = ${dataset}`.execute(tx);
  const affectedIds = rows.map(({ link_id }) => link_id);
  if (affectedIds.length > 0) {
    await tx
      .deleteFrom('image_sessions')
      .where(isOneOf(tx, 'share_link_id', affectedIds))
      .execute();
  }
}

/** A slide that a link may open. The caller must still check whether the creator of the link may view the slide. */
export interface LinkedImage {
  readonly id: string;
  readonly dataset: string;
  /** Dataset of the case through which the link leads to the slide; null when it leads to the slide or a view of it. */
  readonly caseDataset: string | null;
}

/**
 * Returns the ids of the slides that a link opens. A slide of a case is opened only while the creator may view the case too.
 *
 * @param inaccessibleDatasets datasets that the creator of the link may not view
 */
export function openedImageIds(
  linkedImages: readonly LinkedImage[],
  inaccessibleDatasets: ReadonlySet<string>,
): ReadonlySet<string> {
  const opened = linkedImages.filter(
    ({ dataset, caseDataset }) =>
      !inaccessibleDatasets.has(dataset) && (caseDataset === null || !inaccessibleDatasets.has(caseDataset)),
  );
  return new Set(opened.map(({ id }) => id));
}

/**
 * Finds the slides that each link may open: ready, neither removed, missing nor hidden, and in a dataset that may be shared.
 *
 * @returns the slides by link id, unordered; a slide to which a link leads in several ways may occur several times; a link without such
 *   slides has no entry
 */
export async function shareableImagesByLink(
  db: Connection,
  linkIds: readonly string[],
): Promise<ReadonlyMap<string, readonly LinkedImage[]>> {
  if (linkIds.length === 0) return new Map();
  const { rows } = await sql<{
    link_id: string;
    image_id: string;
    case_dataset: string | null;
    dataset_name: string;
  }>`
    select linked.link_id, linked.image_id, linked.case_dataset, images.dataset_name
    from (${selectLinkedImages(db, linkIds)}) as linked
    join images on images.id = linked.image_id
    join datasets on datasets.name = images.dataset_name
    where datasets.is_shared = 1 and images.removed_at is null and images.missing_since is null
      and images.hidden_at is null and images.status = 'ready'`.execute(db);
  const rowsByLink = Map.groupBy(rows, ({ link_id }) => link_id);
  return new Map(
    [...rowsByLink].map(([linkId, linkRows]) => [
      linkId,
      linkRows.map(({ image_id, dataset_name, case_dataset }) => ({
        id: image_id,
        dataset: dataset_name,
        caseDataset: case_dataset,
      })),
    ]),
  );
}

/**
 * Returns a subquery with the columns `link_id`, `image_id` and `case_dataset` (null when no case leads to the slide) for all slides that
 * the links lead to. It has one `select` for each type of target, and for a collection one for each type of its items. In the SQL, `l`
 * is a link, `v` a saved view, `c` a case, `s` a slide of a case, and `i` an item of a collection.
 */
function selectLinkedImages(db: Connection, linkIds: readonly string[]) {
  const isSelected = isOneOf(db, 'l.id', linkIds);
  return sql`
    select l.id as link_id, l.target_id as image_id, cast(null as text) as case_dataset from share_links l
      where l.target_type = 'slide' and ${isSelected}
    union select l.id, v.image_id, null from share_links l
      join saved_views v on v.id = l.target_id where l.target_type = 'view' and ${isSelected}
    union select l.id, s.image_id, c.dataset from share_links l
      join cases c on c.id = l.target_id
      join case_slides s on s.case_id = c.id where l.target_type = 'case' and ${isSelected}
    union select l.id, i.target_id, null from share_links l
      join collection_items i on i.collection_id = l.target_id and i.type = 'slide'
      where l.target_type = 'collection' and ${isSelected}
    union select l.id, v.image_id, null from share_links l
      join collection_items i on i.collection_id = l.target_id and i.type = 'view'
      join saved_views v on v.id = i.target_id where l.target_type = 'collection' and ${isSelected}
    union select l.id, s.image_id, c.dataset from share_links l
      join collection_items i on i.collection_id = l.target_id and i.type = 'case'
      join cases c on c.id = i.target_id
      join case_slides s on s.case_id = c.id where l.target_type = 'collection' and ${isSelected}`;
}
