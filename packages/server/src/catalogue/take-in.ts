/**
 * Brings the entries of the catalogue in step with what a scan has found: new files become entries, those that were moved
 * or renamed keep theirs, files that are gone are marked.
 *
 * A slide is known again by its fingerprint, wherever it lies by now; only then by its place, whose file was replaced.
 */
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path/posix';
import type { Logger } from 'pino';
import type { Audit, AuditEntry } from '../audit.ts';
import type { SlideFile } from '../slides/slide-roots.ts';
import { takeStock } from '../store/catalogue-search.ts';
import { type Change, change, type Database } from '../store/database.ts';
import {
  type EditableField,
  findImage,
  findImageAt,
  type ImageChanges,
  insertImages,
  listScannedRows,
  type NewImage,
  type ScannedRow,
  updateImage,
} from '../store/images.ts';
import { createGiveWay } from './give-way.ts';
import { type MetadataProblem, slideMetadataOf } from './metadata-files.ts';
import type { FoundSlide, Scan } from './scan.ts';

type Root = SlideFile['root'];

export interface RootScan extends Scan {
  readonly root: Root;
}

interface Ground {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: Audit;
  /** Of the file as it is at this moment; null when it is not there. */
  readonly fingerprintOf: (file: SlideFile) => Promise<string | null>;
}

interface Taken {
  /** Entries whose files are new or have changed. */
  readonly toRead: readonly string[];
  /** Entries that are not what they were. */
  readonly changed: readonly string[];
}

interface Found {
  readonly root: Root;
  readonly slide: FoundSlide;
}

interface Pair extends Found {
  readonly row: ScannedRow;
}

/** Changes of one transaction: nobody waits long for the database, nor for the thread that makes them. */
const changesAtOnce = 100;
const rowsAtOnce = 1000;
/** After so many new entries at once what the database knew of its table misleads it. */
const manyImages = 1000;

