/**
 * Reconciles the entries of the catalogue with the result of a scan: adds entries for new files, keeps the entries of moved or
 * renamed files, and marks the entries of missing files.
 *
 * The fingerprint of a slide (a hash of the versions of its files) identifies a moved slide. A slide whose fingerprint
 * belongs to no entry, but whose path does, was replaced. Any other slide is new.
 *
 * The file is longer than 350 lines because all steps, from pairing to writing, share the types of entries and slides.
 */
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path/posix';
import type { Logger } from 'pino';
import type { AuditEntry, AuditRecorder } from '../audit/audit-recorder.ts';
import { createYielder } from '../platform/yield-to-event-loop.ts';
import type { SlideFile } from '../slide-storage/slide-roots.ts';
import { analyzeImages } from '../store/catalogue-search.ts';
import { type Database, type DatabaseTransaction, runLockedTransaction } from '../store/database.ts';
import { grantedUidsByRestrictedDataset } from '../store/datasets.ts';
import {
  findImageAt,
  type ImageChanges,
  insertImages,
  listScannedRows,
  type NewImage,
  type ScannedRow,
  updateImage,
} from '../store/images.ts';
import { isInOrBelowAny, updateKnownMetadataFiles } from './known-metadata.ts';
import {
  changesOf,
  type FoundAtRoot,
  hasOtherLocation,
  metadataFileAsSlide,
  moveAuditEntry,
  newImage,
  type PairedEntry,
  type Root,
  serverActor,
  updateEntryOfSlide,
} from './reconciled-images.ts';
import type { FoundSlide, Scan } from './scan.ts';

/** The result of a scan, and the slide root (a folder or the bucket) that it has scanned. */
export interface RootScan extends Scan {
  readonly root: Root;
}

interface ReconcileDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: AuditRecorder;
  /** Returns the current fingerprint of a file; null when it is missing. */
  readonly fingerprintOf: (file: SlideFile) => Promise<string | null>;
}

interface ReconcileResult {
  /** Ids of entries whose files must be read: new and changed files, and files that have not been read yet. */
  readonly toRead: readonly string[];
  /** Ids of changed entries, without new ones. */
  readonly changed: readonly string[];
}

/** Maximum number of changes in one transaction. It is small, so that other requests do not wait long for the lock. */
const changesPerTransaction = 100;
const rowsPerQuery = 1000;
/** If a scan adds at least this number of entries, the database updates its statistics for the query planner. */
const newImagesBeforeAnalysis = 1000;

/** Yields all entries, also those of missing files. Each query reads `rowsPerQuery` entries. */
async function* readAllEntries(
  db: Database,
  yieldToEventLoop: () => Promise<void>,
): AsyncGenerator<ScannedRow> {
  let rows: readonly ScannedRow[];
  let after = '';
  do {
    rows = await listScannedRows(db, after, rowsPerQuery);
    for (const row of rows) {
      await yieldToEventLoop();
      yield row;
    }
    after = rows.at(-1)?.id ?? '';
  } while (rows.length === rowsPerQuery);
}

/**
 * Updates the catalogue after a scan.
 *
 * @param scans scans of some roots; entries of other roots stay unchanged
 * @param options with `retryFailed`, unchanged files that could not be read before are also returned in `toRead`
 */
