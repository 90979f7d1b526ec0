/**
 * Queries for cases (groups of slides of one specimen) with their slides and registrations (transforms that align one slide of a
 * case with another), and for the records of cases that scans import from metadata files (catalogue.csv, dataset.json).
 */
import { type CaseRegistration, nameKey, type RegistrationMatrix } from '@lamina/contract';
import { sortKeyOf } from '../domain/catalogue-order.ts';
import type { Connection, DatabaseTransaction } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { Row } from './schema.ts';

export type CaseSlideRow = Omit<Row<'case_slides'>, 'case_id' | 'position'>;

export interface StoredCase extends Omit<Row<'cases'>, 'sort_key' | 'name_key'> {
  readonly slides: CaseSlideRow[];
  readonly registrations: CaseRegistration[];
}

type CaseRow = Row<'cases'>;

/**
 * Lists cases, ordered by dataset and name. Leaves out those of `inaccessibleDatasets` before it reads the slides.
 *
 * @param dataset undefined lists the cases of all datasets
 */
export async function listStoredCases(
  db: Connection,
  dataset: string | undefined,
  inaccessibleDatasets: ReadonlySet<string>,
): Promise<StoredCase[]> {
  // The duration must not reveal that a restricted dataset exists, or how many cases it has.
  if (dataset !== undefined && inaccessibleDatasets.has(dataset)) return [];
  let query = db.selectFrom('cases').selectAll().orderBy('sort_key').orderBy('id');
  if (dataset !== undefined) query = query.where('dataset', '=', dataset);
  const rows = await query.execute();
  return withSlidesAndRegistrations(
    db,
    rows.filter((row) => !inaccessibleDatasets.has(row.dataset)),
  );
}

/** Finds cases by id, unordered; unknown ids are missing from the result. */
export async function findCases(db: Connection, ids: readonly string[]): Promise<StoredCase[]> {
  if (ids.length === 0) return [];
  return withSlidesAndRegistrations(
    db,
    await db
      .selectFrom('cases')
      .selectAll()
      .where(isOneOf(db, 'id', ids))
      .execute(),
  );
}

async function withSlidesAndRegistrations(db: Connection, rows: readonly CaseRow[]): Promise<StoredCase[]> {
  if (rows.length === 0) return [];
  const isSelected = isOneOf(
    db,
    'case_id',
    rows.map(({ id }) => id),
  );
  const slides = await db
    .selectFrom('case_slides')
    .selectAll()
    .where(isSelected)
    .orderBy('position')
    .execute();
  const registrations = await db
    .selectFrom('case_registrations')
    .selectAll()
    .where(isSelected)
    .orderBy('from_image')
    .orderBy('to_image')
    .execute();
  const slidesByCase = Map.groupBy(slides, ({ case_id }) => case_id);
  const registrationsByCase = Map.groupBy(registrations, ({ case_id }) => case_id);
  return rows.map(({ sort_key: _sortKey, name_key: _nameKey, ...row }) => ({
    ...row,
    slides: (slidesByCase.get(row.id) ?? []).map(({ image_id, stain, block, note }) => ({
      image_id,
      stain,
      block,
      note,
    })),
    registrations: (registrationsByCase.get(row.id) ?? []).map((registration) => ({
      from_image: registration.from_image,
      to_image: registration.to_image,
      matrix: JSON.parse(registration.matrix) as RegistrationMatrix,
      residual_um: registration.residual_um,
    })),
  }));
}

/**
 * Inserts or replaces a case and its slides. Does not save `registrations` (see `saveRegistration`), but deletes the
 * registrations of slides that are no longer in the case.
 */
