/**
 * Makes and changes the cases that metadata files name. What an administrator has changed in the screen stays: a scan replaces the
 * name, the description or the slides of a case only while they are what the last scan wrote, and never makes a deleted case again.
 *
 * A slide belongs to the case with the stated name in the dataset of its entry. Slides that a scan does not know, because their file
 * is missing or a metadata file cannot be used, keep their case.
 */
import { randomUUID } from 'node:crypto';
import { caseSlidesLimit, nameKey, naturalCompare } from '@lamina/contract';
import type { Logger } from 'pino';
import type { AuditAction, AuditEntry, AuditRecorder } from '../audit/audit-recorder.ts';
import { createYielder } from '../platform/yield-to-event-loop.ts';
import {
  type CaseOfFiles,
  type CaseSlideRow,
  deleteCaseOfFiles,
  deleteStoredCase,
  findCaseNamed,
  findCaseOfFiles,
  findCases,
  listCasesOfFiles,
  type StoredCase,
  saveCase,
  saveCaseOfFiles,
  type WrittenCase,
} from '../store/cases.ts';
import { type Change, change, type Database } from '../store/database.ts';
import { listImagesAt, listPlacesOfImages, type PlacedImage } from '../store/images.ts';
import type { StatedCase } from './metadata-files.ts';
import type { RootScan } from './reconcile.ts';
import { type Root, serverActor } from './reconciled-images.ts';

interface FollowCasesDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: AuditRecorder;
}

const rowsPerQuery = 500;
/** Few enough that other requests wait neither for the database nor for the event loop. */
const casesPerTransaction = 50;

/** A slide of a case, with what the files say of the case. */
interface WantedSlide extends Pick<WrittenCase, 'name' | 'description'> {
  readonly path: string;
  readonly slide: CaseSlideRow;
  /** Null: the scan does not know the slide, so its case exists already. */
  readonly dataset: string | null;
}

/** What a scan changes about one case; `wanted` null: the files name it no more. */
interface CaseStep {
  readonly key: string;
  readonly known: CaseOfFiles | null;
  readonly dataset: string | null;
  readonly wanted: WrittenCase | null;
}

/** @param scans of some roots; slides of other roots keep their cases */
export async function followCases(
  { db, now, log, audit }: FollowCasesDependencies,
  scans: readonly RootScan[],
): Promise<void> {
  const known = await listCasesOfFiles(db);
  const isStated = scans.some(({ slides }) => slides.some(({ inCase }) => inCase !== undefined));
  if (known.length === 0 && !isStated) return;
  const wanted = await wantedCases(db, scans, known);
  const knownByKey = new Map(known.map((each) => [each.key, each]));
  const steps: CaseStep[] = [];
  const yieldToEventLoop = createYielder();
  for (const key of new Set([...knownByKey.keys(), ...wanted.keys()])) {
    await yieldToEventLoop();
    const slides = wanted.get(key) ?? [];
    const step = {
      key,
      known: knownByKey.get(key) ?? null,
      dataset: slides.find(({ dataset }) => dataset !== null)?.dataset ?? null,
      wanted: writtenOf(slides, log),
    };
    if (!isSame(step.known?.written ?? null, step.wanted)) steps.push(step);
  }
  for (let from = 0; from < steps.length; from += casesPerTransaction) {
    await yieldToEventLoop();
    await change(db, 'catalogue', async (tx) => {
      const entries: AuditEntry[] = [];
      for (const step of steps.slice(from, from + casesPerTransaction)) {
        entries.push(...(await takeStep(tx, step, now().toISOString())));
      }
      await audit.recordAll(tx, entries);
    });
  }
}

/** Returns the slides of the cases that the files name, by key; those that this scan does not know in the cases that they are in. */
async function wantedCases(
  db: Database,
  scans: readonly RootScan[],
  known: readonly CaseOfFiles[],
): Promise<ReadonlyMap<string, readonly WantedSlide[]>> {
  const wanted = new Map<string, WantedSlide[]>();
  const add = (key: string, slide: WantedSlide) => {
    const found = wanted.get(key);
    if (found === undefined) wanted.set(key, [slide]);
    else found.push(slide);
  };
  /** What the files state about the slides that this scan knows, by place; null: no case. */
  const stated = new Map<Root, ReadonlyMap<string, StatedCase | null>>();
  for (const { root, slides } of scans) {
    const complete = slides.filter(({ metadataIncomplete }) => !metadataIncomplete);
    stated.set(root, new Map(complete.map(({ path, inCase = null }) => [path, inCase] as const)));
  }
  for (const [root, ofRoot] of stated) {
    const paths = [...ofRoot].flatMap(([path, inCase]) => (inCase === null ? [] : [path]));
    for (const { id, path, dataset_name } of await inParts(paths, (part) => listImagesAt(db, root, part))) {
      const inCase = ofRoot.get(path) ?? null;
      if (inCase === null || dataset_name === null) continue; // a case belongs to a dataset
      const { name, description, stain, block, note } = inCase;
      const slide = { image_id: id, stain, block, note };
      add(keyOf(dataset_name, name), { path, slide, dataset: dataset_name, name, description });
    }
  }
  const ids = known.flatMap(({ written }) => written.slides.map(({ image_id }) => image_id));
  const places = await inParts(ids, (part) => listPlacesOfImages(db, part));
  const placeOf = new Map(places.map((place) => [place.id, place]));
  for (const { key, written } of known) {
    for (const slide of written.slides) {
      const place = placeOf.get(slide.image_id);
      if (place === undefined || stated.get(place.root)?.has(place.path)) continue;
      const { name, description } = written;
      add(key, { path: place.path, slide, dataset: null, name, description });
    }
  }
  return wanted;
}

