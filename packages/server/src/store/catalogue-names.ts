/**
 * Queries for the canonical spelling of each dataset and organ name. Spellings that differ only in letter case, Unicode
 * form, invisible characters or the number of spaces share a key (`nameKey`). The spelling that is registered first is
 * canonical. When two processes register two spellings at the same time, the unique key lets only one succeed.
 */
import { nameKey, toStoredName } from '@lamina/contract';
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';

export type NameKind = Row<'catalogue_names'>['kind'];

/** Number of names per statement. A name has three values, so the total stays below SQLite's limit of 32,766 parameters. */
const namesPerStatement = 500;

/**
 * Registers each name that has no registered spelling. The last of its spellings in `names` becomes canonical, after
 * normalisation by `toStoredName`.
 *
 * @returns a function that maps each of the names to its canonical spelling
 */
export async function registerNames(
  tx: Connection,
  kind: NameKind,
  names: readonly string[],
): Promise<(name: string) => string> {
  // The keys are sorted so that transactions that register the same names acquire row locks in the same order.
  const keys = [...new Set(names.map(nameKey))].sort();
  const spellings = await findSpellings(tx, kind, keys);
  const unregisteredKeys = keys.filter((key) => !spellings.has(key));
  if (unregisteredKeys.length > 0) {
    const namesByKey = new Map(names.map((name) => [nameKey(name), toStoredName(name)]));
    for (let start = 0; start < unregisteredKeys.length; start += namesPerStatement) {
      const batch = unregisteredKeys.slice(start, start + namesPerStatement);
      await tx
        .insertInto('catalogue_names')
        .values(batch.map((key) => ({ kind, key, name: namesByKey.get(key) as string })))
        .onConflict((conflict) => conflict.columns(['kind', 'key']).doNothing())
        .execute();
    }
    // Another process may have registered a different spelling first, which is then the canonical one.
    for (const [key, name] of await findSpellings(tx, kind, unregisteredKeys)) spellings.set(key, name);
  }
  return (name) => spellings.get(nameKey(name)) ?? toStoredName(name);
}

/** Registers a name unless a spelling of it is registered already. @returns the canonical spelling */
export async function registerName(tx: Connection, kind: NameKind, name: string): Promise<string> {
  return (await registerNames(tx, kind, [name]))(name);
}

/** Returns the canonical spelling of a name; for an unregistered name, the spelling that registration would choose. */
export async function spellingOf(db: Connection, kind: NameKind, name: string): Promise<string> {
  const key = nameKey(name);
  return (await findSpellings(db, kind, [key])).get(key) ?? toStoredName(name);
}

/** Returns the canonical spellings of all datasets or all organs by the keys of the names. */
export async function listSpellings(db: Connection, kind: NameKind): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom('catalogue_names').selectAll().where('kind', '=', kind).execute();
  return new Map(rows.map(({ key, name }) => [key, name]));
}

async function findSpellings(
  db: Connection,
  kind: NameKind,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const spellings = new Map<string, string>();
  for (let start = 0; start < keys.length; start += namesPerStatement) {
    const rows = await db
      .selectFrom('catalogue_names')
      .select(['key', 'name'])
      .where('kind', '=', kind)
      .where('key', 'in', keys.slice(start, start + namesPerStatement))
      .execute();
    for (const { key, name } of rows) spellings.set(key, name);
  }
  return spellings;
}
