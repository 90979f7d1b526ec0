/**
 * Merges the different spellings of a dataset or organ name, which earlier versions stored as separate names. The merged
 * dataset is restricted if one of its parts was. An account keeps its grant only if it had one to each restricted part, so
 * no account gains access.
 *
 * This runs at each start. If there is nothing to merge, it only reads the names.
 */
import { nameKey, spellName } from '@lamina/contract';
import type { Logger } from 'pino';
import type { AuditEntry, AuditRecorder } from '../audit/audit-recorder.ts';
import { listSpellings, type NameKind, registerName } from '../store/catalogue-names.ts';
import { acquireLock, type Change, type Database, runLockedTransaction } from '../store/database.ts';
import { listDatasetRows } from '../store/datasets.ts';
import { renameImages } from '../store/managed-images.ts';
import { listNamesInUse, listSlidesNamed, mergeDatasetRows } from '../store/merge-names.ts';

interface MergeDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: AuditRecorder;
}

const slidesPerQuery = 500;

export async function mergeSpellings({ db, now, log, audit }: MergeDependencies): Promise<void> {
  for (const kind of ['dataset', 'organ'] as const) {
    if ((await unmerged(db, kind)).length === 0) continue;
    // Grants, which `accounts` guards, and images, which `catalogue` guards, contain the names.
    await runLockedTransaction(db, 'accounts', async (tx) => {
      await acquireLock(tx, 'catalogue');
      // Queried again in the transaction, because another process may just have merged them.
      for (const spellings of await unmerged(tx, kind)) {
        const logFields = await merge(tx, kind, spellings);
        if (logFields !== null)
          log.warn(
            { kind, ...logFields },
            'different spellings of a dataset or organ name were merged into one',
          );
      }
    });
  }

  /** Merges the spellings of one name. @returns fields for the log; null when there was only one spelling, which is now registered */
  async function merge(tx: Change, kind: NameKind, spellings: readonly string[]) {
    const at = now().toISOString();
    const name = await registerName(tx, kind, await preferredSpelling(tx, kind, spellings));
    const otherSpellings = spellings.filter((spelling) => spelling !== name);
    if (otherSpellings.length === 0) return null;
    let slides = 0;
    for (const otherSpelling of otherSpellings) {
      for (let after = ''; ; ) {
        const rows = await listSlidesNamed(tx, kind, otherSpelling, after, slidesPerQuery);
        const field = kind === 'dataset' ? 'dataset_name' : 'organ_type';
        await renameImages(
          tx,
          rows.map((row) => ({ ...row, [field]: name })),
          at,
        );
        if (kind === 'dataset')
          await audit.recordAll(
            tx,
            rows.map(({ id }) => datasetChange(id, otherSpelling, name)),
          );
        slides += rows.length;
        after = rows.at(-1)?.id ?? '';
        if (rows.length < slidesPerQuery) break;
      }
    }
    if (kind === 'dataset') {
      const { access, revoked } = await mergeDatasetRows(tx, { name, spellings, now: at });
      const entry = { actor: null, origin: null };
      await audit.record(tx, {
        ...entry,
        action: 'datasets-merged',
        target: null,
        detail: { dataset: name, spellings: spellings.length, slides, access },
      });
      await audit.recordAll(
        tx,
        revoked.map((uid) => ({
          ...entry,
          action: 'dataset-revoked',
          target: uid,
          detail: { dataset: name },
        })),
      );
    }
    return { name, spellings, slides };
  }
}

/** Returns the spellings of each name that has several, or one that is not registered. */
async function unmerged(db: Database | Change, kind: NameKind): Promise<(readonly string[])[]> {
  const registered = await listSpellings(db, kind);
  const byKey = Map.groupBy(await listNamesInUse(db, kind), nameKey);
  return [...byKey]
    .filter(([key, names]) => names.some((name) => name !== registered.get(key)))
    .map(([, names]) => names);
}

/**
 * Returns the spelling to keep: the one of a restricted dataset, otherwise of a dataset that an administrator has configured,
 * otherwise the first in alphabetical order.
 */
async function preferredSpelling(tx: Change, kind: NameKind, spellings: readonly string[]): Promise<string> {
  const rows = kind === 'dataset' ? await listDatasetRows(tx) : [];
  const configured = rows.filter(({ name }) => spellings.includes(name));
  const preferred = configured.find(({ access }) => access === 'restricted') ?? configured[0];
  return spellName(preferred?.name ?? [...spellings].sort()[0] ?? '');
}

function datasetChange(id: string, oldDataset: string, newDataset: string): AuditEntry {
  const detail = { dataset_before: oldDataset, dataset_after: newDataset };
  return { action: 'image-dataset-changed', actor: null, origin: null, target: id, detail };
}
