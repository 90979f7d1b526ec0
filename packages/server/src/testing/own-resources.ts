/** Saved views and collections of an account, inserted without the API, for tests of their maximum numbers. */
import { randomUUID } from 'node:crypto';
import type { Database } from '../store/database.ts';

const at = '2026-01-01T00:00:00.000Z';

/** @param count at most 2,900, because a row has 11 values and SQLite permits 32,766 parameters per statement */
export async function insertSavedViews(db: Database, uid: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, () => ({
    id: randomUUID(),
    uid,
    image_id: randomUUID(),
    title: 'View',
    text: null,
    field: JSON.stringify({ x: 0, y: 0, zoom: 1 }),
    colours: null,
    layers: null,
    version: 1,
    created_at: at,
    updated_at: at,
  }));
  await db.insertInto('saved_views').values(rows).execute();
}

/** Inserts collections without items, which all members may read. @param count at most 4,000 */
export async function insertCollections(db: Database, uid: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, () => ({
    id: randomUUID(),
    uid,
    title: 'Collection',
    description: null,
    readers: 'members' as const,
    version: 1,
    created_at: at,
    updated_at: at,
  }));
  await db.insertInto('collections').values(rows).execute();
}
