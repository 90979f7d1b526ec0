/** Groups DICOM files into slides; a few kilobytes of each file are read. */
import { type Identity, readIdentity } from '../dicom/identity.ts';
import { limits } from '../dicom/limits.ts';
import { isUnreachable, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { SlideFolder, SlideGroup } from '../source/slide-files.ts';

export interface NamedIdentity {
  readonly name: string;
  readonly identity: Identity;
}

/** Number of files that are read concurrently; more would not be faster. */
const AT_ONCE = 8;

/**
 * Returns the identity of each file that is part of a slide, sorted by name. A file that cannot be read is left out,
 * because it cannot be assigned to a slide.
 */
export async function readIdentities(
  names: readonly string[],
  open: (name: string) => Promise<ByteSource>,
): Promise<NamedIdentity[]> {
  const found: NamedIdentity[] = [];
  const waiting = [...names];
  const readNext = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const identity = await identityOf(name, open);
      if (identity) found.push({ name, identity });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return found.sort((one, other) => (one.name < other.name ? -1 : 1));
}

async function identityOf(
  name: string,
  open: (name: string) => Promise<ByteSource>,
): Promise<Identity | null> {
  let source: ByteSource | null = null;
  try {
    source = await open(name);
    return await readIdentity(source);
  } catch (error) {
    if (error instanceof SlideError && !isUnreachable(error)) return null;
    throw error;
  } finally {
    await source?.close();
  }
}

/**
 * Groups files by slide: one series, or one pyramid of a series that contains several. Labels and overviews belong to
 * no pyramid and are grouped with the first.
 *
 * Source: DICOM PS3.3, C.7.3.1 (series), C.8.12.14 (pyramid).
 */
export function groupBySlide(files: readonly NamedIdentity[]): NamedIdentity[][] {
  const slides: NamedIdentity[][] = [];
  for (const series of Map.groupBy(files, ({ identity }) => identity.series).values()) {
    const volumes = series.filter(({ identity }) => identity.kind === 'volume');
    const pyramids = [...new Set(volumes.map(({ identity }) => identity.pyramid))];
    const named = pyramids.filter((pyramid) => pyramid !== null);
    if (named.length <= 1) {
      slides.push(series);
      continue;
    }
    const first = named[0] ?? null;
    const pyramidOf = ({ identity: { kind, pyramid } }: NamedIdentity) =>
      kind !== 'volume' && (pyramid === null || !named.includes(pyramid)) ? first : pyramid;
    slides.push(...Map.groupBy(series, pyramidOf).values());
  }
  return slides;
}

/** Sorts the leading file of a slide first: the largest image; of an image in several files, the first part. */
function byImportance(one: NamedIdentity, other: NamedIdentity): number {
  const [a, b] = [one.identity, other.identity];
  return (
    Number(b.kind === 'volume') - Number(a.kind === 'volume') ||
    b.width * b.height - a.width * a.height ||
    (a.concatenation?.number ?? 0) - (b.concatenation?.number ?? 0) ||
    (a.instanceNumber ?? 0) - (b.instanceNumber ?? 0) ||
    (one.name < other.name ? -1 : 1)
  );
}

/** Checks the number of files that are examined. @throws SlideError LIMIT_EXCEEDED */
export function checkFileCount(count: number): void {
  if (count > limits.files) {
    throw new SlideError('LIMIT_EXCEEDED', `More than ${limits.files} files may belong to this slide`);
  }
}

/** Checks the number of files that are open at once. @throws SlideError LIMIT_EXCEEDED */
export function checkVolumeCount(count: number): void {
  if (count > limits.volumes) {
    throw new SlideError('LIMIT_EXCEEDED', `The slide is split into more than ${limits.volumes} files`);
  }
}

/** Returns the slides of a folder that consist of more than one file. */
export async function groupDicomFiles({ names, open }: SlideFolder): Promise<readonly SlideGroup[]> {
  const slides = groupBySlide(await readIdentities(names, open));
  return slides.flatMap((files) => {
    const [leading, ...others] = files.toSorted(byImportance).map(({ name }) => name);
    return leading === undefined || others.length === 0 ? [] : [{ leading, members: others.sort() }];
  });
}