export async function reconcile(
  { db, now, log, audit, fingerprintOf }: ReconcileDependencies,
  scans: readonly RootScan[],
  { retryFailed }: { readonly retryFailed: boolean },
): Promise<ReconcileResult> {
  const at = now().toISOString();
  const yieldToEventLoop = createYielder();
  const scannedRoots = new Set(scans.map(({ root }) => root));
  const unreadPathsByRoot = new Map(scans.map(({ root, unread }) => [root, new Set(unread)]));
  const isInUnreadFolder = (row: ScannedRow) => isInOrBelowAny(row.path, unreadPathsByRoot.get(row.root));
  const toRead: string[] = [];

  const restrictedDatasets = await grantedUidsByRestrictedDataset(db);
  const changedPairsById = new Map<string, PairedEntry>();
  const addIfChanged = (pair: PairedEntry) => {
    if (Object.keys(changesOf(pair.row, pair, restrictedDatasets).changes).length > 0)
      changedPairsById.set(pair.row.id, pair);
  };

  // Initially contains all found slides. The loop below removes those that match the entry at their location, as most do.
  const unmatchedByRoot = await slidesByLocation(scans, yieldToEventLoop);
  /** Entries to which no slide has been assigned yet, by location (root and path). Each step below removes some of them. */
  const unpairedEntries = new Map<string, ScannedRow>();
  for await (const row of readAllEntries(db, yieldToEventLoop)) {
    const { root } = row;
    const slide = unmatchedByRoot.get(root)?.get(row.path);
    if (slide?.fingerprint === row.fingerprint) {
      unmatchedByRoot.get(root)?.delete(row.path);
      if (row.status === 'pending' || (retryFailed && row.status === 'failed')) toRead.push(row.id);
      addIfChanged({ row, root, slide });
    } else if (scannedRoots.has(root)) unpairedEntries.set(locationKeyOf(root, row.path), row);
  }
  const unmatched: FoundAtRoot[] = [...unmatchedByRoot].flatMap(([root, slides]) =>
    [...slides.values()].map((slide) => ({ root, slide })),
  );

  const { moved, unpaired } = await pairMoved(unmatched, unpairedEntries, isInUnreadFolder, yieldToEventLoop);
  for (const { row } of moved) if (row.status === 'pending') toRead.push(row.id);

  /** Returns the entry at the location of a found slide if its file has moved away since the scan; null if the file is still there. */
  async function entryOfMovedFile({ root, slide }: FoundAtRoot): Promise<ScannedRow | null> {
    const file = { root, path: slide.path, members: slide.members };
    if ((await fingerprintOf(file)) === slide.fingerprint) return null;
    return findImageAt(db, root, slide.path);
  }

  const maybeMovedDuringScan = await slidesWithFingerprintsOf(unpaired, scans, unmatched, yieldToEventLoop);
  const newImages: NewImage[] = [];
  /** Handles a slide whose fingerprint no unpaired entry has: it was replaced, has a new main file, moved during the scan, or is new. */
  async function reconcileUnpaired(found: FoundAtRoot): Promise<void> {
    const { root, slide } = found;
    const row = entryOfReplacedSlide(found, unpairedEntries);
    if (row !== undefined) {
      toRead.push(row.id);
      unpairedEntries.delete(locationKeyOf(row.root, row.path));
      addIfChanged({ row, root, slide });
      return;
    }
    // The scan may have found a slide twice, at its old and at its new location, because the file was moved during the scan.
    const foundAtOldLocation = maybeMovedDuringScan.get(slide.fingerprint);
    const movedEntry = foundAtOldLocation === undefined ? null : await entryOfMovedFile(foundAtOldLocation);
    if (movedEntry !== null) {
      maybeMovedDuringScan.delete(slide.fingerprint);
      changedPairsById.delete(movedEntry.id); // that pair has the slide at the old location
      moved.push({ row: movedEntry, root, slide });
      return;
    }
    const id = randomUUID();
    newImages.push(newImage(id, root, slide, { fingerprint: slide.fingerprint, at }));
    toRead.push(id);
  }
  for (const found of unpaired) {
    await yieldToEventLoop();
    await reconcileUnpaired(found);
  }

  const unusableFileChanges = recordUnusableFiles(scans, unpairedEntries, log, at);
  newImages.push(...unusableFileChanges.newImages);
  const changedPairs = [...changedPairsById.values()];
  const missing = await applyChanges(
    { db, audit, at, yieldToEventLoop },
    {
      moved,
      changedPairs,
      newImages,
      metadataFileChanges: unusableFileChanges.changes,
      unpairedEntries: [...unpairedEntries.values()],
      isInUnreadFolder,
    },
  );
  for (const scan of scans) await updateKnownMetadataFiles(db, scan, at);
  return {
    toRead,
    changed: [...moved, ...changedPairs].map(({ row }) => row.id).concat(missing.map(({ id }) => id)),
  };
}

