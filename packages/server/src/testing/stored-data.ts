/** Reads the stored data, for tests that compare it before and after a rejected call. The form depends on the kind of database. */
import { sql } from 'kysely';
import type { Database } from '../store/database.ts';
import { isPostgres } from '../store/dialects.ts';

/** Returns the rows of the tables in `queriesOf`, without times that every request changes, such as the last use of a token. */
export async function storedData(db: Database): Promise<unknown> {
  const queries = Object.entries(queriesOf(db));
  if (isPostgres(db)) {
    // One query for all tables, because a round trip to the database takes longer than reading a table.
    const selects = queries.map(
      ([name, query]) =>
        sql`select ${sql.lit(name)} as name, coalesce(json_agg(q), '[]') as rows from (${query}) q`,
    );
    const { rows } = await sql`${sql.join(selects, sql` union all `)}`.execute(db);
    return rows;
  }
  const data: Record<string, unknown> = {};
  for (const [name, query] of queries) data[name] = await query.execute();
  return data;
}

function queriesOf(db: Database) {
  return {
    users: db.selectFrom('users').selectAll().orderBy('uid'),
    identities: db.selectFrom('identities').selectAll().orderBy('uid'),
    tokens: db.selectFrom('tokens').select(['hash', 'expires_at']).orderBy('hash'),
    apiTokens: db.selectFrom('api_tokens').select(['id', 'expires_at']).orderBy('id'),
    sessions: db.selectFrom('image_sessions').select(['hash', 'expires_at']).orderBy('hash'),
    secondFactors: db.selectFrom('second_factors').selectAll().orderBy('uid'),
    registrations: db.selectFrom('registrations').selectAll().orderBy('hash'),
    resets: db.selectFrom('password_resets').selectAll().orderBy('hash'),
    images: db.selectFrom('images').selectAll().orderBy('id'),
    applications: db.selectFrom('applications').selectAll().orderBy('uid'),
    datasets: db.selectFrom('datasets').selectAll().orderBy('name'),
    grants: db.selectFrom('dataset_grants').selectAll().orderBy('uid'),
    datasetRequests: db.selectFrom('dataset_requests').selectAll().orderBy('id'),
    cases: db.selectFrom('cases').selectAll().orderBy('id'),
    caseRegistrations: db.selectFrom('case_registrations').selectAll().orderBy('case_id'),
    resultLayers: db.selectFrom('result_layers').selectAll().orderBy('id'),
    layers: db.selectFrom('annotation_layers').selectAll().orderBy('id'),
    annotations: db.selectFrom('annotations').selectAll().orderBy('id'),
    annotationClasses: db.selectFrom('annotation_classes').selectAll().orderBy('dataset'),
    annotationRevisions: db.selectFrom('annotation_revisions').selectAll().orderBy('id').orderBy('revision'),
    savedViews: db.selectFrom('saved_views').selectAll().orderBy('id'),
    collections: db.selectFrom('collections').selectAll().orderBy('id'),
    answers: db.selectFrom('collection_answers').selectAll().orderBy('collection_id'),
    presentations: db.selectFrom('presentations').selectAll().orderBy('collection_id'),
    shareLinks: db.selectFrom('share_links').selectAll().orderBy('id'),
    uploads: db.selectFrom('uploads').select(['id', 'state']).orderBy('id'),
    uploadFiles: db.selectFrom('upload_files').select(['id', 'state']).orderBy('id'),
  };
}
