/** The slides behind the catalogue's images: their descriptors, tiles and thumbnails, as bytes to send. */
import {
  type Allocate,
  type DeepZoomAddress,
  descriptorXml,
  type FolderLocation,
  fingerprintOf,
  isUnreachable,
  type ObjectReader,
  openServedSlide,
  readStoredTile,
  regionOfTile,
  SlideError,
  type SlideErrorCode,
  type SlideGroup,
  type SlideLocation,
  type SlideSummary,
} from '@lamina/slide';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { TileSource } from '../metrics/tile-tally.ts';
import { type MadeFrom, tileNameIn } from './made-from.ts';
import { type MadeTiles, thumbnailName } from './made-tiles.ts';
import { createOpenSlides, type OpenSlide, type Wanted } from './open-slides.ts';
import { locate, type SlideFile } from './slide-roots.ts';

export type { SlideGroup, SlideSummary };

/** An image of the catalogue that may be shown, and the file it is read from. */
export interface ServableImage extends SlideFile {
  readonly id: string;
  readonly fileName: string;
  /** Null: in no dataset. */
  readonly dataset: string | null;
  /** From all but administrators. */
  readonly isHidden: boolean;
  /** Of the file as the catalogue read it. */
  readonly fingerprint: string;
}

export interface ServedBytes {
  readonly bytes: Uint8Array | string;
  /** Strong, quotes included. */
  readonly etag: string;
}

export interface ServedTile extends ServedBytes {
  readonly source: TileSource;
}

/** A tile that is there; `bytes` null: the asker has them, by the tag it named. */
export type TileAtHand =
  | { readonly etag: string; readonly bytes: Uint8Array; readonly source: 'stored' | 'kept' }
  | { readonly etag: string; readonly bytes: null; readonly source: null };

/** What reading a file for the first time brought. */
export type Inspection =
  | { readonly status: 'ready'; readonly summary: SlideSummary }
  /** The file will not become readable by waiting; the sentence says why, without paths. */
  | { readonly status: 'failed'; readonly error: string }
  /** Not the file's fault, or it is not there any more: to be tried again. */
  | { readonly status: 'postponed' };

