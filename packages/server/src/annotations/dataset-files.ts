/** Exports the annotations of a dataset to files, or imports them, for the command `npm run annotations`. */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  type ExportFormat,
  type ExportResult,
  type ExportWarningCode,
  exportAnnotations,
  importAnnotations,
} from '@lamina/annotations';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { insertLayer, type LayerRow, listLayers, nextChangeNo } from '../store/annotation-layers.ts';
import { spellingOf } from '../store/catalogue-names.ts';
import type { Connection, Database } from '../store/database.ts';
import type { ImageRow } from '../store/images.ts';
import { findUserByEmail } from '../store/users.ts';
import { applyChanges } from './apply-changes.ts';
import { featuresOf } from './layer-features.ts';
import { toStorable } from './parse-feature.ts';
import { statedPixelSizeOf } from './stated-pixel-size.ts';

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  /** Prints a sentence for the operator. */
  readonly printLine: (sentence: string) => void;
}

export interface DatasetExport {
  readonly dataset: string;
  readonly folder: string;
  readonly format: ExportFormat;
  /** Whether layers that are visible only to their owners are exported too. */
  readonly withPrivate: boolean;
}

export interface DatasetImport {
  readonly dataset: string;
  readonly folder: string;
  /** E-mail address of the account that owns the new layers. */
  readonly owner: string;
  /** Name of the new layers. Null: each layer gets the name of its file without the extension. */
  readonly layerName: string | null;
  readonly isPrivate: boolean; // whether only the owner and administrators see the new layers
  readonly isDryRun: boolean; // whether the files are only checked
}

const importableNames = /\.(geojson|json|xml|annotations)$/i; // .annotations: XML of HALO

/**
 * Writes one file for each layer (private layers only with `withPrivate`), named after the slide and the layer.
 *
 * @throws Error with a sentence for the operator when the dataset has no slides
 */
export async function exportDataset({ db, printLine }: Dependencies, options: DatasetExport): Promise<void> {
  const images = await imagesOf(db, options.dataset);
  await fs.mkdir(options.folder, { recursive: true, mode: 0o700 });
  let layerCount = 0;
  for (const image of images) {
    for (const layer of await listLayers(db, image.id, { onlyDeleted: false })) {
      if (layer.visibility === 'private' && !options.withPrivate) continue;
      const { name, warnings } = await writeLayer(db, image, layer, options);
      printLine(`${name}: ${layer.annotation_count} annotations`);
      for (const { code, count } of warnings) printLine(`${name}: ${lossTexts[code]}: ${count} annotations`);
      layerCount++;
    }
  }
  printLine(`${layerCount} layers of ${images.length} slides exported to ${options.folder}`);
}

/** Sentences for the operator about what an export format cannot store. */
const lossTexts: Readonly<Record<ExportWarningCode, string>> = {
  holes_as_outlines: 'holes became outlines',
  lines_left_out: 'lines were left out',
  measurements_left_out: 'measurements were left out',
  ellipses_as_polygons: 'ellipses became polygons',
  hierarchy_flattened: 'links to parents were left out',
  descriptions_left_out: 'descriptions were left out',
  details_left_out: 'planes, nuclei, metadata, locks or missing cores were left out',
};

/** Writes the annotations of a layer to a file. Returns the name of the file, and what its format cannot store. */
async function writeLayer(
  db: Database,
  image: ImageRow,
  layer: LayerRow,
  { folder, format }: DatasetExport,
): Promise<{ readonly name: string; readonly warnings: ExportResult['warnings'] }> {
  const { chunks, extension, warnings } = exportAnnotations(await featuresOf(db, layer.id), {
    format,
    pixelSize: statedPixelSizeOf(image),
  });
  // The start of the layer's id distinguishes layers with the same name.
  const name = `${portableName(image.file_name)}.${portableName(layer.name)}.${layer.id.slice(0, 8)}.${extension}`;
  const handle = await fs.open(path.join(folder, name), 'w', 0o600);
  await pipeline(chunks, handle.createWriteStream()); // the stream closes the file
  return { name, warnings };
}

/** Maximum length of a part of a file name, in bytes of UTF-8. File systems limit the whole name to 255 bytes. */
const maxNameBytes = 100;

/** Replaces leading dots, and characters that some operating systems forbid in file names; keeps at most `maxNameBytes`. */
function portableName(text: string): string {
  const name = text.replace(/[^\p{L}\p{N} ._-]/gu, '_').replace(/^\.+/, '_');
  // `read` counts the UTF-16 code units of the characters that fit into the buffer as a whole.
  const { read } = new TextEncoder().encodeInto(name, new Uint8Array(maxNameBytes));
  return name.slice(0, read);
}

