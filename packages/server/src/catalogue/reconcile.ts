/**
 * Reconciles the entries of the catalogue with the result of a scan: adds entries for new files, keeps those of moved or renamed
 * files, marks those of missing files.
 *
 * A slide is identified by its fingerprint, wherever its file is now; otherwise by its path, whose file was then replaced.
 *
 * Longer than 350 lines because all steps, from pairing to writing, share the types of entries and slides.
 */
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path/posix';
import type { Logger } from 'pino';
import type { AuditEntry, AuditRecorder } from '../audit/audit-recorder.ts';
import { createYielder } from '../platform/yield-to-event-loop.ts';
import type { SlideFile } from '../slide-storage/slide-roots.ts';
import { analyzeImages } from '../store/catalogue-search.ts';
import { type Change, change, type Database } from '../store/database.ts';
import { listRestrictedDatasets } from '../store/datasets.ts';
import {
  findImageAt,
  type ImageChanges,
  insertImages,
  listScannedRows,
  type NewImage,
  type ScannedRow,
  updateImage,
} from '../store/images.ts';
import { isBelowAny, rememberMetadataFiles } from './known-metadata.ts';
import {
  changesOf,
  type Found,
  followFile,
  isElsewhere,
  metadataFile,
  moveOf,
  newImage,
  type Pair,
  type Root,
  serverActor,
} from './reconciled-images.ts';
import type { FoundSlide, Scan } from './scan.ts';

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
  /** Ids of entries whose files are new or have changed. */
  readonly toRead: readonly string[];
  /** Ids of changed entries. */
  readonly changed: readonly string[];
}

/** Changes in one transaction: few enough that other requests wait neither for the database nor for the event loop. */
const changesPerTransaction = 100;
const rowsPerQuery = 1000;
/** After so many new entries the statistics of the database are outdated. */
const manyImages = 1000;

/** @param scans of some roots; entries of other roots stay unchanged */
export async function reconcile(
  { db, now, log, audit, fingerprintOf }: ReconcileDependencies,
  scans: readonly RootScan[],
  { retryFailed }: { readonly retryFailed: boolean },
): Promise<ReconcileResult> {
  const at = now().toISOString();
  const yieldToEventLoop = createYielder();
  const scanOf = new Map(scans.map((scan) => [scan.root, scan]));
  const unreadOf = new Map(scans.map(({ root, unread }) => [root, new Set(unread)]));
  const isUnknown = (row: ScannedRow) => isBelowAny(row.path, unreadOf.get(row.root));
  const toRead: string[] = [];

  const restricted = await listRestrictedDatasets(db);
  const follows = new Map<string, Pair>();
  const pairUp = (pair: Pair) => {
    if (Object.keys(changesOf(pair.row, pair, restricted).changes).length > 0) follows.set(pair.row.id, pair);
  };

  // Most slides have neither moved nor changed. `unmatched` keeps the others.
  const unmatched = await slidesByPlace(scans, yieldToEventLoop);
  /** Entries without a slide so far, by their places. */
  const remaining = new Map<string, ScannedRow>();
  const matchByPlace = async () => {
    for (let after = ''; ; ) {
      const rows = await listScannedRows(db, after, rowsPerQuery);
      for (const row of rows) {
        await yieldToEventLoop();
        const { root } = row;
        const slide = unmatched.get(root)?.get(row.path);
        if (slide?.fingerprint === row.fingerprint) {
          unmatched.get(root)?.delete(row.path);
          if (row.status === 'pending' || (retryFailed && row.status === 'failed')) toRead.push(row.id);
          pairUp({ row, root, slide });
        } else if (scanOf.has(root)) remaining.set(placeOf(root, row.path), row);
      }
      after = rows.at(-1)?.id ?? '';
      if (rows.length < rowsPerQuery) break;
    }
  };
  await matchByPlace();
  const others: Found[] = [...unmatched].flatMap(([root, slides]) =>
    [...slides.values()].map((slide) => ({ root, slide })),
  );

  const { moved, unpaired } = await pairMoved(others, remaining, isUnknown, yieldToEventLoop);
  for (const { row } of moved) if (row.status === 'pending') toRead.push(row.id);

  /** Returns the entry of a slide whose file has left its place since the scan; null while the file is there. */
  async function entryOfMoved({ root, slide }: Found): Promise<ScannedRow | null> {
    const file = { root, path: slide.path, members: slide.members };
    if ((await fingerprintOf(file)) === slide.fingerprint) return null;
    return findImageAt(db, root, slide.path);
  }

  // Files that were replaced, or that another file of their slide leads now; the others are new.
  const twins = await twinsOf(unpaired, scans, others, yieldToEventLoop);
  const fresh: NewImage[] = [];
  for (const found of unpaired) {
    await yieldToEventLoop();
    const { root, slide } = found;
    const row = rowOf(found, remaining);
    if (row !== undefined) {
      toRead.push(row.id);
      remaining.delete(placeOf(row.root, row.path));
      pairUp({ row, root, slide });
      continue;
    }
    // A slide that moved during the scan may have been found at both places.
    const twin = twins.get(slide.fingerprint);
    const before = twin === undefined ? null : await entryOfMoved(twin);
    if (before !== null) {
      twins.delete(slide.fingerprint);
      follows.delete(before.id);
      moved.push({ row: before, root, slide });
      continue;
    }
    const id = randomUUID();
    fresh.push(newImage(id, root, slide, { fingerprint: slide.fingerprint, at }));
    toRead.push(id);
  }

  const unusable = recordUnusableFiles(scans, remaining, log, at);
  fresh.push(...unusable.fresh);
  const followed = [...follows.values()];
  const absent = await applyChanges(
    { db, audit, at, yieldToEventLoop },
    { moved, followed, fresh, failing: unusable.changes, remaining: [...remaining.values()], isUnknown },
  );
  for (const scan of scans) await rememberMetadataFiles(db, scan, at);
  return {
    toRead,
    changed: [...moved, ...followed].map(({ row }) => row.id).concat(absent.map(({ id }) => id)),
  };
}

