/**
 * Merges the different spellings of a dataset or organ name, which earlier versions stored as separate names. The merged dataset is
 * restricted if the dataset of any spelling was restricted. An account keeps its grant only if it had a grant to the dataset of
 * every restricted spelling (if none was restricted: of every spelling with grants), so no account gains access.
 *
 * The server calls mergeSpellings() at each start. If there is nothing to merge, the function only reads the names.
 */
import { nameKey, toStoredName } from '@lamina/contract';
import type { Logger } from 'pino';
import type { AuditEntry, AuditRecorder } from '../audit/audit-recorder.ts';
import { listSpellings, type NameKind, registerName } from '../store/catalogue-names.ts';
import {
  acquireLock,
  type Database,
  type DatabaseTransaction,
  runLockedTransaction,
} from '../store/database.ts';
import { listDatasetRows } from '../store/datasets.ts';
import { updateImageNames } from '../store/managed-images.ts';
import { listNamesInUse, listSlidesNamed, mergeDatasetRows } from '../store/merge-names.ts';

interface MergeDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: AuditRecorder;
}

const slidesPerQuery = 500;

/** Merges the spellings of all dataset and organ names. */
export async function mergeSpellings({ db, now, log, audit }: MergeDependencies): Promise<void> {
  for (const kind of ['dataset', 'organ'] as const) {
    if ((await findSpellingsToMerge(db, kind)).length === 0) continue;
    // Names are stored in grants, which the lock `accounts` guards, and in images, which the lock `catalogue` guards.
    await runLockedTransaction(db, 'accounts', async (tx) => {
      await acquireLock(tx, 'catalogue');
      // Queried again in the transaction, because another process may have merged the spellings since.
      for (const spellings of await findSpellingsToMerge(tx, kind)) {
        const merged = await merge(tx, kind, spellings);
        if (merged !== null)
          log.warn(
            { kind, name: merged.name, spellings, slides: merged.slides },
            'several spellings of one dataset or organ name found; they were merged into one name',
          );
      }
    });
  }

  /**
   * Merges the spellings of one name.
   *
   * @returns the name and the number of changed slides; null when the only spelling is the name itself, which was then registered
   */
  async function merge(tx: DatabaseTransaction, kind: NameKind, spellings: readonly string[]) {
    const at = now().toISOString();
    // A spelling that is already registered takes precedence over the preferred one.
    const name = await registerName(tx, kind, await preferredSpelling(tx, kind, spellings));
    const otherSpellings = spellings.filter((spelling) => spelling !== name);
    if (otherSpellings.length === 0) return null;
    let slides = 0;
    for (const otherSpelling of otherSpellings) {
      let lastId = '';
      for (;;) {
        const rows = await listSlidesNamed(tx, kind, otherSpelling, lastId, slidesPerQuery);
        const field = kind === 'dataset' ? 'dataset_name' : 'organ_type';
        await updateImageNames(
          tx,
          rows.map((row) => ({ ...row, [field]: name })),
          at,
        );
        if (kind === 'dataset')
          await audit.recordAll(
            tx,
            rows.map(({ id }) => datasetChangeEntry(id, otherSpelling, name)),
          );
        slides += rows.length;
        lastId = rows.at(-1)?.id ?? '';
        if (rows.length < slidesPerQuery) break;
      }
    }
    if (kind === 'dataset') {
      const { access, revoked: uidsWithRevokedGrant } = await mergeDatasetRows(tx, {
        name,
        spellings,
        now: at,
      });
      const serverActor = { actor: null, origin: null };
      await audit.record(tx, {
        ...serverActor,
        action: 'datasets-merged',
        target: null,
        detail: { dataset: name, spellings: spellings.length, slides, access },
      });
      await audit.recordAll(
        tx,
        uidsWithRevokedGrant.map((uid) => ({
          ...serverActor,
          action: 'dataset-revoked',
          target: uid,
          detail: { dataset: name },
        })),
      );
    }
    return { name, slides };
  }
}

/** Returns, for each name with a spelling that is not the registered one, all spellings in use. */
async function findSpellingsToMerge(
  db: Database | DatabaseTransaction,
  kind: NameKind,
): Promise<(readonly string[])[]> {
  const registered = await listSpellings(db, kind);
  const namesByKey = Map.groupBy(await listNamesInUse(db, kind), nameKey);
  return [...namesByKey]
    .filter(([key, names]) => names.some((name) => name !== registered.get(key)))
    .map(([, names]) => names);
}

/**
 * Returns the spelling to keep, by this order of preference: the name of a restricted dataset, the name of another dataset
 * that an administrator has configured, the first spelling in alphabetical order.
 */
async function preferredSpelling(
  tx: DatabaseTransaction,
  kind: NameKind,
  spellings: readonly string[],
): Promise<string> {
  const rows = kind === 'dataset' ? await listDatasetRows(tx) : [];
  const configured = rows.filter(({ name }) => spellings.includes(name));
  const preferred = configured.find(({ access }) => access === 'restricted') ?? configured[0];
  return toStoredName(preferred?.name ?? [...spellings].sort()[0] ?? '');
}

/** Returns the audit event of a slide whose dataset got another spelling. @param id id of the slide */
function datasetChangeEntry(id: string, oldDataset: string, newDataset: string): AuditEntry {
  const detail = { dataset_before: oldDataset, dataset_after: newDataset };
  return { action: 'image-dataset-changed', actor: null, origin: null, target: id, detail };
}
