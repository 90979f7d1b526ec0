import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds a table of used identity tokens of external providers, because the server accepts each token only once. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('spent_identity_tokens')
    .addColumn('hash', 'text', (c) => c.primaryKey()) // SHA-256 of header and payload of the token
    .addColumn('expires_at', 'text', (c) => c.notNull()) // expiry of the token; its row is then not needed
    .execute();
}
