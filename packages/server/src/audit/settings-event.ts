/** Records the settings of a start in the audit log when they differ from the last start. */

import type { Config } from '../platform/config.ts';
import { findLastAuditRow } from '../store/audit.ts';
import { change, type Database } from '../store/database.ts';
import type { AuditRecorder } from './audit-recorder.ts';

/** Settings that differ between processes over the same database without being a change. */
const perProcess: ReadonlySet<string> = new Set(['host', 'port', 'dataDir', 'metricsHost', 'metricsPort']);

/** Settings of which only their presence is recorded. */
const withheld = /password|secret|token|key|email|smtp|databaseUrl|contact|privacyNotice/i;

type RecordedSettings = Readonly<Record<string, string | number | boolean | null>>;

/** Writes nothing when the last recorded settings are the same. */
export async function recordSettingsChange(
  { db, audit }: { readonly db: Database; readonly audit: AuditRecorder },
  config: Config,
): Promise<void> {
  const current = recordedSettings(config);
  // Of processes that start at the same moment, only one writes.
  await change(db, 'audit', async (tx) => {
    const last = await findLastAuditRow(tx, 'settings-changed');
    const previous = last === null ? {} : (JSON.parse(last.detail) as RecordedSettings);
    const names = new Set([...Object.keys(previous), ...Object.keys(current)]);
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
function recordedSettings(config: Config): RecordedSettings {
  const isShared = config.databaseUrl !== null;
  const settings = Object.entries(config).filter(([name]) => !isShared || !perProcess.has(name));
  const current = settings.map(([name, value]: [string, unknown]): [string, RecordedSettings[string]] => {
    if (withheld.test(name)) return [name, value === null ? null : 'set'];
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return [name, value];
    return [name, typeof value === 'string' ? withoutCredentials(value) : plain(value)];
  });
  return Object.fromEntries(current);
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
