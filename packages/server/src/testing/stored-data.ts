/** The stored data that a rejected call must not change. */
import type { Database } from '../store/database.ts';

/** Returns all stored data except the audit log and time stamps. */
export async function storedData(db: Database): Promise<unknown> {
  return {
    users: await db.selectFrom('users').selectAll().orderBy('uid').execute(),
    identities: await db.selectFrom('identities').selectAll().orderBy('uid').execute(),
    tokens: await db.selectFrom('tokens').select(['hash', 'expires_at']).orderBy('hash').execute(),
    apiTokens: await db.selectFrom('api_tokens').select(['id', 'expires_at']).orderBy('id').execute(),
    sessions: await db.selectFrom('image_sessions').select(['hash', 'expires_at']).orderBy('hash').execute(),
    secondFactors: await db.selectFrom('second_factors').selectAll().orderBy('uid').execute(),
    registrations: await db.selectFrom('registrations').selectAll().orderBy('hash').execute(),
    resets: await db.selectFrom('password_resets').selectAll().orderBy('hash').execute(),
    images: await db.selectFrom('images').selectAll().orderBy('id').execute(),
    applications: await db.selectFrom('applications').selectAll().orderBy('uid').execute(),
    datasets: await db.selectFrom('datasets').selectAll().orderBy('name').execute(),
    grants: await db.selectFrom('dataset_grants').selectAll().orderBy('uid').execute(),
    datasetRequests: await db.selectFrom('dataset_requests').selectAll().orderBy('id').execute(),
    cases: await db.selectFrom('cases').selectAll().orderBy('id').execute(),
    caseRegistrations: await db.selectFrom('case_registrations').selectAll().orderBy('case_id').execute(),
    layers: await db.selectFrom('annotation_layers').selectAll().orderBy('id').execute(),
    annotations: await db.selectFrom('annotations').selectAll().orderBy('id').execute(),
    annotationClasses: await db.selectFrom('annotation_classes').selectAll().orderBy('dataset').execute(),
    annotationRevisions: await db
      .selectFrom('annotation_revisions')
      .selectAll()
      .orderBy('id')
      .orderBy('revision')
      .execute(),
    savedViews: await db.selectFrom('saved_views').selectAll().orderBy('id').execute(),
    collections: await db.selectFrom('collections').selectAll().orderBy('id').execute(),
    answers: await db.selectFrom('collection_answers').selectAll().orderBy('collection_id').execute(),
    presentations: await db.selectFrom('presentations').selectAll().orderBy('collection_id').execute(),
    shareLinks: await db.selectFrom('share_links').selectAll().orderBy('id').execute(),
    uploads: await db.selectFrom('uploads').select(['id', 'state']).orderBy('id').execute(),
    uploadFiles: await db.selectFrom('upload_files').select(['id', 'state']).orderBy('id').execute(),
  };
}
