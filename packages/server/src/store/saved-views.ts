import { Field } from '@lamina/contract';
import type { Change, Connection } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { Row } from './schema.ts';

export type SavedViewRow = Row<'saved_views'>;

/** Lists the saved views of an account, last changed first. */
export function listSavedViewRows(db: Connection, uid: string): Promise<SavedViewRow[]> {
  return db
    .selectFrom('saved_views')
    .selectAll()
    .where('uid', '=', uid)
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .execute();
}

/** Finds saved views, unordered; unknown ones are missing from the result. */
export async function findSavedViews(db: Connection, ids: readonly string[]): Promise<SavedViewRow[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('saved_views')
    .selectAll()
    .where(isOneOf(db, 'id', ids))
    .execute();
}

export async function saveSavedView(tx: Change, row: SavedViewRow): Promise<void> {
  const { id: _, ...rest } = row;
  await tx
    .insertInto('saved_views')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
    .execute();
}

export async function deleteSavedViewRow(tx: Change, id: string): Promise<void> {
  await tx.deleteFrom('saved_views').where('id', '=', id).execute();
}

export function fieldOf({ field }: Pick<SavedViewRow, 'field'>): Field {
  return Field.parse(JSON.parse(field));
}

/** Returns the colours as the web app stored them; null without. */
export function coloursOf({ colours }: Pick<SavedViewRow, 'colours'>): unknown {
  return colours === null ? null : (JSON.parse(colours) as unknown);
}