/**
 * Imports each file into a new layer. The name of the file must begin with the file name of its slide, with or without the
 * extension of the slide.
 *
 * @throws Error with a sentence for the operator when the dataset has no slides or the owner has no account; a file-system
 *   error when the folder cannot be read
 */
export async function importDataset(dependencies: Dependencies, options: DatasetImport): Promise<void> {
  const { db, printLine } = dependencies;
  const images = await imagesOf(db, options.dataset);
  const owner = await findUserByEmail(db, options.owner);
  if (owner === null) throw new Error(`There is no account with the address ${options.owner}.`);
  const files = (await fs.readdir(options.folder)).filter((name) => importableNames.test(name)).sort();
  let importedCount = 0;
  for (const file of files) {
    const image = imageFor(images, file);
    if (image === null) {
      printLine(
        `${file}: skipped, because its name does not begin with the name of exactly one slide of the dataset`,
      );
      continue;
    }
    if (await importFile(dependencies, options, { file, image, ownerUid: owner.uid })) importedCount++;
  }
  printLine(
    options.isDryRun
      ? `${importedCount} of ${files.length} files can be imported. Nothing has been changed.`
      : `${importedCount} of ${files.length} files imported`,
  );
}

/** Returns the slide whose name is the longest prefix of the file's name; null if no slide matches, or several match equally. */
function imageFor(images: readonly ImageRow[], file: string): ImageRow | null {
  const matchedLengthOf = ({ file_name }: ImageRow) => {
    const slideName = portableName(file_name);
    const names = [slideName, path.parse(slideName).name];
    return Math.max(0, ...names.filter((name) => file.startsWith(`${name}.`)).map(({ length }) => length));
  };
  const longest = Math.max(0, ...images.map(matchedLengthOf));
  const matching = longest === 0 ? [] : images.filter((image) => matchedLengthOf(image) === longest);
  return matching.length === 1 ? (matching[0] ?? null) : null;
}

/** Imports a file into a new layer. @returns whether the file has annotations that are, or in a dry run can be, imported */
async function importFile(
  { db, now, audit, printLine }: Dependencies,
  { folder, layerName, isPrivate, isDryRun }: DatasetImport,
  { file, image, ownerUid }: { readonly file: string; readonly image: ImageRow; readonly ownerUid: string },
): Promise<boolean> {
  const { width, height } = image;
  const extent = width === null || height === null ? null : { width, height };
  const result = importAnnotations(await fs.readFile(path.join(folder, file)), { format: 'auto', extent });
  if (!result.ok) {
    printLine(`${file}: not imported (${result.error.code})`);
    return false;
  }
  const rejected = result.rejectedCount === 0 ? '' : `, ${result.rejectedCount} invalid ones left out`;
  printLine(`${file}: ${result.features.length} annotations for ${image.file_name}${rejected}`);
  if (result.features.length === 0) return false;
  if (isDryRun) return true;
  const at = now().toISOString();
  const changes = result.features.map((feature) => ({
    id: feature.id,
    feature: toStorable(feature),
    base: null, // no earlier revision: the annotation is new
  }));
  await db.transaction().execute(async (tx) => {
    const layer = await insertLayer(tx, {
      id: randomUUID(),
      image_id: image.id,
      name: layerName ?? path.parse(file).name.slice(0, 200), // the maximum length of a layer's name
      owner_uid: ownerUid,
      visibility: isPrivate ? 'private' : 'members', // members: all accounts that may view the slide
      editing: 'owner',
      locked_by: null,
      source: 'import',
      created_at: at,
      updated_at: at,
      deleted_at: null,
      version: 1,
      change_no: await nextChangeNo(tx, image.id),
      annotation_count: 0,
      vertex_count: 0,
      next_position: 1,
    });
    await applyChanges(tx, { layer, author: ownerUid, now: at }, changes);
    await audit.record(tx, {
      action: 'annotation-layer-created',
      actor: null, // the operator has no account
      target: image.id,
      detail: { layer: layer.id, owner: ownerUid, visibility: layer.visibility, file },
      origin: null,
    });
  });
  return true;
}

/** Returns the images of a dataset, without removed ones and those without a file, in catalogue order. @throws Error for none */
async function imagesOf(db: Connection, dataset: string): Promise<ImageRow[]> {
  const storedName = await spellingOf(db, 'dataset', dataset); // may differ from `dataset` in case or Unicode form
  const images = await db
    .selectFrom('images')
    .selectAll()
    .where('dataset_name', '=', storedName)
    .where('removed_at', 'is', null)
    .where('missing_since', 'is', null)
    .orderBy('sort_key')
    .execute();
  if (images.length === 0) throw new Error(`The dataset ${dataset} has no slides.`);
  return images;
}