/**
 * Finds moved or renamed files: pairs each unmatched slide with an entry of the same fingerprint at another location.
 *
 * @param unmatchedSlides slides that differ from the entry at their location, or have no entry there
 * @param unpairedEntries entries to which no slide has been assigned; the paired ones are removed
 * @returns `moved`: the pairs; `unpaired`: the slides whose fingerprint none of the remaining entries has
 */
async function pairMoved(
  unmatchedSlides: readonly FoundAtRoot[],
  unpairedEntries: Map<string, ScannedRow>,
  isInUnreadFolder: (row: ScannedRow) => boolean,
  yieldToEventLoop: () => Promise<void>,
): Promise<{ moved: PairedEntry[]; unpaired: FoundAtRoot[] }> {
  const entriesByFingerprint = new Map<string, ScannedRow[]>();
  if (unmatchedSlides.length > 0) {
    for (const row of unpairedEntries.values()) {
      await yieldToEventLoop();
      if (row.fingerprint === null || isInUnreadFolder(row)) continue;
      const rowsWithFingerprint = entriesByFingerprint.get(row.fingerprint);
      if (rowsWithFingerprint === undefined) entriesByFingerprint.set(row.fingerprint, [row]);
      else rowsWithFingerprint.push(row);
    }
  }
  const unpaired: FoundAtRoot[] = [];
  const moved: PairedEntry[] = [];
  for (const found of unmatchedSlides) {
    await yieldToEventLoop();
    const rowsWithFingerprint = entriesByFingerprint.get(found.slide.fingerprint) ?? [];
    const row = bestMatch(rowsWithFingerprint, found.slide);
    if (row === null) {
      unpaired.push(found);
      continue;
    }
    rowsWithFingerprint.splice(rowsWithFingerprint.indexOf(row), 1);
    moved.push({ row, ...found });
    unpairedEntries.delete(locationKeyOf(row.root, row.path));
  }
  return { moved, unpaired };
}

/**
 * Logs unusable metadata files (such as `catalogue.csv`), and returns the catalogue entries that show the problem to administrators.
 *
 * @param unpairedEntries entries to which no slide has been assigned; those of the metadata files are removed
 */
function recordUnusableFiles(
  scans: readonly RootScan[],
  unpairedEntries: Map<string, ScannedRow>,
  log: Logger,
  at: string,
) {
  const newImages: NewImage[] = [];
  const changes: { readonly id: string; readonly changes: ImageChanges }[] = [];
  for (const { root, problems } of scans) {
    for (const problem of problems) {
      log.warn(
        { root, path: problem.path, problem: problem.error },
        'slide metadata file at `path` in `root` is unusable or incomplete; until it is corrected, slides below its folder keep their dataset and organ, and new slides are hidden from members',
      );
      const location = locationKeyOf(root, problem.path);
      const row = unpairedEntries.get(location);
      unpairedEntries.delete(location);
      const error = `${problem.error} ${consequenceOfUnusableFile}`;
      const failed = { status: 'failed', error } as const;
      if (row === undefined) {
        const id = randomUUID();
        newImages.push(newImage(id, root, metadataFileAsSlide(problem), { fingerprint: null, at }));
        changes.push({ id, changes: failed }); // new entries are inserted with the status `pending`
      } else if (row.error !== error || row.status !== 'failed' || row.missing_since !== null) {
        changes.push({ id: row.id, changes: { ...failed, missing_since: null } });
      }
    }
  }
  return { newImages, changes };
}

/** Changes that a scan makes in the catalogue. */
interface CatalogueChanges {
  readonly moved: readonly PairedEntry[];
  /** Entries whose properties change; a few of them also get another location, because the slide has a new main file. */
  readonly changedPairs: readonly PairedEntry[];
  readonly newImages: readonly NewImage[];
  /** Entries of unusable metadata files. */
  readonly metadataFileChanges: readonly { readonly id: string; readonly changes: ImageChanges }[];
  /** Entries without a slide. */
  readonly unpairedEntries: readonly ScannedRow[];
  /** Returns whether the scan could not read the folder of the entry; its file may still exist then. */
  readonly isInUnreadFolder: (row: ScannedRow) => boolean;
}