/** @param scans of the roots that were looked through; entries of other roots are left alone */
export async function takeIn(
  { db, now, log, audit, fingerprintOf }: Ground,
  scans: readonly RootScan[],
  { retryFailed }: { readonly retryFailed: boolean },
): Promise<Taken> {
  const at = now().toISOString();
  const giveWay = createGiveWay();
  const scanOf = new Map(scans.map((scan) => [scan.root, scan]));
  const unreadOf = new Map(scans.map(({ root, unread }) => [root, new Set(unread)]));
  const isUnknown = (row: ScannedRow) => isBelowAny(row.path, unreadOf.get(row.root));
  const toRead: string[] = [];

  const follows = new Map<string, Pair>();
  const pairUp = (pair: Pair) => {
    if (Object.keys(changesOf(pair.row, pair)).length > 0) follows.set(pair.row.id, pair);
  };

  // Most of them are where they were, and what they were; of the others more has to be known.
  const strangers = await slidesByPlace(scans, giveWay);
  /** Entries that no slide has been found for yet, by their places. */
  const left = new Map<string, ScannedRow>();
  for (let after = ''; ; ) {
    const rows = await listScannedRows(db, after, rowsAtOnce);
    for (const row of rows) {
      await giveWay();
      const { root } = row;
      const slide = strangers.get(root)?.get(row.path);
      if (slide?.fingerprint === row.fingerprint) {
        strangers.get(root)?.delete(row.path);
        if (row.status === 'pending' || (retryFailed && row.status === 'failed')) toRead.push(row.id);
        pairUp({ row, root, slide });
      } else if (scanOf.has(root)) left.set(placeOf(root, row.path), row);
    }
    after = rows.at(-1)?.id ?? '';
    if (rows.length < rowsAtOnce) break;
  }
  const others: Found[] = [...strangers].flatMap(([root, slides]) =>
    [...slides.values()].map((slide) => ({ root, slide })),
  );

  // Moved or renamed: the same slide elsewhere.
  const byFingerprint = new Map<string, ScannedRow[]>();
  if (others.length > 0) {
    for (const row of left.values()) {
      await giveWay();
      if (row.fingerprint === null || isUnknown(row)) continue;
      const same = byFingerprint.get(row.fingerprint);
      if (same === undefined) byFingerprint.set(row.fingerprint, [row]);
      else same.push(row);
    }
  }
  const unpaired: Found[] = [];
  const moved: Pair[] = [];
  for (const found of others) {
    await giveWay();
    const same = byFingerprint.get(found.slide.fingerprint) ?? [];
    const row = likeliest(same, found.slide);
    if (row === null) {
      unpaired.push(found);
      continue;
    }
    same.splice(same.indexOf(row), 1);
    moved.push({ row, ...found });
    if (row.status === 'pending') toRead.push(row.id);
    left.delete(placeOf(row.root, row.path));
  }

  /** Of a slide that was found at its place; null while it is still there. */
  async function entryThatLeft({ root, slide }: Found): Promise<ScannedRow | null> {
    const file = { root, path: slide.path, members: slide.members };
    if ((await fingerprintOf(file)) === slide.fingerprint) return null;
    return findImageAt(db, root, slide.path);
  }

  // Replaced, or led by another of its files by now; the rest is new.
  const twins = await twinsOf(unpaired, scans, others, giveWay);
  const fresh: NewImage[] = [];
  for (const found of unpaired) {
    await giveWay();
    const { root, slide } = found;
    const row = rowOf(found, left);
    if (row !== undefined) {
      toRead.push(row.id);
      left.delete(placeOf(row.root, row.path));
      pairUp({ row, root, slide });
      continue;
    }
    // Moved while the folders were looked through, and so found in both places?
    const twin = twins.get(slide.fingerprint);
    const before = twin === undefined ? null : await entryThatLeft(twin);
    if (before !== null) {
      twins.delete(slide.fingerprint);
      follows.delete(before.id);
      moved.push({ row: before, root, slide });
      continue;
    }
    const id = randomUUID();
    fresh.push(newImage(id, root, slide, slide.fingerprint));
    toRead.push(id);
  }

  const failing: { readonly id: string; readonly changes: ImageChanges }[] = [];
  for (const { root, problems } of scans) {
    for (const problem of problems) {
      log.warn({ root, path: problem.path, problem: problem.error }, 'a metadata file cannot be used');
      const place = placeOf(root, problem.path);
      const row = left.get(place);
      left.delete(place);
      const changes = { status: 'failed', error: problem.error } as const;
      if (row === undefined) {
        const id = randomUUID();
        fresh.push(newImage(id, root, metadataFile(problem), null));
        failing.push({ id, changes });
      } else if (row.error !== problem.error || row.missing_since !== null) {
        failing.push({ id: row.id, changes: { ...changes, missing_since: null } });
      }
    }
  }

  // Whoever stands where another slide lies now makes room for it.
  const followed = [...follows.values()];
  const going = [...moved, ...followed.filter(isElsewhere)];
  const wanted = new Set([
    ...going.map(({ root, slide }) => placeOf(root, slide.path)),
    ...fresh.map(({ root, path }) => placeOf(root, path)),
  ]);
  const isInTheWay = (row: ScannedRow) => wanted.has(placeOf(row.root, row.path));
  const leaving = going.map(({ row }) => row);
  const gone = [...left.values()].filter((row) => isInTheWay(row) || (!row.missing_since && !isUnknown(row)));
  const lost = gone.filter((row) => row.missing_since === null);

  const inSteps = async <T>(
    all: readonly T[],
    work: (tx: Change, several: readonly T[]) => Promise<void>,
  ) => {
    for (let from = 0; from < all.length; from += changesAtOnce) {
      await giveWay();
      await change(db, 'catalogue', (tx) => work(tx, all.slice(from, from + changesAtOnce)));
    }
  };
  const oneByOne =
    <T>(work: (tx: Change, one: T) => Promise<unknown>) =>
    async (tx: Change, several: readonly T[]) => {
      for (const one of several) await work(tx, one);
    };

  await inSteps<(tx: Change) => Promise<unknown>>(
    [
      // A path that no file can have; whoever is on the way to another place gets it in the same breath.
      ...[...leaving, ...gone].filter(isInTheWay).map(
        ({ id }) =>
          (tx: Change) =>
            updateImage(tx, id, { path: `/${id}` }, at),
      ),
      ...moved.map((pair) => async (tx: Change) => {
        await followFile(tx, pair, at);
        await audit.record(tx, moveOf(pair));
      }),
    ],
    oneByOne((tx, step) => step(tx)),
  );
  await inSteps(
    followed,
    oneByOne((tx, pair) => followFile(tx, pair, at)),
  );
  await inSteps(fresh, (tx, images) => insertImages(tx, images, at));
  if (fresh.length >= manyImages) await takeStock(db);
  await inSteps(
    failing,
    oneByOne((tx, { id, changes }) => updateImage(tx, id, changes, at)),
  );
  await inSteps(
    lost,
    oneByOne(async (tx, { id }) => {
      await updateImage(tx, id, { missing_since: at }, at);
      await audit.record(tx, { ...byServer, action: 'image-missing', result: 'failed', target: id });
    }),
  );
  return {
    toRead,
    changed: [...moved, ...followed].map(({ row }) => row.id).concat(gone.map(({ id }) => id)),
  };
}

/** What the server does by itself. */
export const byServer = { actor: null, origin: null } as const satisfies Partial<AuditEntry>;

function placeOf(root: Root, path: string): string {
  return `${root}/${path}`;
}

