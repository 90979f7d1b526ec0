import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Adds tables for the applications of new accounts, which administrators approve; for access settings of datasets, with
 * grants and requests, so that a dataset can be restricted; and for the times of digest e-mails, so that only one
 * process sends each digest.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('applications') // what applicants entered
    .addColumn('uid', 'text', (c) => c.primaryKey().references('users.uid').onDelete('cascade'))
    .addColumn('affiliation', 'text')
    .addColumn('purpose', 'text')
    .addColumn('decision_reason', 'text') // why an administrator rejected the application
    .execute();
  await db.schema
    .createTable('datasets') // a dataset without a row is open
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('access', 'text', (c) => c.notNull()) // `open` or `restricted`
    .addColumn('is_listed', 'integer', (c) => c.notNull()) // 1: members see that the restricted dataset exists
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('dataset_grants') // right of an account to see a restricted dataset
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('granted_by', 'text', (c) => c.notNull()) // uid of the administrator
    .addColumn('at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('dataset_grants_pk', ['uid', 'dataset'])
    .execute();
  await db.schema.createIndex('dataset_grants_by_dataset').on('dataset_grants').column('dataset').execute();
  await db.schema
    .createTable('dataset_requests')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull()) // text that the account has entered
    .addColumn('at', 'text', (c) => c.notNull())
    .addColumn('answer', 'text') // `granted` or `refused`; null: not answered
    .addColumn('answer_reason', 'text')
    .addColumn('answered_by', 'text') // uid of the administrator
    .addColumn('answered_at', 'text')
    .addUniqueConstraint('dataset_requests_one_each', ['uid', 'dataset'])
    .execute();
  await db.schema
    .createTable('digests')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('sent_at', 'text', (c) => c.notNull())
    .execute();
}
