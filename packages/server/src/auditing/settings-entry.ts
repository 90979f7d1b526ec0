/** What the server was told at its start goes on record whenever it differs from the last time. */
import type { Audit } from '../audit.ts';
import type { Config } from '../config.ts';
import { findLastAuditRow } from '../store/audit.ts';
import { change, type Database } from '../store/database.ts';

/** Where several processes share a database, each has its own: no change of the settings. */
const ofOneProcess: ReadonlySet<string> = new Set(['host', 'port', 'dataDir', 'metricsHost', 'metricsPort']);

/** Of these the trail says whether they are set, and no more. */
const withheld = /password|secret|token|key|email|smtp|databaseUrl/i;

type Told = Readonly<Record<string, string | number | boolean | null>>;

/** Writes nothing when the last entry about the settings says the same. */
export async function recordSettings(
  { db, audit }: { readonly db: Database; readonly audit: Audit },
  config: Config,
): Promise<void> {
  const told = toldOf(config);
  // Of processes that start at the same moment, one writes.
  await change(db, 'audit', async (tx) => {
    const last = await findLastAuditRow(tx, 'settings-changed');
    const before = last === null ? {} : (JSON.parse(last.detail) as Told);
    const names = new Set([...Object.keys(before), ...Object.keys(told)]);
    const changed = [...names].filter((name) => name !== 'changed' && before[name] !== told[name]);
    if (changed.length === 0) return;
    await audit.record(tx, {
      action: 'settings-changed',
      actor: null,
      target: null,
      detail: { ...told, ...(last !== null && { changed: changed.join(' ') }) },
      origin: null,
    });
  });
}

/** Never a secret, nor an address of a person or a password within an address. */
function toldOf(config: Config): Told {
  const isShared = config.databaseUrl !== null;
  const settings = Object.entries(config).filter(([name]) => !isShared || !ofOneProcess.has(name));
  const told = settings.map(([name, value]: [string, unknown]): [string, Told[string]] => {
    if (withheld.test(name)) return [name, value === null ? null : 'set'];
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return [name, value];
    return [name, typeof value === 'string' ? withoutCredentials(value) : plain(value)];
  });
  return Object.fromEntries(told);
}

function plain(value: unknown): string {
  return JSON.stringify(value, (name, each: unknown) => {
    if (name !== '' && withheld.test(name)) return each === null ? null : 'set';
    return typeof each === 'string' ? withoutCredentials(each) : each;
  });
}

function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/@\s]*@/, '//');
}