/** Of several entries of the same slide, as of hard links, the one that it has most in common with. */
function likeliest(rows: readonly ScannedRow[], slide: FoundSlide): ScannedRow | null {
  const inCommon = (row: ScannedRow) =>
    (row.missing_since === null ? 2 : 0) + (basename(row.path) === basename(slide.path) ? 1 : 0);
  return rows.reduce<ScannedRow | null>(
    (best, row) => (best === null || inCommon(row) > inCommon(best) ? row : best),
    null,
  );
}

/** Slides by where they were found, in the order of the scans. */
async function slidesByPlace(
  scans: readonly RootScan[],
  giveWay: () => Promise<void>,
): Promise<Map<Root, Map<string, FoundSlide>>> {
  const byRoot = new Map<Root, Map<string, FoundSlide>>();
  for (const { root, slides } of scans) {
    const byPath = new Map<string, FoundSlide>();
    for (const slide of slides) {
      await giveWay();
      byPath.set(slide.path, slide);
    }
    byRoot.set(root, byPath);
  }
  return byRoot;
}

/** Slides that were found where their entries have them, and are the same as some of these; by fingerprint. */
async function twinsOf(
  unpaired: readonly Found[],
  scans: readonly RootScan[],
  others: readonly Found[],
  giveWay: () => Promise<void>,
): Promise<Map<string, Found>> {
  const twins = new Map<string, Found>();
  if (unpaired.length === 0) return twins;
  const asked = new Set(unpaired.map(({ slide }) => slide.fingerprint));
  const isOther = new Set(others.map(({ slide }) => slide));
  for (const { root, slides } of scans) {
    for (const slide of slides) {
      await giveWay();
      if (asked.has(slide.fingerprint) && !isOther.has(slide)) twins.set(slide.fingerprint, { root, slide });
    }
  }
  return twins;
}

/**
 * The entry of a slide whose file was replaced. It may still be known by another of its files: a larger picture of a
 * series, come later, leads it.
 */
function rowOf({ root, slide }: Found, left: ReadonlyMap<string, ScannedRow>): ScannedRow | undefined {
  const own = left.get(placeOf(root, slide.path));
  if (own !== undefined) return own;
  const folder = dirname(slide.path);
  return slide.members
    .map((member) => left.get(placeOf(root, join(folder, member))))
    .find((row) => row !== undefined && row.missing_since === null);
}

const isElsewhere = ({ row, root, slide }: Pair) => row.root !== root || row.path !== slide.path;

const membersOf = ({ members }: Pick<FoundSlide, 'members'>) => JSON.stringify(members);

function newImage(
  id: string,
  root: Root,
  slide: Omit<FoundSlide, 'fingerprint'>,
  fingerprint: string | null,
): NewImage {
  return {
    id,
    root,
    path: slide.path,
    members: membersOf(slide),
    fingerprint,
    file_name: basename(slide.path),
    dataset_name: slide.dataset_name,
    organ_type: slide.organ_type,
    size_bytes: slide.sizeBytes,
  };
}

function metadataFile({ path }: MetadataProblem): Omit<FoundSlide, 'fingerprint'> {
  return { path, members: [], sizeBytes: 0, ...slideMetadataOf(path, []) };
}

/** The entry as it is now, not as it was when the scan began: an administrator may have edited it since. */
async function followFile(tx: Change, pair: Pair, at: string): Promise<void> {
  const row = await findImage(tx, pair.row.id, { evenMissing: true });
  if (row !== null) await updateImage(tx, row.id, changesOf(row, pair), at);
}

/** What the file and the metadata files say otherwise than the entry; what an administrator set stays. */
function changesOf(row: ScannedRow, { root, slide }: Found): ImageChanges {
  const edited = new Set(JSON.parse(row.edited_fields) as EditableField[]);
  const follows = (field: 'dataset_name' | 'organ_type') => !edited.has(field) && row[field] !== slide[field];
  const isAt = row.root === root && row.path === slide.path;
  return {
    ...(!isAt && { root, path: slide.path }),
    ...(!isAt && !edited.has('file_name') && { file_name: basename(slide.path) }),
    ...(follows('dataset_name') && { dataset_name: slide.dataset_name }),
    ...(follows('organ_type') && { organ_type: slide.organ_type }),
    ...(row.members !== membersOf(slide) && { members: membersOf(slide) }),
    ...(row.size_bytes !== slide.sizeBytes && { size_bytes: slide.sizeBytes }),
    ...(row.missing_since !== null && { missing_since: null }),
  };
}

function moveOf({ row, slide }: Pair): AuditEntry {
  const from = row.path.startsWith('/') ? null : row.path; // another took its place before
  return { ...byServer, action: 'image-moved', target: row.id, detail: { from, to: slide.path } };
}

/** Whether a place is one of these, or below one. */
function isBelowAny(path: string, places: ReadonlySet<string> | undefined): boolean {
  if (places === undefined || places.size === 0) return false;
  if (places.has('') || places.has(path)) return true;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (places.has(path.slice(0, end))) return true;
  }
  return false;
}
