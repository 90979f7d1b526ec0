/** Classes of the annotations of datasets. */
import type { AnnotationClass } from '@lamina/contract';
import type { Change, Connection } from './database.ts';

export interface StoredClasses {
  readonly classes: readonly AnnotationClass[];
  readonly version: number;
}

/** Returns null for a dataset that has the default classes. */
export async function findClasses(db: Connection, dataset: string): Promise<StoredClasses | null> {
  const row = await db
    .selectFrom('annotation_classes')
    .selectAll()
    .where('dataset', '=', dataset)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { classes: JSON.parse(row.classes) as AnnotationClass[], version: row.version };
}

export async function saveClasses(
  tx: Change,
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

/** Keeps the classes of the spelling that was changed last. */
export async function mergeClasses(tx: Change, name: string, spellings: readonly string[]): Promise<void> {
  const last = await tx
    .selectFrom('annotation_classes')
    .selectAll()
    .where('dataset', 'in', spellings)
    .orderBy('updated_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return;
  await tx.deleteFrom('annotation_classes').where('dataset', 'in', spellings).execute();
  await tx
    .insertInto('annotation_classes')
    .values({ ...last, dataset: name })
    .execute();
}
