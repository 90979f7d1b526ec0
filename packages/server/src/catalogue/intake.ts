/**
 * Brings the catalogue in step with the slide folders: new files become entries, files that are gone are
 * marked, and what is new or changed is read, one file at a time, in a process of its own.
 */
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path/posix';
import type { Logger } from 'pino';
import type { Audit, AuditEntry } from '../audit.ts';
import type { Config } from '../config.ts';
import { type SlideFile, slideRoots } from '../slides/slide-roots.ts';
import type { Inspection, SlideSummary, Slides } from '../slides/slides.ts';
import { type Change, change, type Database } from '../store/database.ts';
import {
  type EditableField,
  findImage,
  type ImageChanges,
  insertImage,
  listScannedRows,
  type NewImage,
  type ScannedRow,
  updateImage,
} from '../store/images.ts';
import { createGroupFiles } from './group-files.ts';
import { slideMetadataOf } from './metadata-files.ts';
import { type FoundSlide, type Scan, scanFolder } from './scan.ts';

export interface Intake {
  /** Resolves when every file has its entry. Rescans come one after the other. */
  rescan(options?: { readonly retryFailed?: boolean }): Promise<void>;
  /** Resolves when no file waits to be read. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

interface Ground {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: Audit;
  readonly slides: Slides;
  /** Called after an entry has changed: what was known of it is not to be served any more. */
  readonly onChange: (imageId: string) => void;
}

interface Unread extends SlideFile {
  readonly id: string;
}

/** A file that could not be read for another reason than itself is tried again so much later. */
const retryAfterMs = 5000;
/** Changes of one transaction, so that nobody waits long for the database. */
const changesAtOnce = 500;

