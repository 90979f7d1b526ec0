import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Adds columns for the scale that the file states, for the scale that an administrator enters instead, for the focal
 * plane that is shown, and for the error code of an unreadable file. Copies the scale of the file from the existing
 * columns, except values that were derived.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  for (const column of [
    'file_mpp_x',
    'file_mpp_y',
    'file_objective_power',
    'entered_mpp',
    'entered_objective_power',
  ])
    await db.schema.alterTable('images').addColumn(column, 'double precision').execute();
  // Number of the shown focal plane, from 1, and the numbers of focal planes and time points in the file.
  for (const column of ['plane', 'planes', 'times'])
    await db.schema.alterTable('images').addColumn(column, 'integer').execute();
  await db.schema.alterTable('images').addColumn('error_code', 'text').execute();
  await sql`update images set
    file_mpp_x = case when derived_scale = 'mpp' then null else mpp_x end,
    file_mpp_y = case when derived_scale = 'mpp' then null else mpp_y end,
    file_objective_power = case when derived_scale = 'objective_power' then null else objective_power end`.execute(
    db,
  );
}
