/**
 * Creates, changes and deletes the cases (named groups of slides) that metadata files (`catalogue.csv`, `dataset.json`) name. A
 * scan keeps the edits by administrators: it replaces a field of a case (name, description or slides) only if the field still has
 * the value that an earlier scan has written. It never recreates a case that an administrator has deleted.
 *
 * A metadata file states the name of a case for a slide; the case belongs to the dataset of the slide's entry. If a scan has no
 * information about a slide, because its file is missing or a metadata file is unusable, the slide stays in its case.
 *
 * Names in this file: `known` is a case as the last scan wrote it. `wanted` is the case as the metadata files state it now.
 * `current` is the case as it is stored, with the edits by administrators.
 */
import { randomUUID } from 'node:crypto';
import { caseSlidesLimit, nameKey, naturalCompare } from '@lamina/contract';
import type { Logger } from 'pino';
import type { AuditAction, AuditEntry, AuditRecorder } from '../audit/audit-recorder.ts';
import { createYielder } from '../platform/yield-to-event-loop.ts';
import {
  type CaseSlideRow,
  deleteMetadataCase,
  deleteStoredCase,
  findCaseNamed,
  findCases,
  findMetadataCase,
  type ImportedCase,
  listMetadataCases,
  type MetadataCase,
  type StoredCase,
  saveCase,
  saveMetadataCase,
} from '../store/cases.ts';
import { type Database, type DatabaseTransaction, runLockedTransaction } from '../store/database.ts';
import { findImageLocations, type ImageLocation, listImagesAt } from '../store/images.ts';
import type { StatedCase } from './metadata-files.ts';
import type { RootScan } from './reconcile.ts';
import { type Root, serverActor } from './reconciled-images.ts';

interface ReconcileCasesDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: AuditRecorder;
}

const rowsPerQuery = 500;
/** Maximum number of cases that one transaction changes. It is small, so that other requests do not wait long for the lock. */
const casesPerTransaction = 50;

/** A slide of a wanted case, with the name and description that the metadata files state for the case. */
interface WantedSlide extends Pick<ImportedCase, 'name' | 'description'> {
  readonly path: string;
  readonly slide: CaseSlideRow;
  /** Null when this scan has no information about the slide; its case then exists already. */
  readonly dataset: string | null;
}

/** A change to one case. */
interface CaseChange {
  /** Key of the case (see `caseKeyOf`). */
  readonly key: string;
  /** Null for a new case. */
  readonly known: MetadataCase | null;
  /** Null when this scan has no information about any slide of the case; the case then exists already. */
  readonly dataset: string | null;
  /** Null when the metadata files no longer name the case. */
  readonly wanted: ImportedCase | null;
}

/** Updates the cases after a scan. @param scans scans of some roots (folders or bucket); slides of other roots keep their cases */
export async function reconcileCases(
  { db, now, log, audit }: ReconcileCasesDependencies,
  scans: readonly RootScan[],
): Promise<void> {
  const knownCases = await listMetadataCases(db);
  const isAnyCaseStated = scans.some(({ slides }) => slides.some(({ inCase }) => inCase !== undefined));
  if (knownCases.length === 0 && !isAnyCaseStated) return;
  const wantedSlides = await wantedSlidesByCase(db, scans, knownCases);
  const knownByKey = new Map(knownCases.map((knownCase) => [knownCase.key, knownCase]));
  const caseChanges: CaseChange[] = [];
  const yieldToEventLoop = createYielder();
  for (const key of new Set([...knownByKey.keys(), ...wantedSlides.keys()])) {
    await yieldToEventLoop();
    const slides = wantedSlides.get(key) ?? [];
    const caseChange = {
      key,
      known: knownByKey.get(key) ?? null,
      dataset: slides.find(({ dataset }) => dataset !== null)?.dataset ?? null,
      wanted: wantedCaseOf(slides, log),
    };
    if (!hasSameJson(caseChange.known?.written ?? null, caseChange.wanted)) caseChanges.push(caseChange);
  }
  for (let start = 0; start < caseChanges.length; start += casesPerTransaction) {
    await yieldToEventLoop();
    await runLockedTransaction(db, 'catalogue', async (tx) => {
      const entries: AuditEntry[] = [];
      for (const caseChange of caseChanges.slice(start, start + casesPerTransaction)) {
        entries.push(...(await applyChange(tx, caseChange, now().toISOString())));
      }
      await audit.recordAll(tx, entries);
    });
  }
}

