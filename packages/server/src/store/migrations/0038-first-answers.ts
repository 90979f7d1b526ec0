import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds the time of a person's first answer, by which visitors are numbered; null for answers from before this migration. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('collection_answers').addColumn('first_answered_at', 'text').execute();
}
