import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds a column for the time of a person's first answer, by which visitors are numbered; null for earlier answers. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('collection_answers').addColumn('first_answered_at', 'text').execute();
}
