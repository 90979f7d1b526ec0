/** Queries for the annotation classes (names with colours, such as Tumor) that each dataset offers. */
import type { AnnotationClass } from '@lamina/contract';
import type { Connection, DatabaseTransaction } from './database.ts';

export interface StoredClasses {
  readonly classes: readonly AnnotationClass[];
  /** Number of changes so far. The caller of `saveClasses` increments it. */
  readonly version: number;
}

/** Finds the classes of a dataset; null when the dataset uses the default classes. */
export async function findClasses(db: Connection, dataset: string): Promise<StoredClasses | null> {
  const row = await db
    .selectFrom('annotation_classes')
    .selectAll()
    .where('dataset', '=', dataset)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { classes: JSON.parse(row.classes) as AnnotationClass[], version: row.version };
}

/** Inserts or replaces the classes of a dataset. */
export async function saveClasses(
  tx: DatabaseTransaction,
  dataset: string,
  { classes, version }: StoredClasses,
  now: string,
): Promise<void> {
  const values = { classes: JSON.stringify(classes), version, updated_at: now };
  await tx
    .insertInto('annotation_classes')
    .values({ dataset, ...values })
    .onConflict((conflict) => conflict.column('dataset').doUpdateSet(values))
    .execute();
}

/** Merges the classes stored for several spellings of a dataset name: only the newest row stays, under `name`. */
export async function mergeClasses(
  tx: DatabaseTransaction,
  name: string,
  spellings: readonly string[],
): Promise<void> {
  const newest = await tx
    .selectFrom('annotation_classes')
    .selectAll()
    .where('dataset', 'in', spellings)
    .orderBy('updated_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (newest === undefined) return;
  await tx.deleteFrom('annotation_classes').where('dataset', 'in', spellings).execute();
  await tx
    .insertInto('annotation_classes')
    .values({ ...newest, dataset: name })
    .execute();
}