/** Returns the slides of each case by the key of the case. Slides without information from this scan stay in their current case. */
async function wantedSlidesByCase(
  db: Database,
  scans: readonly RootScan[],
  knownCases: readonly MetadataCase[],
): Promise<ReadonlyMap<string, readonly WantedSlide[]>> {
  const wanted = new Map<string, WantedSlide[]>();
  const add = (key: string, slide: WantedSlide) => {
    const slidesOfCase = wanted.get(key);
    if (slidesOfCase === undefined) wanted.set(key, [slide]);
    else slidesOfCase.push(slide);
  };
  /** Cases that the metadata files state, by root and path of the slide; null for a slide without a stated case. */
  const statedCases = new Map<Root, ReadonlyMap<string, StatedCase | null>>();
  for (const { root, slides } of scans) {
    // For a slide with incomplete metadata, the unusable metadata file may state another case.
    const withCompleteMetadata = slides.filter(({ isMetadataIncomplete }) => !isMetadataIncomplete);
    statedCases.set(
      root,
      new Map(withCompleteMetadata.map(({ path, inCase = null }) => [path, inCase] as const)),
    );
  }
  for (const [root, casesByPath] of statedCases) {
    const paths = [...casesByPath].flatMap(([path, inCase]) => (inCase === null ? [] : [path]));
    for (const { id, path, dataset_name } of await readInBatches(paths, (batch) =>
      listImagesAt(db, root, batch),
    )) {
      const inCase = casesByPath.get(path) ?? null;
      if (inCase === null || dataset_name === null) continue; // a slide without a dataset cannot be in a case
      const { name, description, stain, block, note } = inCase;
      const slide = { image_id: id, stain, block, note };
      add(caseKeyOf(dataset_name, name), { path, slide, dataset: dataset_name, name, description });
    }
  }
  const ids = knownCases.flatMap(({ written }) => written.slides.map(({ image_id }) => image_id));
  const locations = await readInBatches(ids, (batch) => findImageLocations(db, batch));
  const locationsById = new Map(locations.map((location) => [location.id, location]));
  for (const { key, written } of knownCases) {
    for (const slide of written.slides) {
      const location = locationsById.get(slide.image_id);
      // Skips entries that no longer exist, and slides about which this scan has information: the loop above has handled them.
      if (location === undefined || statedCases.get(location.root)?.has(location.path)) continue;
      const { name, description } = written;
      add(key, { path: location.path, slide, dataset: null, name, description });
    }
  }
  return wanted;
}

async function readInBatches(
  keys: readonly string[],
  readBatch: (batch: readonly string[]) => Promise<readonly ImageLocation[]>,
): Promise<readonly ImageLocation[]> {
  const locations: ImageLocation[] = [];
  const yieldToEventLoop = createYielder();
  for (let start = 0; start < keys.length; start += rowsPerQuery) {
    await yieldToEventLoop();
    locations.push(...(await readBatch(keys.slice(start, start + rowsPerQuery))));
  }
  return locations;
}

/** Returns a key that is equal for all spellings of the names of a case and its dataset. */
function caseKeyOf(dataset: string, name: string): string {
  return `${nameKey(dataset)}\n${nameKey(name)}`;
}

/**
 * Returns the case with its slides in natural order of their paths; null if there are no slides. The name is the one that is
 * stated for the first slide; the description is the first stated one.
 */