async function inParts(
  keys: readonly string[],
  read: (part: readonly string[]) => Promise<readonly PlacedImage[]>,
): Promise<readonly PlacedImage[]> {
  const found: PlacedImage[] = [];
  const yieldToEventLoop = createYielder();
  for (let from = 0; from < keys.length; from += rowsPerQuery) {
    await yieldToEventLoop();
    found.push(...(await read(keys.slice(from, from + rowsPerQuery))));
  }
  return found;
}

function keyOf(dataset: string, name: string): string {
  return `${nameKey(dataset)}\n${nameKey(name)}`;
}

/** Puts the slides in natural order of their paths; the first name and the first description count. @returns null without slides */
function writtenOf(slides: readonly WantedSlide[], log: Logger): WrittenCase | null {
  const inOrder = slides.toSorted((a, b) => naturalCompare(a.path, b.path));
  const [first] = inOrder;
  if (first === undefined) return null;
  const { name } = first;
  if (slides.length > caseSlidesLimit) {
    log.warn(
      { caseName: name, slides: slides.length, limit: caseSlidesLimit },
      'metadata files put too many slides into one case; slides beyond the limit are left out of the case',
    );
  }
  return {
    name,
    description: inOrder.find(({ description }) => description !== null)?.description ?? null,
    slides: inOrder.slice(0, caseSlidesLimit).map(({ slide }) => slide),
  };
}

/** Applies what the files say of a case to the case as it is now. @returns audit entries */
async function takeStep(
  tx: Change,
  { key, known, dataset, wanted }: CaseStep,
  at: string,
): Promise<AuditEntry[]> {
  // A scan of the other storage may have changed the case since it was read.
  if (!isSame(await findCaseOfFiles(tx, key), known)) return [];
  const [current = null] = known === null ? [] : await findCases(tx, [known.caseId]);
  if (wanted === null) return known === null ? [] : endCase(tx, known, current);
  if (known === null) return dataset === null ? [] : beginCase(tx, key, dataset, wanted, at);
  await saveCaseOfFiles(tx, { key, caseId: known.caseId, written: wanted });
  if (current === null) return []; // an administrator has deleted it
  const before = writtenFields(current);
  const isWritten = (field: keyof WrittenCase) => isSame(before[field], known.written[field]);
  const changes = {
    ...(isWritten('name') && { name: wanted.name }),
    ...(isWritten('description') && { description: wanted.description }),
    ...(isWritten('slides') && { slides: wanted.slides }),
  };
  if (isSame({ ...before, ...changes }, before)) return [];
  const after = { ...current, ...changes, version: current.version + 1, updated_at: at };
  await saveCase(tx, after);
  return [entryOf('case-changed', after)];
}

/** Makes a case. With one of an administrator with the same name, it counts as deleted: that one stays, whatever the files say. */
async function beginCase(
  tx: Change,
  key: string,
  dataset: string,
  written: WrittenCase,
  at: string,
): Promise<AuditEntry[]> {
  const existing = await findCaseNamed(tx, { dataset, name: written.name });
  const caseId = randomUUID();
  await saveCaseOfFiles(tx, { key, caseId, written });
  if (existing !== null) return [];
  const times = { created_at: at, updated_at: at };
  const made = { id: caseId, dataset, version: 1, registrations: [], ...written, ...times };
  await saveCase(tx, made);
  return [entryOf('case-created', made)];
}

/** Deletes a case that the files name no more, unless an account has edited it or registered its slides. */
async function endCase(tx: Change, known: CaseOfFiles, current: StoredCase | null): Promise<AuditEntry[]> {
  await deleteCaseOfFiles(tx, known.key);
  if (current === null || current.registrations.length > 0) return [];
  if (!isSame(writtenFields(current), known.written)) return [];
  await deleteStoredCase(tx, current.id);
  return [entryOf('case-deleted', current)];
}

function entryOf(action: AuditAction, { id, name, dataset, slides }: StoredCase): AuditEntry {
  return { ...serverActor, action, target: id, detail: { name, dataset, slides: slides.length } };
}

/** In the order of properties in which they are written. */
function writtenFields({ name, description, slides }: StoredCase): WrittenCase {
  return { name, description, slides };
}

/** Whether two values have the same JSON; their properties are in the same order. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