export interface Slides {
  /** The Deep Zoom XML. @throws SlideError */
  descriptor(image: ServableImage): Promise<ServedBytes>;
  /** @throws SlideError TILE_OUT_OF_RANGE, BUSY, DECODE_FAILED, and what opening throws */
  tile(image: ServableImage, address: DeepZoomAddress, signal: AbortSignal): Promise<ServedTile>;
  /**
   * The same tile, where the slide is open already and nothing has to be made.
   *
   * @param knownTag what the asker has
   * @param allocate where the tile's bytes may be put
   * @returns null, at once or after a look at the disk, where `tile` is to be asked
   * @throws SlideError what reading throws; `tile` says it better
   */
  tileAtHand(
    image: ServableImage,
    address: DeepZoomAddress,
    knownTag: string | undefined,
    allocate: Allocate,
  ): Promise<TileAtHand | null> | null;
  /** The whole slide, at most 256 pixels a side. @throws SlideError */
  thumbnail(image: ServableImage, signal: AbortSignal): Promise<ServedBytes>;
  /** Reads a file for the catalogue, in a process of its own. */
  inspect(file: SlideFile, signal: AbortSignal): Promise<Inspection>;
  /**
   * Which files of a folder are one slide, told by what stands in them, in a process of its own.
   *
   * @returns null when that cannot be told now
   */
  group(
    folder: FolderLocation,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly SlideGroup[] | null>;
  /** Changes whenever the file does; null when it is not there. @throws SlideError when that cannot be told now */
  fingerprintOf(file: SlideFile): Promise<string | null>;
  /** Closes an image that is not to be shown any more, at once. */
  forget(imageId: string): void;
  openCount(): number;
  close(): Promise<void>;
}

const openSlidesLimit = 200;

interface Ground {
  readonly config: Config;
  readonly log: Logger;
  /** Closed together with the slides. */
  readonly madeTiles: MadeTiles;
  /** Through which the slides of the bucket are read; null where there is none. */
  readonly objects: ObjectReader | null;
}

export function createSlides({ config, log, madeTiles, objects }: Ground): Slides {
  const openSlides = createOpenSlides({ limit: openSlidesLimit, log, objects });

  async function locationOf({ root, path, members }: SlideFile): Promise<SlideLocation> {
    if (root === 'bucket') return { path, isObject: true, members };
    const found = await locate(config, { root, path });
    if (found === null) throw new SlideError('FILE_MISSING', 'The file is not there any more.');
    return { path: found, members };
  }

  const wanted = (image: ServableImage): Wanted => ({
    id: image.id,
    locate: () => locationOf(image),
    async open(location, fingerprint) {
      const inspect = () => madeTiles.inspect(location);
      // A file that the catalogue has not read yet is first read where it can hurt nobody.
      if (fingerprint !== image.fingerprint) await inspect();
      const slide = await openServedSlide(location, inspect, objects);
      madeTiles.fill({ location, fingerprint: slide.fingerprint }, 'opened');
      return slide;
    },
  });

  async function tileOf(
    { slide, location }: OpenSlide,
    address: DeepZoomAddress,
    signal: AbortSignal,
  ): Promise<ServedTile> {
    const { fingerprint } = slide;
    const etag = etagOf(fingerprint, tileNameIn(address));
    const stored = await readStoredTile(slide, address, signal);
    if (stored !== null) return { bytes: stored, etag, source: 'stored' };
    const { jpeg, wasKept } = await madeTiles.tile({ location, fingerprint }, address, signal);
    return { bytes: jpeg, etag, source: wasKept ? 'kept' : 'made' };
  }

  async function tileAtHandOf(
    { slide, descriptor }: OpenSlide,
    address: DeepZoomAddress,
    knownTag: string | undefined,
    allocate: Allocate,
  ): Promise<TileAtHand | null> {
    const { fingerprint } = slide;
    const name = tileNameIn(address);
    const etag = etagOf(fingerprint, name);
    if (etag === knownTag) {
      regionOfTile(descriptor, address); // throws for a tile that there is not, as reading it does
      return { etag, bytes: null, source: null };
    }
    const stored = await readStoredTile(slide, address, undefined, allocate);
    if (stored !== null) return { etag, bytes: stored, source: 'stored' };
    const kept = await madeTiles.kept({ fingerprint, name }, allocate);
    return kept && { etag, bytes: kept, source: 'kept' };
  }

  async function thumbnailOf(image: ServableImage, signal: AbortSignal): Promise<ServedBytes> {
    // The slide is not opened for it here: a list shows hundreds.
    const location = await locationOf(image);
    const from: MadeFrom = { location, fingerprint: await fingerprintOf(location, objects) };
    const bytes = await madeTiles.thumbnail(from, signal);
    return { bytes, etag: etagOf(from.fingerprint, thumbnailName) };
  }

  return {
    descriptor: (image) =>
      openSlides.use(wanted(image), async ({ slide, descriptor }) => ({
        bytes: descriptorXml(descriptor),
        etag: etagOf(slide.fingerprint, 'descriptor'),
      })),

    tile: (image, address, signal) => openSlides.use(wanted(image), (open) => tileOf(open, address, signal)),

    tileAtHand: (image, address, knownTag, allocate) =>
      openSlides.useNow(wanted(image), (open) => tileAtHandOf(open, address, knownTag, allocate)),

    async thumbnail(image, signal) {
      try {
        return await thumbnailOf(image, signal);
      } catch (error) {
        if (error instanceof SlideError && error.code === 'FILE_CHANGED') return thumbnailOf(image, signal);
        throw error;
      }
    },

    async inspect(file, signal) {
      try {
        const location = await locationOf(file);
        const summary = await madeTiles.inspect(location, signal);
        // What lies in a store would have to be fetched for it, all of it, though perhaps nobody ever looks.
        if (!location.isObject) madeTiles.fill({ location, fingerprint: summary.fingerprint }, 'found');
        return { status: 'ready', summary };
      } catch (error) {
        if (signal.aborted) return { status: 'postponed' };
        if (!(error instanceof SlideError)) throw error;
        if (postponing.has(error.code) || isUnreachable(error)) return { status: 'postponed' };
        log.warn({ err: error, root: file.root, path: file.path }, 'a file could not be read as a slide');
        return { status: 'failed', error: sentenceOf(error) };
      }
    },

    async group(folder, names, signal) {
      try {
        return await madeTiles.group(folder, names, signal);
      } catch (error) {
        if (signal.aborted) return null;
        if (!(error instanceof SlideError)) throw error;
        if (postponing.has(error.code) || isUnreachable(error)) return null;
        // One of them ends whoever reads it. Each by itself, the others can be shown.
        log.warn({ err: error, folder }, 'it cannot be told which files are one slide');
        return [];
      }
    },

    async fingerprintOf(file) {
      try {
        return await fingerprintOf(await locationOf(file), objects);
      } catch (error) {
        if (error instanceof SlideError && error.code === 'FILE_MISSING') return null;
        throw error;
      }
    },

    forget: (imageId) => openSlides.forget(imageId),

    openCount: () => openSlides.count(),

    async close() {
      await openSlides.close();
      await madeTiles.close();
    },
  };
}

const etagOf = (fingerprint: string, name: string) => `"${fingerprint}-${name}"`;

/** What has nothing to do with the file as it is. */
const postponing: ReadonlySet<SlideErrorCode> = new Set(['FILE_MISSING', 'FILE_CHANGED']);

/** One sentence for administrators. */
function sentenceOf({ code, message }: SlideError): string {
  if (code === 'FORMAT_NOT_RECOGNISED') return 'This is not a slide in a format that can be read.';
  if (code === 'DECODE_FAILED') return 'Reading the file took too long or ended the process that read it.';
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
