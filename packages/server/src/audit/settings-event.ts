/** At each server start, records the settings in the audit log if they differ from the last recorded settings. */
import type { Config } from '../platform/config.ts';
import { findLastAuditRow } from '../store/audit.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';
import type { AuditRecorder } from './audit-recorder.ts';

/** Settings that may differ between processes that share a database. A difference between processes is not a change. */
const settingsPerProcess: ReadonlySet<string> = new Set([
  'host',
  'port',
  'dataDir',
  'metricsHost',
  'metricsPort',
]);

/** Settings with these words in their names may be secret or personal. The event contains only whether they are set. */
const confidentialNames = /password|secret|token|key|email|smtp|databaseUrl|contact|privacyNotice/i;

type SettingValues = Readonly<Record<string, string | number | boolean | null>>;

/** Records the settings; writes nothing if the last recorded settings are the same. */
export async function recordSettingsChange(
  { db, audit }: { readonly db: Database; readonly audit: AuditRecorder },
  config: Config,
): Promise<void> {
  const current = settingsToRecord(config);
  // The lock makes processes that start at the same moment write only one event.
  await runLockedTransaction(db, 'audit', async (tx) => {
    const last = await findLastAuditRow(tx, 'settings-changed');
    const previous = last === null ? {} : (JSON.parse(last.detail) as SettingValues);
    const names = new Set([...Object.keys(previous), ...Object.keys(current)]);
    // An earlier event also has the field `changed`, which is not a setting.
    const changed = [...names].filter((name) => name !== 'changed' && previous[name] !== current[name]);
    if (changed.length === 0) return;
    await audit.record(tx, {
      action: 'settings-changed',
      actor: null,
      target: null,
      detail: { ...current, ...(last !== null && { changed: changed.join(' ') }) },
      origin: null,
    });
  });
}

/** Returns the settings without secrets, personal addresses and passwords in URLs. */
function settingsToRecord(config: Config): SettingValues {
  const isShared = config.databaseUrl !== null; // servers on several machines may share a PostgreSQL database
  const settings = Object.entries(config).filter(([name]) => !isShared || !settingsPerProcess.has(name));
  const current = settings.map(([name, value]: [string, unknown]): [string, SettingValues[string]] => {
    if (confidentialNames.test(name)) return [name, value === null ? null : 'set'];
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return [name, value];
    return [name, typeof value === 'string' ? withoutCredentials(value) : withoutSecrets(value)];
  });
  return Object.fromEntries(current);
}

/** Returns the JSON of a list or object without secrets. */
function withoutSecrets(value: unknown): string {
  return JSON.stringify(value, (name, nested: unknown) => {
    if (name !== '' && confidentialNames.test(name)) return nested === null ? null : 'set';
    return typeof nested === 'string' ? withoutCredentials(nested) : nested;
  });
}

/** Removes user name and password from URLs: `https://user:password@host/` becomes `https://host/`. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/@\s]*@/, '//');
}