export async function saveCase(
  tx: DatabaseTransaction,
  { slides, registrations: _, ...row }: StoredCase,
): Promise<void> {
  const { id, ...fields } = {
    ...row,
    sort_key: sortKeyOf({ dataset_name: row.dataset, file_name: row.name }), // cases are sorted like slides
    name_key: nameKey(row.name),
  };
  await tx
    .insertInto('cases')
    .values({ id, ...fields })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(fields))
    .execute();
  await tx.deleteFrom('case_slides').where('case_id', '=', id).execute();
  if (slides.length > 0) {
    await tx
      .insertInto('case_slides')
      .values(slides.map((slide, position) => ({ case_id: id, position, ...slide })))
      .execute();
  }
  const imageIds = slides.map(({ image_id }) => image_id);
  await tx
    .deleteFrom('case_registrations')
    .where('case_id', '=', id)
    .where((eb) =>
      eb.or([eb.not(isOneOf(tx, 'from_image', imageIds)), eb.not(isOneOf(tx, 'to_image', imageIds))]),
    )
    .execute();
}

/** Deletes a case and, by foreign keys, its list of slides and its registrations. */
export async function deleteStoredCase(tx: DatabaseTransaction, id: string): Promise<void> {
  await tx.deleteFrom('cases').where('id', '=', id).execute();
}

/** Inserts or replaces the transform that aligns one slide of a case with another. */
export async function saveRegistration(
  tx: DatabaseTransaction,
  row: Row<'case_registrations'>,
): Promise<void> {
  const { points, matrix, residual_um, updated_at } = row;
  await tx
    .insertInto('case_registrations')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['case_id', 'from_image', 'to_image'])
        .doUpdateSet({ points, matrix, residual_um, updated_at }),
    )
    .execute();
}

/** Finds the case of a dataset whose name is a spelling of this name (see `nameKey`); null when there is none. */
export async function findCaseNamed(
  db: Connection,
  { dataset, name }: Pick<CaseRow, 'dataset' | 'name'>,
): Promise<StoredCase | null> {
  const rows = await db
    .selectFrom('cases')
    .selectAll()
    .where('name_key', '=', nameKey(name))
    .where('dataset', '=', dataset)
    .orderBy('id')
    .limit(1)
    .execute();
  return (await withSlidesAndRegistrations(db, rows))[0] ?? null;
}

/** Fields of a case that scans import from metadata files. */
export type ImportedCase = Pick<StoredCase, 'name' | 'description' | 'slides'>;

/** Record of a case that scans imported from metadata files (table `cases_of_files`). */
export interface MetadataCase {
  /** Keys of dataset and case name (see `nameKey`: all spellings of a name have one key), joined by a line break. */
  readonly key: string;
  /** Id of the case, which an administrator may have deleted. */
  readonly caseId: string;
  /** Fields as the last scan wrote them to the case. If a field of the case differs, an administrator edited it. */
  readonly written: ImportedCase;
}

/** Lists the records of all cases from metadata files, including cases that an administrator has deleted, unordered. */
export async function listMetadataCases(db: Connection): Promise<MetadataCase[]> {
  return (await db.selectFrom('cases_of_files').selectAll().execute()).map(metadataCaseOf);
}

export async function findMetadataCase(db: Connection, key: string): Promise<MetadataCase | null> {
  const row = await db.selectFrom('cases_of_files').selectAll().where('key', '=', key).executeTakeFirst();
  return row === undefined ? null : metadataCaseOf(row);
}

function metadataCaseOf({ key, case_id, written }: Row<'cases_of_files'>): MetadataCase {
  return { key, caseId: case_id, written: JSON.parse(written) as ImportedCase };
}

export async function saveMetadataCase(
  tx: DatabaseTransaction,
  { key, caseId, written }: MetadataCase,
): Promise<void> {
  const row = { case_id: caseId, written: JSON.stringify(written) };
  await tx
    .insertInto('cases_of_files')
    .values({ key, ...row })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
    .execute();
}

export async function deleteMetadataCase(tx: DatabaseTransaction, key: string): Promise<void> {
  await tx.deleteFrom('cases_of_files').where('key', '=', key).execute();
}
