/**
 * Queries for the catalogue grouped by cases (each with slides of one specimen). An entry may be in several cases; it
 * is listed in only one of them: the first, in the order of `sort_key` and id, among the cases of the entry's own
 * dataset. Cases of other datasets are ignored, because their names must not be shown to readers who cannot see those
 * datasets.
 */
import { sql } from 'kysely';
import type { Connection } from './database.ts';
import { isOneOf } from './dialects.ts';
import { type ListedImage, listedColumns } from './listed-image.ts';
import { filterAndSearchConditions, type ImageFilter, type Visibility } from './listed-images.ts';
import type { Row } from './schema.ts';

/** Number of entries (`images`) that are listed in a case and have the same organ. */
export interface CaseCount {
  readonly id: string;
  readonly name: string;
  readonly sortKey: string;
  readonly dataset: string;
  readonly organ: string | null;
  readonly images: number;
}

/** Counts the entries that match a search and are listed in a case, grouped by case and organ, unordered. */
export async function countImagesOfCases(
  db: Connection,
  filter: Visibility & Pick<ImageFilter, 'search'>,
): Promise<CaseCount[]> {
  const rows = await selectImagesInCases(db, { ...filter, dataset: undefined, organ: undefined })
    .select((eb) => [
      'cases.id',
      'cases.name',
      'cases.sort_key',
      'cases.dataset',
      'images.organ_type',
      eb.fn.countAll().as('images'),
    ])
    .groupBy(['cases.id', 'cases.name', 'cases.sort_key', 'cases.dataset', 'images.organ_type'])
    .execute();
  return rows.map(({ id, name, sort_key, dataset, organ_type, images }) => ({
    id,
    name,
    sortKey: sort_key,
    dataset,
    organ: organ_type,
    images: Number(images),
  }));
}

/**
 * Returns the entries of these cases that match a filter, sorted by case in catalogue order, then by position in the
 * case.
 */
export async function listImagesOfCases(
  db: Connection,
  filter: ImageFilter,
  caseIds: readonly string[],
): Promise<ListedImage[]> {
  if (caseIds.length === 0) return [];
  return selectImagesInCases(db, filter)
    .where(isOneOf(db, 'cases.id', caseIds))
    .select(listedColumns.map((column) => `images.${column}` as const))
    .orderBy('cases.sort_key')
    .orderBy('cases.id')
    .orderBy('case_slides.position')
    .execute();
}

/** Returns the id of the case in which an entry is listed; null when it is in no case of its dataset. */
export async function findCaseOfImage(
  db: Connection,
  { id, dataset_name }: Pick<Row<'images'>, 'id' | 'dataset_name'>,
): Promise<string | null> {
  if (dataset_name === null) return null;
  const firstCase = await db
    .selectFrom('case_slides')
    .innerJoin('cases', 'cases.id', 'case_slides.case_id')
    .select('cases.id')
    .where('case_slides.image_id', '=', id)
    .where('cases.dataset', '=', dataset_name)
    .orderBy('cases.sort_key')
    .orderBy('cases.id')
    .limit(1)
    .executeTakeFirst();
  return firstCase?.id ?? null;
}

/**
 * Selects the entries that are listed in a case and match a filter. SQLite never reorders the tables of a cross join,
 * so it starts at the cases and reads no entries outside cases.
 */
function selectImagesInCases(db: Connection, filter: ImageFilter) {
  const query = db
    .selectFrom('cases')
    .crossJoin('case_slides')
    .crossJoin('images')
    .whereRef('case_slides.case_id', '=', 'cases.id')
    .whereRef('images.id', '=', 'case_slides.image_id')
    .whereRef('images.dataset_name', '=', 'cases.dataset')
    .where(sql<boolean>`not exists (select 1 from case_slides other cross join cases earlier
      where other.image_id = images.id and earlier.id = other.case_id and earlier.dataset = cases.dataset
        and (earlier.sort_key, earlier.id) < (cases.sort_key, cases.id))`);
  return filterAndSearchConditions(db, filter).reduce(
    (filtered, condition) => filtered.where(condition),
    query,
  );
}
