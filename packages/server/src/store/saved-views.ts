/** Queries for saved views: fields of view of slides that an account has saved with a title and an optional text. */
import { FieldOfView } from '@lamina/contract';
import type { Connection, DatabaseTransaction } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { Row } from './schema.ts';

export type SavedViewRow = Row<'saved_views'>;

/** Lists the saved views of an account, the most recently changed first. */
export function listSavedViewRows(db: Connection, uid: string): Promise<SavedViewRow[]> {
  return db
    .selectFrom('saved_views')
    .selectAll()
    .where('uid', '=', uid)
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .execute();
}

export async function countSavedViewsOf(db: Connection, uid: string): Promise<number> {
  const { count } = await db
    .selectFrom('saved_views')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('uid', '=', uid)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Finds saved views by id, unordered; unknown ids are missing from the result. */
export async function findSavedViews(db: Connection, ids: readonly string[]): Promise<SavedViewRow[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('saved_views')
    .selectAll()
    .where(isOneOf(db, 'id', ids))
    .execute();
}

/** Inserts or replaces a saved view. */
export async function saveSavedView(tx: DatabaseTransaction, row: SavedViewRow): Promise<void> {
  const { id: _, ...fields } = row;
  await tx
    .insertInto('saved_views')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(fields))
    .execute();
}

export async function deleteSavedViewRow(tx: DatabaseTransaction, id: string): Promise<void> {
  await tx.deleteFrom('saved_views').where('id', '=', id).execute();
}

/** Parses the field of view: the part of the slide that the view shows. */
export function fieldOf({ field }: Pick<SavedViewRow, 'field'>): FieldOfView {
  return FieldOfView.parse(JSON.parse(field));
}

/** Parses the display settings, which only the web app interprets; null when the view has none. */
export function coloursOf({ colours }: Pick<SavedViewRow, 'colours'>): unknown {
  return colours === null ? null : (JSON.parse(colours) as unknown);
}
