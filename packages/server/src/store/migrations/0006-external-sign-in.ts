import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds the identity tokens of external providers that have been used, because each may be accepted only once. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('spent_identity_tokens')
    .addColumn('hash', 'text', (c) => c.primaryKey())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .execute();
}
