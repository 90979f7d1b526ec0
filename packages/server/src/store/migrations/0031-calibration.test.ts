import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { insertImages } from '../images.ts';
import { everyDatabaseKind, openTestDatabase } from '../testing/test-database.ts';
import { up } from './0031-calibration.ts';

it.each(everyDatabaseKind)(
  'migration 0031 copies pixel size and magnification to the columns file_* unless the server derived them (database: %s)',
  async (kind) => {
    const { db, close } = await openTestDatabase(kind);
    onTestFinished(close);
    // Micrometres per pixel, objective power, and which of both was derived from the other instead of read from the file.
    const scales = [
      [0.5, 20, null],
      [0.25, 40, 'mpp'],
      [0.25, 40, 'objective_power'],
      [null, null, null],
    ] as const;
    const images = scales.map((_, i) => ({
      id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      root: 'slides' as const,
      path: `${i}`,
      members: '[]',
      fingerprint: null,
      file_name: `${i}.svs`,
      dataset_name: null,
      organ_type: null,
      size_bytes: 1,
    }));
    await insertImages(db, images, '2026-11-22T00:00:00.000Z');
    for (const [i, [mpp, power, derived]] of scales.entries()) {
      await db
        .updateTable('images')
        .set({ mpp_x: mpp, mpp_y: mpp, objective_power: power, derived_scale: derived })
        .where('path', '=', `${i}`)
        .execute();
    }
    // Removes the columns that the migration adds, because the test database already has them.
    for (const column of ['plane', 'planes', 'times', 'error_code', 'entered_mpp', 'entered_objective_power'])
      await db.schema.alterTable('images').dropColumn(column).execute();
    for (const column of ['file_mpp_x', 'file_mpp_y', 'file_objective_power'])
      await db.schema.alterTable('images').dropColumn(column).execute();
    await up(db);
    const { rows } = await sql<Record<string, number | null>>`
    select file_mpp_x, file_mpp_y, file_objective_power from images order by path`.execute(db);
    expect(rows.map((row) => Object.values(row))).toEqual([
      [0.5, 0.5, 20],
      [null, null, 40],
      [0.25, 0.25, null],
      [null, null, null],
    ]);
  },
);