/**
 * Pairs slides without an entry at their place with entries that have the same fingerprint at another place: their files were
 * moved or renamed.
 *
 * @param remaining entries without a slide; the paired ones are removed
 * @returns the pairs, and the slides without such an entry
 */
async function pairMoved(
  others: readonly Found[],
  remaining: Map<string, ScannedRow>,
  isUnknown: (row: ScannedRow) => boolean,
  yieldToEventLoop: () => Promise<void>,
): Promise<{ moved: Pair[]; unpaired: Found[] }> {
  const byFingerprint = new Map<string, ScannedRow[]>();
  if (others.length > 0) {
    for (const row of remaining.values()) {
      await yieldToEventLoop();
      if (row.fingerprint === null || isUnknown(row)) continue;
      const same = byFingerprint.get(row.fingerprint);
      if (same === undefined) byFingerprint.set(row.fingerprint, [row]);
      else same.push(row);
    }
  }
  const unpaired: Found[] = [];
  const moved: Pair[] = [];
  for (const found of others) {
    await yieldToEventLoop();
    const same = byFingerprint.get(found.slide.fingerprint) ?? [];
    const row = bestMatch(same, found.slide);
    if (row === null) {
      unpaired.push(found);
      continue;
    }
    same.splice(same.indexOf(row), 1);
    moved.push({ row, ...found });
    remaining.delete(placeOf(row.root, row.path));
  }
  return { moved, unpaired };
}

/**
 * Logs unusable metadata files and lists the changes of their entries, which show the problem to administrators.
 *
 * @param remaining entries without a slide; those of the metadata files are removed
 */
function recordUnusableFiles(
  scans: readonly RootScan[],
  remaining: Map<string, ScannedRow>,
  log: Logger,
  at: string,
) {
  const fresh: NewImage[] = [];
  const changes: { readonly id: string; readonly changes: ImageChanges }[] = [];
  for (const { root, problems } of scans) {
    for (const problem of problems) {
      log.warn(
        { root, path: problem.path, problem: problem.error },
        'slide metadata file is invalid and ignored until it is corrected',
      );
      const place = placeOf(root, problem.path);
      const row = remaining.get(place);
      remaining.delete(place);
      const error = `${problem.error} ${consequence}`;
      const failed = { status: 'failed', error } as const;
      if (row === undefined) {
        const id = randomUUID();
        fresh.push(newImage(id, root, metadataFile(problem), { fingerprint: null, at }));
        changes.push({ id, changes: failed });
      } else if (row.error !== error || row.status !== 'failed' || row.missing_since !== null) {
        changes.push({ id: row.id, changes: { ...failed, missing_since: null } });
      }
    }
  }
  return { fresh, changes };
}

/** What a scan changes in the catalogue. */
interface CatalogueChanges {
  readonly moved: readonly Pair[];
  /** Entries whose properties change, at the place where they were. */
  readonly followed: readonly Pair[];
  readonly fresh: readonly NewImage[];
  readonly failing: readonly { readonly id: string; readonly changes: ImageChanges }[];
  /** Entries without a slide. */
  readonly remaining: readonly ScannedRow[];
  /** Whether the entry is in a folder that could not be read. */
  readonly isUnknown: (row: ScannedRow) => boolean;
}

interface ApplyDependencies extends Pick<ReconcileDependencies, 'db' | 'audit'> {
  /** Time of the changes, ISO 8601. */
  readonly at: string;
  readonly yieldToEventLoop: () => Promise<void>;
}

/**
 * Writes the changes in small transactions, with their audit events. Entries leave their places before others take them.
 *
 * @returns the entries whose file is missing
 */