interface ApplyDependencies extends Pick<ReconcileDependencies, 'db' | 'audit'> {
  /** Time of the changes, ISO 8601. */
  readonly at: string;
  readonly yieldToEventLoop: () => Promise<void>;
}

/**
 * Writes the changes in small transactions, with their audit events. An entry leaves its location before another entry gets it.
 *
 * @returns the changed entries whose file is missing
 */
async function applyChanges(
  { db, audit, at, yieldToEventLoop }: ApplyDependencies,
  {
    moved,
    changedPairs,
    newImages,
    metadataFileChanges,
    unpairedEntries,
    isInUnreadFolder,
  }: CatalogueChanges,
): Promise<readonly ScannedRow[]> {
  // Entries must leave their location if the scan has found another slide there.
  const pairsAtNewLocation = [...moved, ...changedPairs.filter(hasOtherLocation)];
  const takenLocations = new Set([
    ...pairsAtNewLocation.map(({ root, slide }) => locationKeyOf(root, slide.path)),
    ...newImages.map(({ root, path }) => locationKeyOf(root, path)),
  ]);
  const isAtTakenLocation = (row: ScannedRow) => takenLocations.has(locationKeyOf(row.root, row.path));
  // An entry that an earlier scan marked as missing changes only if another entry takes its location.
  const missing = unpairedEntries.filter(
    (row) => isAtTakenLocation(row) || (row.missing_since === null && !isInUnreadFolder(row)),
  );
  const newlyMissing = missing.filter((row) => row.missing_since === null);

  /** Runs the work for all items in small transactions. */
  const inBatches = async <T>(
    all: readonly T[],
    work: (tx: DatabaseTransaction, items: readonly T[]) => Promise<void>,
  ) => {
    for (let start = 0; start < all.length; start += changesPerTransaction) {
      await yieldToEventLoop();
      await runLockedTransaction(db, 'catalogue', (tx) =>
        work(tx, all.slice(start, start + changesPerTransaction)),
      );
    }
  };
  /** Converts work for a single item to work for a batch of items. */
  const oneByOne =
    <T>(work: (tx: DatabaseTransaction, item: T) => Promise<unknown>) =>
    async (tx: DatabaseTransaction, items: readonly T[]) => {
      for (const item of items) await work(tx, item);
    };

  await inBatches<(tx: DatabaseTransaction) => Promise<unknown>>(
    [
      // The entry temporarily gets a path that no file can have, until it gets its new path below.
      ...[...pairsAtNewLocation.map(({ row }) => row), ...missing].filter(isAtTakenLocation).map(
        ({ id }) =>
          (tx: DatabaseTransaction) =>
            updateImage(tx, id, { path: `/${id}` }, at),
      ),
      ...moved.map((pair) => async (tx: DatabaseTransaction) => {
        const auditEntries = await updateEntryOfSlide(tx, pair, await grantedUidsByRestrictedDataset(tx), at);
        await audit.recordAll(tx, [moveAuditEntry(pair), ...auditEntries]);
      }),
    ],
    oneByOne((tx, step) => step(tx)),
  );
  await inBatches(changedPairs, async (tx, pairs) => {
    // Queried again, because an administrator may have restricted a dataset since the scan began.
    const restrictedNow = await grantedUidsByRestrictedDataset(tx);
    const auditEntries: AuditEntry[] = [];
    for (const pair of pairs) auditEntries.push(...(await updateEntryOfSlide(tx, pair, restrictedNow, at)));
    await audit.recordAll(tx, auditEntries);
  });
  await inBatches(newImages, async (tx, images) => {
    await insertImages(tx, images, at);
    // newImage() has hidden the slides whose metadata may be incomplete.
    const hidden = images.filter(({ metadata_hold }) => metadata_hold !== undefined);
    await audit.recordAll(
      tx,
      hidden.map(({ id }) => ({
        ...serverActor,
        action: 'image-hidden',
        target: id,
        detail: { reason: 'metadata' },
      })),
    );
  });
  if (newImages.length >= newImagesBeforeAnalysis) await analyzeImages(db);
  await inBatches(
    metadataFileChanges,
    oneByOne((tx, { id, changes }) => updateImage(tx, id, changes, at)),
  );
  await inBatches(
    newlyMissing,
    oneByOne(async (tx, { id }) => {
      await updateImage(tx, id, { missing_since: at }, at);
      await audit.record(tx, { ...serverActor, action: 'image-missing', result: 'failed', target: id });
    }),
  );
  return missing;
}

