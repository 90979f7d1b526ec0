/**
 * Groups DICOM files into slides by their UIDs, image type and size, and reads a few kilobytes of each file to do so.
 * DICOM calls an image of the slide (as opposed to its label or overview) a "volume".
 */
import { type Identity, readIdentity } from '../dicom/identity.ts';
import { limits } from '../dicom/limits.ts';
import { isTemporaryError, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { SlideFolder, SlideGroup } from '../source/slide-files.ts';

/** The name of a DICOM file, and the attributes by which the file is assigned to a slide. */
export interface NamedIdentity {
  readonly name: string;
  readonly identity: Identity;
}

/** Number of files that are read concurrently. Higher numbers were not faster. */
const CONCURRENT_FILES = 8;

/**
 * Returns the identity of each file that is part of a slide, sorted by name. Damaged files and files of other formats are left
 * out, because they cannot be assigned to a slide.
 *
 * @throws SlideError when the storage fails
 */
export async function readIdentities(
  names: readonly string[],
  open: (name: string) => Promise<ByteSource>,
): Promise<NamedIdentity[]> {
  const found: NamedIdentity[] = [];
  const remainingNames = [...names];
  /** Reads one file after the other until no name remains; several calls of this function run concurrently. */
  const readRemainingFiles = async () => {
    for (let name = remainingNames.shift(); name !== undefined; name = remainingNames.shift()) {
      const identity = await readIdentityOf(name, open);
      if (identity) found.push({ name, identity });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_FILES }, readRemainingFiles));
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Reads the identity of a file; returns null for a damaged file or another format. @throws SlideError when the storage fails */
async function readIdentityOf(
  name: string,
  open: (name: string) => Promise<ByteSource>,
): Promise<Identity | null> {
  let source: ByteSource | null = null;
  try {
    source = await open(name);
    return await readIdentity(source);
  } catch (error) {
    if (error instanceof SlideError && !isTemporaryError(error)) return null;
    throw error;
  } finally {
    await source?.close();
  }
}

/**
 * Groups files by slide. A slide is usually a series. In a series with several pyramid UIDs, each pyramid is a slide,
 * and the volumes without a pyramid UID together form another slide. An associated image belongs to the pyramid whose
 * UID it states. An image that states none of these UIDs belongs to the first pyramid.
 *
 * Source: DICOM PS3.3, C.7.3.1 (series), C.8.12.14 (pyramid).
 */
export function groupBySlide(files: readonly NamedIdentity[]): NamedIdentity[][] {
  const slides: NamedIdentity[][] = [];
  for (const series of Map.groupBy(files, ({ identity }) => identity.series).values()) {
    const volumes = series.filter(({ identity }) => identity.kind === 'volume');
    const pyramids = [...new Set(volumes.map(({ identity }) => identity.pyramid))];
    const pyramidUids = pyramids.filter((pyramid) => pyramid !== null);
    if (pyramidUids.length <= 1) {
      slides.push(series);
      continue;
    }
    const [firstUid = null] = pyramidUids;
    const pyramidOf = ({ identity: { kind, pyramid } }: NamedIdentity) => {
      const isInPyramid = pyramid !== null && pyramidUids.includes(pyramid);
      return kind === 'volume' || isInPyramid ? pyramid : firstUid;
    };
    slides.push(...Map.groupBy(series, pyramidOf).values());
  }
  return slides;
}

/**
 * Compares two files so that the main file of a slide is sorted first. Volumes precede associated images, and larger images
 * precede smaller ones. Equal ones are sorted by part number (of an image split into several files), instance number and name.
 */
function compareImportance(fileA: NamedIdentity, fileB: NamedIdentity): number {
  const a = fileA.identity;
  const b = fileB.identity;
  return (
    Number(b.kind === 'volume') - Number(a.kind === 'volume') ||
    b.width * b.height - a.width * a.height ||
    (a.concatenation?.number ?? 0) - (b.concatenation?.number ?? 0) ||
    (a.instanceNumber ?? 0) - (b.instanceNumber ?? 0) ||
    (fileA.name < fileB.name ? -1 : 1)
  );
}

/** Checks the number of files that must be read to find the other files of a slide. @throws SlideError LIMIT_EXCEEDED */
export function checkFileCount(count: number): void {
  if (count > limits.files) {
    throw new SlideError('LIMIT_EXCEEDED', `More than ${limits.files} files may belong to this slide`);
  }
}

/** Checks the number of volumes, because all are open at the same time. @throws SlideError LIMIT_EXCEEDED */
export function checkVolumeCount(count: number): void {
  if (count > limits.volumes) {
    throw new SlideError('LIMIT_EXCEEDED', `The slide is split into more than ${limits.volumes} files`);
  }
}

/** Groups the DICOM files of a folder by slide: a main file and its other files. Omits slides of a single file. */
export async function groupDicomFiles({ names, open }: SlideFolder): Promise<readonly SlideGroup[]> {
  const slides = groupBySlide(await readIdentities(names, open));
  return slides.flatMap((files) => {
    const [main, ...others] = files.toSorted(compareImportance).map(({ name }) => name);
    return main === undefined || others.length === 0 ? [] : [{ main, members: others.sort() }];
  });
}