export function createIntake({ config, db, now, log, audit, slides, onChange }: Ground): Intake {
  const closing = new AbortController();
  const unread = new Map<string, Unread>();
  const groupFiles = createGroupFiles((folder, names) => slides.group(folder, names, closing.signal));
  let reading: Promise<void> | null = null;
  let lastRescan: Promise<void> = Promise.resolve();
  /** Waits for the one under way; whoever asks meanwhile joins it. */
  let nextRescan: Promise<void> | null = null;
  let retryTimer: NodeJS.Timeout | null = null;

  async function scanAll(retryFailed: boolean): Promise<void> {
    const rows = await listScannedRows(db);
    for (const [root, folder] of Object.entries(slideRoots(config)) as [SlideFile['root'], string][]) {
      if (closing.signal.aborted) return;
      const scan = await scanFolder(folder, groupFiles, log);
      await takeIn(
        root,
        scan,
        rows.filter((row) => row.root === root),
        retryFailed,
      );
    }
    startReading();
  }

  async function takeIn(
    root: SlideFile['root'],
    scan: Scan,
    rows: readonly ScannedRow[],
    retryFailed: boolean,
  ): Promise<void> {
    const byPath = new Map(rows.map((row) => [row.path, row]));
    const steps: ((tx: Change) => Promise<unknown>)[] = [];
    const changed: string[] = [];
    const at = now().toISOString();

    for (const slide of scan.slides) {
      const row = rowOf(slide, byPath);
      const file: SlideFile = { root, path: slide.path, members: slide.members };
      if (row === undefined) {
        const id = randomUUID();
        steps.push((tx) => insertImage(tx, newImage(id, root, slide), at));
        unread.set(id, { id, ...file });
        continue;
      }
      const fingerprint = await slides.fingerprintOf(file);
      const isChanged = row.fingerprint !== fingerprint;
      if (isChanged || row.status === 'pending' || (retryFailed && row.status === 'failed')) {
        unread.set(row.id, { id: row.id, ...file });
      }
      if (Object.keys(changesOf(row, slide)).length === 0) continue;
      steps.push((tx) => followFile(tx, row.id, slide, at));
      changed.push(row.id);
    }
    for (const problem of scan.problems) {
      log.warn({ root, path: problem.path, problem: problem.error }, 'a metadata file cannot be used');
      const row = byPath.get(problem.path);
      byPath.delete(problem.path);
      if (row === undefined) {
        const id = randomUUID();
        const found = { path: problem.path, members: [], sizeBytes: 0, ...slideMetadataOf(problem.path, []) };
        steps.push((tx) => insertImage(tx, newImage(id, root, found), at));
        steps.push((tx) => updateImage(tx, id, { status: 'failed', error: problem.error }, at));
      } else if (row.error !== problem.error || row.missing_since !== null) {
        const changes: ImageChanges = { status: 'failed', error: problem.error, missing_since: null };
        steps.push((tx) => updateImage(tx, row.id, changes, at));
      }
    }
    const gone = [...byPath.values()].filter(
      (row) => row.missing_since === null && !scan.unread.some((place) => isBelow(row.path, place)),
    );
    for (const { id } of gone) {
      steps.push((tx) => updateImage(tx, id, { missing_since: at }, at));
      steps.push((tx) =>
        audit.record(tx, { ...byServer, action: 'image-missing', result: 'failed', target: id }),
      );
    }

    for (let from = 0; from < steps.length; from += changesAtOnce) {
      await change(db, 'catalogue', async (tx) => {
        for (const step of steps.slice(from, from + changesAtOnce)) await step(tx);
      });
    }
    for (const { id } of gone) unread.delete(id);
    for (const id of [...changed, ...gone.map((row) => row.id)]) onChange(id);
  }

  function startReading(): void {
    if (reading !== null || closing.signal.aborted) return;
    reading = readAll()
      .catch((error) => log.error({ err: error }, 'the catalogue could not be brought up to date'))
      .finally(() => {
        reading = null;
      });
  }

  async function readAll(): Promise<void> {
    const postponed: Unread[] = [];
    for (;;) {
      const [next] = unread.values();
      if (next === undefined || closing.signal.aborted) break;
      unread.delete(next.id);
      try {
        if (!(await read(next))) postponed.push(next);
      } catch (error) {
        log.error({ err: error }, 'what was read of a file could not be kept');
        postponed.push(next);
      }
    }
    if (postponed.length === 0 || closing.signal.aborted) return;
    retryTimer ??= setTimeout(() => {
      retryTimer = null;
      for (const file of postponed) unread.set(file.id, file);
      startReading();
    }, retryAfterMs).unref();
  }

  /** @returns false when it has to be tried again */
  async function read(file: Unread): Promise<boolean> {
    // Before reading: a file that changes meanwhile differs from this at the next rescan.
    const fingerprint = await slides.fingerprintOf(file);
    if (fingerprint === null) return true; // gone; should it come back, a rescan finds it
    const inspection = await slides.inspect(file, closing.signal);
    if (inspection.status === 'postponed') return false;
    const changes = changesBy(inspection, fingerprint);
    await change(db, 'catalogue', async (tx) => {
      const before = await findImage(tx, file.id);
      const after = await updateImage(tx, file.id, changes, now().toISOString());
      // A file that cannot be read is tried again at every start; that it still cannot is not told again.
      const isNews = before?.fingerprint !== after?.fingerprint || before?.status !== after?.status;
      if (after === null || !isNews) return;
      const result = after.status === 'ready' ? 'done' : 'failed';
      await audit.record(tx, {
        ...byServer,
        action: 'image-imported',
        result,
        target: file.id,
        detail: { file_name: after.file_name },
      });
    });
    onChange(file.id);
    return true;
  }

  return {
    rescan({ retryFailed = false } = {}) {
      nextRescan ??= lastRescan.then(() => {
        nextRescan = null;
        const scanning = closing.signal.aborted ? Promise.resolve() : scanAll(retryFailed);
        lastRescan = scanning.catch(() => {}); // whoever asked is told; the next one starts anew
        return scanning;
      });
      return nextRescan;
    },

    async settled() {
      await (nextRescan ?? lastRescan).catch(() => {});
      while (reading !== null) await reading;
    },

    async close() {
      closing.abort();
      if (retryTimer !== null) clearTimeout(retryTimer);
      await lastRescan;
      await reading;
    },
  };
}