function wantedCaseOf(slides: readonly WantedSlide[], log: Logger): ImportedCase | null {
  const inOrder = slides.toSorted((a, b) => naturalCompare(a.path, b.path));
  const [firstSlide] = inOrder;
  if (firstSlide === undefined) return null;
  const { name } = firstSlide;
  if (slides.length > caseSlidesLimit) {
    log.warn(
      { caseName: name, dataset: firstSlide.dataset, slides: slides.length, limit: caseSlidesLimit },
      'metadata files assign too many slides to one case; slides beyond the limit are left out of the case',
    );
  }
  return {
    name,
    description: inOrder.find(({ description }) => description !== null)?.description ?? null,
    slides: inOrder.slice(0, caseSlidesLimit).map(({ slide }) => slide),
  };
}

/** Applies a change to the current state of its case. @returns the audit events to record in the same transaction */
async function applyChange(
  tx: DatabaseTransaction,
  { key, known, dataset, wanted }: CaseChange,
  at: string,
): Promise<AuditEntry[]> {
  // A concurrent scan (of the folders or of the bucket) may have changed the case after `known` was read.
  if (!hasSameJson(await findMetadataCase(tx, key), known)) return [];
  const [current = null] = known === null ? [] : await findCases(tx, [known.caseId]);
  if (wanted === null) return known === null ? [] : deleteUneditedCase(tx, known, current);
  if (known === null) return dataset === null ? [] : createCaseOfFiles(tx, key, dataset, wanted, at);
  await saveMetadataCase(tx, { key, caseId: known.caseId, written: wanted });
  if (current === null) return []; // an administrator has deleted the case
  const before = writtenFields(current);
  const isUnedited = (field: keyof ImportedCase) => hasSameJson(before[field], known.written[field]);
  const changes = {
    ...(isUnedited('name') && { name: wanted.name }),
    ...(isUnedited('description') && { description: wanted.description }),
    ...(isUnedited('slides') && { slides: wanted.slides }),
  };
  if (hasSameJson({ ...before, ...changes }, before)) return [];
  const after = { ...current, ...changes, version: current.version + 1, updated_at: at };
  await saveCase(tx, after);
  return [auditEntryOf('case-changed', after)];
}

/**
 * Creates a case that the metadata files name. If an administrator has already created a case with the same name, that case stays
 * unchanged. This function then records the case of the files with an id that no stored case has. Later scans treat it like a
 * case that an administrator has deleted, so they do not create it either.
 */
async function createCaseOfFiles(
  tx: DatabaseTransaction,
  key: string,
  dataset: string,
  written: ImportedCase,
  at: string,
): Promise<AuditEntry[]> {
  const existing = await findCaseNamed(tx, { dataset, name: written.name });
  const caseId = randomUUID();
  await saveMetadataCase(tx, { key, caseId, written });
  if (existing !== null) return [];
  const times = { created_at: at, updated_at: at };
  const created = { id: caseId, dataset, version: 1, registrations: [], ...written, ...times };
  await saveCase(tx, created);
  return [auditEntryOf('case-created', created)];
}

/** Deletes a case that the files no longer name, unless an account has edited the case or registered (aligned) its slides. */
async function deleteUneditedCase(
  tx: DatabaseTransaction,
  known: MetadataCase,
  current: StoredCase | null,
): Promise<AuditEntry[]> {
  await deleteMetadataCase(tx, known.key);
  if (current === null || current.registrations.length > 0) return [];
  if (!hasSameJson(writtenFields(current), known.written)) return [];
  await deleteStoredCase(tx, current.id);
  return [auditEntryOf('case-deleted', current)];
}

function auditEntryOf(action: AuditAction, { id, name, dataset, slides }: StoredCase): AuditEntry {
  return { ...serverActor, action, target: id, detail: { name, dataset, slides: slides.length } };
}

/** Returns the fields that scans write, in a fixed order, because `hasSameJson` compares their JSON. */
function writtenFields({ name, description, slides }: StoredCase): ImportedCase {
  return { name, description, slides };
}

/** Returns whether two values have the same JSON; their properties must be in the same order. */
function hasSameJson(first: unknown, second: unknown): boolean {
  return JSON.stringify(first) === JSON.stringify(second);
}