/** Sentence for administrators that follows the reason why a metadata file is unusable. */
const consequenceOfUnusableFile =
  'Until it is corrected, slides below it keep their dataset and organ, and new slides are hidden from members.';

function locationKeyOf(root: Root, path: string): string {
  return `${root}/${path}`;
}

/**
 * Returns the entry that belongs to a moved slide. Several entries have the same fingerprint if, for example, their files are
 * hard links. An entry whose file is not missing is preferred, then one with the same file name.
 */
function bestMatch(rows: readonly ScannedRow[], slide: FoundSlide): ScannedRow | null {
  const scoreOf = (row: ScannedRow) =>
    (row.missing_since === null ? 2 : 0) + (basename(row.path) === basename(slide.path) ? 1 : 0);
  return rows.reduce<ScannedRow | null>(
    (best, row) => (best === null || scoreOf(row) > scoreOf(best) ? row : best),
    null,
  );
}

/** Returns the found slides by root and path, in the order of the scans. */
async function slidesByLocation(
  scans: readonly RootScan[],
  yieldToEventLoop: () => Promise<void>,
): Promise<Map<Root, Map<string, FoundSlide>>> {
  const byRoot = new Map<Root, Map<string, FoundSlide>>();
  for (const { root, slides } of scans) {
    const byPath = new Map<string, FoundSlide>();
    for (const slide of slides) {
      await yieldToEventLoop();
      byPath.set(slide.path, slide);
    }
    byRoot.set(root, byPath);
  }
  return byRoot;
}

/** Returns, by fingerprint, the slides that match the entry at their location and have the same fingerprint as an unpaired slide. */
async function slidesWithFingerprintsOf(
  unpaired: readonly FoundAtRoot[],
  scans: readonly RootScan[],
  unmatchedSlides: readonly FoundAtRoot[],
  yieldToEventLoop: () => Promise<void>,
): Promise<Map<string, FoundAtRoot>> {
  const slidesByFingerprint = new Map<string, FoundAtRoot>();
  if (unpaired.length === 0) return slidesByFingerprint;
  const fingerprints = new Set(unpaired.map(({ slide }) => slide.fingerprint));
  const unmatchedSet = new Set(unmatchedSlides.map(({ slide }) => slide));
  for (const { root, slides } of scans) {
    for (const slide of slides) {
      await yieldToEventLoop();
      if (fingerprints.has(slide.fingerprint) && !unmatchedSet.has(slide))
        slidesByFingerprint.set(slide.fingerprint, { root, slide });
    }
  }
  return slidesByFingerprint;
}

/**
 * Returns the entry of a slide whose file was replaced; undefined for a new slide. The entry may have the path of another file
 * of the slide: if a larger image of a series arrives later, this image becomes the main file, by which the slide is opened.
 */
function entryOfReplacedSlide(
  { root, slide }: FoundAtRoot,
  unpairedEntries: ReadonlyMap<string, ScannedRow>,
): ScannedRow | undefined {
  const entryAtPath = unpairedEntries.get(locationKeyOf(root, slide.path));
  if (entryAtPath !== undefined) return entryAtPath;
  const folder = dirname(slide.path);
  return slide.members
    .map((member) => unpairedEntries.get(locationKeyOf(root, join(folder, member))))
    .find((row) => row !== undefined && row.missing_since === null);
}