/** What the server does by itself. */
const byServer = { actor: null, origin: null } as const satisfies Partial<AuditEntry>;

function newImage(id: string, root: SlideFile['root'], slide: FoundSlide): NewImage {
  return {
    id,
    root,
    path: slide.path,
    members: membersOf(slide),
    file_name: basename(slide.path),
    dataset_name: slide.dataset_name,
    organ_type: slide.organ_type,
    size_bytes: slide.sizeBytes,
  };
}

/**
 * The entry of a slide, taken out of all there are. It may still be known by another of its files: a larger picture
 * of a series, come later, leads it.
 */
function rowOf(slide: FoundSlide, byPath: Map<string, ScannedRow>): ScannedRow | undefined {
  const folder = dirname(slide.path);
  const isShown = (row: ScannedRow | undefined) => row !== undefined && row.missing_since === null;
  const paths = [slide.path, ...slide.members.map((member) => join(folder, member))];
  const path = byPath.has(slide.path) ? slide.path : paths.find((each) => isShown(byPath.get(each)));
  const row = path === undefined ? undefined : byPath.get(path);
  if (path !== undefined) byPath.delete(path);
  return row;
}

const membersOf = ({ members }: FoundSlide) => JSON.stringify(members);

/** The entry as it is now, not as it was when the scan began: an administrator may have edited it since. */
async function followFile(tx: Change, id: string, slide: FoundSlide, at: string): Promise<void> {
  const row = await findImage(tx, id, { evenMissing: true });
  if (row !== null) await updateImage(tx, id, changesOf(row, slide), at);
}

/** What the file and the metadata files say otherwise than the entry; what an administrator set stays. */
function changesOf(row: ScannedRow, slide: FoundSlide): ImageChanges {
  const edited = new Set(JSON.parse(row.edited_fields) as EditableField[]);
  const follows = (field: 'dataset_name' | 'organ_type') => !edited.has(field) && row[field] !== slide[field];
  const isLedByAnother = row.path !== slide.path;
  return {
    ...(isLedByAnother && { path: slide.path }),
    ...(isLedByAnother && !edited.has('file_name') && { file_name: basename(slide.path) }),
    ...(follows('dataset_name') && { dataset_name: slide.dataset_name }),
    ...(follows('organ_type') && { organ_type: slide.organ_type }),
    ...(row.members !== membersOf(slide) && { members: membersOf(slide) }),
    ...(row.size_bytes !== slide.sizeBytes && { size_bytes: slide.sizeBytes }),
    ...(row.missing_since !== null && { missing_since: null }),
  };
}

function changesBy(
  inspection: Exclude<Inspection, { status: 'postponed' }>,
  fingerprint: string,
): ImageChanges {
  if (inspection.status === 'failed') {
    return { ...nothingRead, fingerprint, status: 'failed', error: inspection.error };
  }
  const { summary } = inspection;
  return { ...factsOf(summary), fingerprint: summary.fingerprint, status: 'ready', error: null };
}

const nothingRead = {
  width: null,
  height: null,
  mpp_x: null,
  mpp_y: null,
  objective_power: null,
  derived_scale: null,
  vendor: null,
  format: null,
} as const satisfies ImageChanges;

/** The allow-list of what a file may say of itself: nothing that can name a patient. */
function factsOf(summary: SlideSummary): Pick<ImageChanges, keyof typeof nothingRead> {
  const { scale } = summary;
  return {
    width: summary.width,
    height: summary.height,
    mpp_x: scale.mpp?.x ?? null,
    mpp_y: scale.mpp?.y ?? null,
    objective_power: scale.objectivePower,
    derived_scale: scale.derived === 'objectivePower' ? 'objective_power' : scale.derived,
    vendor: summary.vendor,
    format: summary.format,
  };
}

function isBelow(place: string, folder: string): boolean {
  return folder === '' || place === folder || place.startsWith(`${folder}/`);
}