async function applyChanges(
  { db, audit, at, yieldToEventLoop }: ApplyDependencies,
  { moved, followed, fresh, failing, remaining, isUnknown }: CatalogueChanges,
): Promise<readonly ScannedRow[]> {
  // Entries at a place where the scan has found another slide leave it first.
  const going = [...moved, ...followed.filter(isElsewhere)];
  const takenPlaces = new Set([
    ...going.map(({ root, slide }) => placeOf(root, slide.path)),
    ...fresh.map(({ root, path }) => placeOf(root, path)),
  ]);
  const isAtTakenPlace = (row: ScannedRow) => takenPlaces.has(placeOf(row.root, row.path));
  const leaving = going.map(({ row }) => row);
  const absent = remaining.filter((row) => isAtTakenPlace(row) || (!row.missing_since && !isUnknown(row)));
  const newlyMissing = absent.filter((row) => row.missing_since === null);

  const inSteps = async <T>(
    all: readonly T[],
    work: (tx: Change, several: readonly T[]) => Promise<void>,
  ) => {
    for (let from = 0; from < all.length; from += changesPerTransaction) {
      await yieldToEventLoop();
      await change(db, 'catalogue', (tx) => work(tx, all.slice(from, from + changesPerTransaction)));
    }
  };
  const oneByOne =
    <T>(work: (tx: Change, one: T) => Promise<unknown>) =>
    async (tx: Change, several: readonly T[]) => {
      for (const one of several) await work(tx, one);
    };

  await inSteps<(tx: Change) => Promise<unknown>>(
    [
      // A path that no file can have, until the entry gets its new path below.
      ...[...leaving, ...absent].filter(isAtTakenPlace).map(
        ({ id }) =>
          (tx: Change) =>
            updateImage(tx, id, { path: `/${id}` }, at),
      ),
      ...moved.map((pair) => async (tx: Change) => {
        const entries = await followFile(tx, pair, await listRestrictedDatasets(tx), at);
        await audit.recordAll(tx, [moveOf(pair), ...entries]);
      }),
    ],
    oneByOne((tx, step) => step(tx)),
  );
  await inSteps(followed, async (tx, pairs) => {
    // Read again: an administrator may have restricted a dataset since the scan began.
    const restrictedNow = await listRestrictedDatasets(tx);
    const entries: AuditEntry[] = [];
    for (const pair of pairs) entries.push(...(await followFile(tx, pair, restrictedNow, at)));
    await audit.recordAll(tx, entries);
  });
  await inSteps(fresh, async (tx, images) => {
    await insertImages(tx, images, at);
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
  if (fresh.length >= manyImages) await analyzeImages(db);
  await inSteps(
    failing,
    oneByOne((tx, { id, changes }) => updateImage(tx, id, changes, at)),
  );
  await inSteps(
    newlyMissing,
    oneByOne(async (tx, { id }) => {
      await updateImage(tx, id, { missing_since: at }, at);
      await audit.record(tx, { ...serverActor, action: 'image-missing', result: 'failed', target: id });
    }),
  );
  return absent;
}

/** Sentence for administrators, behind the reason why a metadata file is unusable. */
const consequence =
  'Until it is corrected, slides below it keep their dataset and organ, and new slides are hidden from members.';

function placeOf(root: Root, path: string): string {
  return `${root}/${path}`;
}

/** Of several entries with the same fingerprint, as of hard links, returns the best match: an entry with a file, then one with the same file name. */
function bestMatch(rows: readonly ScannedRow[], slide: FoundSlide): ScannedRow | null {
  const scoreOf = (row: ScannedRow) =>
    (row.missing_since === null ? 2 : 0) + (basename(row.path) === basename(slide.path) ? 1 : 0);
  return rows.reduce<ScannedRow | null>(
    (best, row) => (best === null || scoreOf(row) > scoreOf(best) ? row : best),
    null,
  );
}

/** Returns the found slides by root and path, in the order of the scans. */
async function slidesByPlace(
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

/** Returns slides at the places of their entries that have the fingerprint of an unpaired slide, by fingerprint. */
async function twinsOf(
  unpaired: readonly Found[],
  scans: readonly RootScan[],
  others: readonly Found[],
  yieldToEventLoop: () => Promise<void>,
): Promise<Map<string, Found>> {
  const twins = new Map<string, Found>();
  if (unpaired.length === 0) return twins;
  const asked = new Set(unpaired.map(({ slide }) => slide.fingerprint));
  const isOther = new Set(others.map(({ slide }) => slide));
  for (const { root, slides } of scans) {
    for (const slide of slides) {
      await yieldToEventLoop();
      if (asked.has(slide.fingerprint) && !isOther.has(slide)) twins.set(slide.fingerprint, { root, slide });
    }
  }
  return twins;
}

/**
 * Returns the entry of a slide whose file was replaced. The entry may have the path of another file of the slide: a larger
 * image of a series that arrived later leads the slide now.
 */
function rowOf({ root, slide }: Found, remaining: ReadonlyMap<string, ScannedRow>): ScannedRow | undefined {
  const own = remaining.get(placeOf(root, slide.path));
  if (own !== undefined) return own;
  const folder = dirname(slide.path);
  return slide.members
    .map((member) => remaining.get(placeOf(root, join(folder, member))))
    .find((row) => row !== undefined && row.missing_since === null);
}
