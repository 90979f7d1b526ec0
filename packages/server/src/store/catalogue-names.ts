/**
 * The canonical spelling of each dataset and organ. The unique key of the table decides when two processes
 * register two spellings of a name at the same time.
 */
import { nameKey, spellName } from '@lamina/contract';
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';

export type NameKind = Row<'catalogue_names'>['kind'];

/** Names per statement; far below the parameter limit of both databases. */
const namesPerStatement = 500;

/**
 * Registers the names that have no registered spelling.
 *
 * @returns a function from a name to its canonical spelling
 */
export async function registerNames(
  tx: Connection,
  kind: NameKind,
  names: readonly string[],
): Promise<(name: string) => string> {
  // Sorted, so that two transactions that register the same names acquire row locks in the same order.
  const keys = [...new Set(names.map(nameKey))].sort();
  const spellings = await findSpellings(tx, kind, keys);
  const missing = keys.filter((key) => !spellings.has(key));
  if (missing.length > 0) {
    const nameOf = new Map(names.map((name) => [nameKey(name), spellName(name)]));
    for (let from = 0; from < missing.length; from += namesPerStatement) {
      const batch = missing.slice(from, from + namesPerStatement);
      await tx
        .insertInto('catalogue_names')
        .values(batch.map((key) => ({ kind, key, name: nameOf.get(key) ?? key })))
        .onConflict((conflict) => conflict.columns(['kind', 'key']).doNothing())
        .execute();
    }
    // Another process may have registered a spelling first; that one is canonical.
    for (const [key, name] of await findSpellings(tx, kind, missing)) spellings.set(key, name);
  }
  return (name) => spellings.get(nameKey(name)) ?? spellName(name);
}

/** Registers a name unless one of its spellings is registered. @returns the canonical spelling */
export async function registerName(tx: Connection, kind: NameKind, name: string): Promise<string> {
  return (await registerNames(tx, kind, [name]))(name);
}

/** Returns the canonical spelling of a name; of an unknown name the one that it would get. */
export async function spellingOf(db: Connection, kind: NameKind, name: string): Promise<string> {
  const key = nameKey(name);
  return (await findSpellings(db, kind, [key])).get(key) ?? spellName(name);
}

/** Lists all names of a kind by their keys. */
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
  for (let from = 0; from < keys.length; from += namesPerStatement) {
    const rows = await db
      .selectFrom('catalogue_names')
      .select(['key', 'name'])
      .where('kind', '=', kind)
      .where('key', 'in', keys.slice(from, from + namesPerStatement))
      .execute();
    for (const { key, name } of rows) spellings.set(key, name);
  }
  return spellings;
}
