/**
 * Deep Zoom descriptors, tiles, thumbnails and other contents of the catalogue's slides, as bytes to send. This process
 * reads native tiles (JPEG tiles stored in the file) itself; render workers, which are separate processes, supply
 * everything else (rendered-tiles.ts). The file is long because all calls share the open slides and the caches.
 */
import {
  type BufferAllocator,
  type ColourProfile,
  type DeepZoomAddress,
  type DeepZoomDescriptor,
  descriptorXml,
  type FolderLocation,
  findNativeLevels,
  fingerprintOf,
  isTemporaryError,
  type NativeLevel,
  nativeDziLevels,
  type ObjectReader,
  openServedSlide,
  type PlaceOnGlass,
  type Requester,
  readNativeDziTile,
  readNativeLevelTile,
  regionOfTile,
  renderedTileCoding,
  type Slide,
  SlideError,
  type SlideErrorCode,
  type SlideLocation,
  type SlideSummary,
  scaleOf,
  type TileColour,
  type View,
} from '@lamina/slide';
import type { Logger } from 'pino';
import { matchesEtag } from '../domain/if-none-match.ts';
import type { TileSource } from '../metrics/tile-metrics.ts';
import type { Config } from '../platform/config.ts';
import type { FolderGroups } from '../slide-storage/folder-tree.ts';
import { locate, type SlideFile } from '../slide-storage/slide-roots.ts';
import { createOpenSlides, type OpenRequest, type OpenSlide } from './open-slides.ts';
import { delayRejection } from './rejection-delay.ts';
import { type RenderSource, type TileClient, tileNameIn, viewName } from './render-source.ts';
import { type RenderedTiles, thumbnailName } from './rendered-tiles.ts';
import { createSlideOpenings } from './slide-openings.ts';

export type { SlideSummary };

/** An image of the catalogue that can be shown, and its files (`root`, `path` and `members` of SlideFile). */
export interface ServableImage extends SlideFile {
  readonly id: string;
  readonly fileName: string;
  /** Null: the image belongs to no dataset. */
  readonly dataset: string | null;
  /** Hidden images are visible to administrators only. */
  readonly isHidden: boolean;
  /** Fingerprint (a value that changes with the file) when the catalogue read the file; it may have changed since. */
  readonly fingerprint: string;
}

export interface ServedBytes {
  readonly bytes: Uint8Array | string;
  /** A strong ETag with its quotes (RFC 9110 section 8.8.3). */
  readonly etag: string;
}

/** How the slide is divided into tiles, for protocols other than Deep Zoom. */
export interface Tiling {
  readonly descriptor: DeepZoomDescriptor;
  /** Deep Zoom levels whose tiles the file stores, the largest first. */
  readonly nativeDziLevels: readonly number[];
  readonly mpp: Slide['mpp']; // micrometres per pixel at full resolution; null when unknown
  /** Corner of the scanned area in pixels of full resolution; null when the file does not state it. */
  readonly boundsOrigin: NonNullable<Slide['boundsOrigin']> | null;
  readonly fingerprint: string;
}

/** A slide as DICOMweb describes it: its native levels, whose tiles can be sent without decoding, and its properties. */
export interface DicomWebSlide {
  /** Levels that the file stores as tiles, largest first; empty when every tile of the slide is rendered. */
  readonly levels: readonly NativeLevel[];
  /** Derived from the objective power if the file does not state the MPP; null when neither is known. */
  readonly mpp: Slide['mpp'];
  readonly objectivePower: number | null;
  readonly vendor: string | null;
  /** Position and orientation of the scanned area on the glass; null when the file does not state it. */
  readonly placeOnGlass: PlaceOnGlass | null;
  readonly hasIccProfile: boolean;
  readonly fingerprint: string;
}

export interface CompressedBytes {
  /** Compressed with gzip. */
  readonly gzip: Uint8Array;
  /** A strong ETag with its quotes, of the bytes before compression (RFC 9110 section 8.8.3). */
  readonly etag: string;
}

/** A tile. `bytes` and `source` are null when the client has sent the ETag of this tile: it has the bytes in its cache. */
export type ServedTile =
  | { readonly etag: string; readonly bytes: Uint8Array; readonly source: TileSource }
  | { readonly etag: string; readonly bytes: null; readonly source: null };

export interface TileQuery {
  readonly address: DeepZoomAddress;
  /** Default: `scanned`, the colours of the file. Without a usable colour profile, `srgb` returns them too. */
  readonly colour?: TileColour | undefined;
  /** Value of the If-None-Match header: ETags of tiles in the client's cache. */
  readonly knownTag: string | undefined;
  /** Allocates the memory that a native or cached tile is read into. Default: new memory for each tile. */
  readonly allocate?: BufferAllocator | undefined;
}

export type Inspection =
  | { readonly status: 'ready'; readonly summary: SlideSummary }
  /** The file cannot be read, and a retry would fail too. `error` is one sentence for administrators, without paths. */
  | { readonly status: 'failed'; readonly error: string; readonly code: SlideErrorCode }
  /** The file is missing, has changed during the read, or its storage does not answer: the catalogue retries. */
  | { readonly status: 'postponed' };

/** Place of a tile in a native level, which the file stores as JPEG or JPEG 2000. */
export interface NativeLevelTilePlace {
  readonly level: NativeLevel;
  /** Position of the tile in its level, counted row by row from 0. */
  readonly index: number;
}

export interface NativeLevelTileQuery {
  /** Called when the slide is open; returns the tile to read. If it throws, `nativeLevelTile` rejects with the same error. */
  readonly choose: (slide: DicomWebSlide) => NativeLevelTilePlace;
  /** Allocates the memory that the tile is read into. */
  readonly allocate?: BufferAllocator | undefined;
}

export interface NativeLevelTile {
  readonly bytes: Uint8Array;
  /** The level of the tile. Its coding is that of `bytes`: a tile that the file lacks is rendered as JPEG, even in a JPEG 2000 level. */
  readonly level: NativeLevel;
  /** Fingerprint of the slide. */
  readonly fingerprint: string;
}

export interface Slides {
  /** Returns the descriptor as Deep Zoom XML. @throws SlideError */
  descriptor(image: ServableImage, requester: Requester): Promise<ServedBytes>;
  /** Returns the tiling of the slide, for protocols other than Deep Zoom. @throws SlideError */
  tiling(image: ServableImage, requester: Requester): Promise<Tiling>;
  /** Renders a rectangle of the slide at any size, in the colours of the file. @throws SlideError */
  view(image: ServableImage, view: View, client: TileClient): Promise<ServedBytes>;
  /** Returns the levels whose tiles can be sent without decoding, and the properties that DICOMweb describes. @throws SlideError */
  dicomWebSlide(image: ServableImage, requester: Requester): Promise<DicomWebSlide>;
  /** Reads a tile of a level that `dicomWebSlide` returned. @throws SlideError TILE_OUT_OF_RANGE, and as `tile` does */
  nativeLevelTile(
    image: ServableImage,
    query: NativeLevelTileQuery,
    client: TileClient,
  ): Promise<NativeLevelTile>;
  /** Reads the ICC profile; null if there is none. @throws SlideError */
  iccProfile(image: ServableImage, requester: Requester): Promise<ServedBytes | null>;
  /**
   * Returns the colour table: the sRGB colours at the nodes of a grid of scanned colours (see colour-table.ts).
   *
   * @returns null when the slide has no usable colour profile
   * @throws SlideError
   */
  colourTable(image: ServableImage, requester: Requester): Promise<CompressedBytes | null>;
  /**
   * Returns a native tile from the file, or a cached or newly rendered tile.
   *
   * @throws SlideError TILE_OUT_OF_RANGE, BUSY, DECODE_FAILED, and errors of opening the slide
   */
  tile(image: ServableImage, query: TileQuery, client: TileClient): Promise<ServedTile>;
  /** Returns the whole slide as a JPEG of at most 256 pixels a side. @throws SlideError */
  thumbnail(image: ServableImage, signal: AbortSignal, requester: Requester): Promise<ServedBytes>;
  /** Reads a file for the catalogue in a render worker. */
  inspect(file: SlideFile, signal: AbortSignal): Promise<Inspection>;
  /**
   * Groups the files of a folder into slides by their contents, in a render worker.
   *
   * @returns null when the groups cannot be determined now; `failed` when reading a file crashes the worker or takes too long
   */
  group(folder: FolderLocation, names: readonly string[], signal: AbortSignal): Promise<FolderGroups>;
  /** Returns the current fingerprint of the file; null when the file is missing. @throws SlideError when the storage does not answer */
  fingerprintOf(file: SlideFile): Promise<string | null>;
  /** Closes the slide of an image that must no longer be shown. */
  closeSlide(imageId: string): void;
  openCount(): number;
  close(): Promise<void>;
}

const openSlidesLimit = 200; // slides that this process keeps open at the same time

interface SlidesDependencies {
  readonly config: Config;
  readonly log: Logger;
  /** Closed by `Slides.close`. */
  readonly renderedTiles: RenderedTiles;
  /** Reads the slides of the bucket; null if there is no bucket. */
  readonly objects: ObjectReader | null;
}

export function createSlides({ config, log, renderedTiles, objects }: SlidesDependencies): Slides {
  const openSlides = createOpenSlides({ limit: openSlidesLimit, log, objects });

  /** Aborted when the server stops, so that it sends delayed rejections (rejection-delay.ts) at once. */
  const closing = new AbortController();
  /** Delays the error BUSY, at the latest until the client disconnects or the server closes. */
  const delayRejectionTo = <T>(work: Promise<T>, client: Pick<TileClient, 'signal'>) =>
    delayRejection(work, client, closing.signal);

  // `undefined`: no abort signal, because several requests share the read of the header.
  const openings = createSlideOpenings((location, requester) =>
    renderedTiles.inspect(location, undefined, requester),
  );

  async function locationOf({ root, path, members }: SlideFile): Promise<SlideLocation> {
    if (root === 'bucket') return { path, isObject: true, members };
    const absolutePath = await locate(config, { root, path });
    if (absolutePath === null) throw new SlideError('FILE_MISSING', 'The file is missing.');
    return { path: absolutePath, members };
  }

  /** Returns whether a file of the slide is missing now, or may be missing because its storage does not respond. */
  async function isMissing(file: SlideFile): Promise<boolean> {
    try {
      await fingerprintOf(await locationOf(file), objects);
      return false;
    } catch (error) {
      if (!(error instanceof SlideError)) throw error;
      return true;
    }
  }

  /** A request for the open slide of an image. A class, because creating closures for each tile would take longer. */
  class ImageOpening implements OpenRequest {
    readonly image: ServableImage;
    readonly requester: Requester;

    constructor(image: ServableImage, requester: Requester) {
      this.image = image;
      this.requester = requester;
    }

    get id(): string {
      return this.image.id;
    }

    locate(): Promise<SlideLocation> {
      return locationOf(this.image);
    }

    joinOpening(): () => void {
      return openings.join(this.id, this.requester);
    }

    async open(location: SlideLocation, fingerprint: string): Promise<Slide> {
      const inspectInWorker = () => openings.read(this.id, location);
      // A file that changed after the catalogue read it may be malformed, so a render worker reads it before this process does.
      if (fingerprint !== this.image.fingerprint) await inspectInWorker();
      // `inspectInWorker` supplies the metadata of a slide without native tiles, which this process does not open.
      const slide = await openServedSlide(location, inspectInWorker, objects);
      renderedTiles.queuePrerendering({ location, fingerprint: slide.fingerprint }, 'opened');
      return slide;
    }
  }

  /** Descriptions of colour profiles by slide; null for a slide without a profile. */
  const colourProfiles = new WeakMap<Slide, Promise<ColourProfile | null>>();
  /** Number of render workers that died or failed unexpectedly while they read the colour profile, by slide. */
  const failedProfileReads = new WeakMap<Slide, number>();

  function colourProfileOf({ slide, location }: OpenSlide, requester: Requester) {
    const cachedResult = colourProfiles.get(slide);
    if (cachedResult !== undefined) return cachedResult;
    const pendingResult = readColourProfile(slide, location, requester);
    colourProfiles.set(slide, pendingResult);
    pendingResult.catch(() => colourProfiles.delete(slide));
    return pendingResult;
  }

  async function readColourProfile(
    slide: Slide,
    location: SlideLocation,
    requester: Requester,
  ): Promise<ColourProfile | null> {
    if (isOpenedInThisProcess(slide) && (await hasNoProfile(slide))) return null; // without a render worker
    try {
      return await renderedTiles.colourProfile({ location, fingerprint: slide.fingerprint }, requester);
    } catch (error) {
      if (!(error instanceof SlideError && error.code === 'DECODE_FAILED')) throw error;
      // The render worker died or failed unexpectedly, so the slide is shown in the colours of the file. The next request reads the
      // profile again. The profile need not be the cause: a worker also dies when the machine is busy or has too little memory.
      const failedReads = (failedProfileReads.get(slide) ?? 0) + 1;
      failedProfileReads.set(slide, failedReads);
      if (failedReads < maxFailedProfileReads) colourProfiles.delete(slide);
      return unreadProfile;
    }
  }

  /** Returns whether the slide has a colour table, because its profile is usable. */
  async function hasColourTable(open: OpenSlide, requester: Requester): Promise<boolean> {
    return typeof (await colourProfileOf(open, requester))?.tableNodes === 'number';
  }

  async function tileOf(
    open: OpenSlide,
    { address, colour, knownTag, allocate }: TileQuery,
    client: TileClient,
  ): Promise<ServedTile> {
    const { slide, descriptor, location } = open;
    const { fingerprint } = slide;
    const isConverted = colour === 'srgb' && (await hasColourTable(open, client.requester));
    const etag = etagOf(fingerprint, tileNameIn(address, isConverted ? 'srgb' : 'scanned'));
    if (matchesEtag(etag, knownTag)) {
      regionOfTile(descriptor, address); // throws TILE_OUT_OF_RANGE, as reading the tile would
      return { etag, bytes: null, source: null };
    }
    // Reading from a local file takes too little time to be worth an abort signal. Reading an object is an HTTP request.
    const signal = location.isObject ? client.signal : undefined;
    const native = isConverted ? null : await readNativeDziTile(slide, address, signal, allocate);
    if (native !== null) return { etag, bytes: native, source: 'stored' };
    const source = { location, fingerprint };
    const options = { allocate, ...(isConverted && { colour }) };
    const rendered = await renderedTiles.tile(source, address, client, options);
    return { etag, bytes: rendered.bytes, source: rendered.wasCached ? 'kept' : 'made' }; // label values of the metrics
  }

  async function thumbnailOf(
    image: ServableImage,
    signal: AbortSignal,
    requester: Requester,
  ): Promise<ServedBytes> {
    // This process does not open the slide, because a list of slides requests hundreds of thumbnails.
    const location = await locationOf(image);
    const source: RenderSource = { location, fingerprint: await fingerprintOf(location, objects) };
    const bytes = await renderedTiles.thumbnail(source, signal, requester);
    return { bytes, etag: etagOf(source.fingerprint, thumbnailName) };
  }

  return {
    descriptor: (image, requester) =>
      openSlides.use(new ImageOpening(image, requester), async (open) => {
        const profile = await colourProfileOf(open, requester);
        const name = profile === unreadProfile ? unreadDescriptorName : descriptorName;
        return { bytes: descriptorXml(open.descriptor, profile), etag: etagOf(open.slide.fingerprint, name) };
      }),

    tiling: (image, requester) =>
      openSlides.use(new ImageOpening(image, requester), async ({ slide, descriptor }) => {
        const { mpp, boundsOrigin = null, fingerprint } = slide;
        return { descriptor, nativeDziLevels: nativeDziLevels(slide), mpp, boundsOrigin, fingerprint };
      }),

    view: (image, view, client) =>
      delayRejectionTo(
        openSlides.use(new ImageOpening(image, client.requester), async ({ slide, location }) => {
          const { fingerprint } = slide;
          const bytes = await renderedTiles.view({ location, fingerprint }, view, client);
          return { bytes, etag: etagOf(fingerprint, viewName(view)) };
        }),
        client,
      ),

    dicomWebSlide: (image, requester) =>
      openSlides.use(new ImageOpening(image, requester), async ({ slide }) => dicomWebSlideOf(slide)),

    nativeLevelTile: (image, { choose, allocate }, client) =>
      openSlides.use(new ImageOpening(image, client.requester), async ({ slide, location }) => {
        const dicomWebSlide = dicomWebSlideOf(slide);
        const { level, index } = choose(
          dicomWebSlide instanceof Promise ? await dicomWebSlide : dicomWebSlide,
        );
        const { fingerprint } = slide;
        const signal = location.isObject ? client.signal : undefined;
        // `readNativeLevelTile` returns null for a tile that the level lacks. A render worker computes it from a larger level.
        const tile = await readNativeLevelTile(slide, level, index, signal, allocate);
        if (tile !== null) return { ...tile, fingerprint };
        const bytes = await delayRejectionTo(
          renderedTiles.view({ location, fingerprint }, viewOfTile(level, index), client),
          client,
        );
        return { bytes, level: { ...level, ...renderedTileCoding }, fingerprint }; // a view is a baseline JPEG
      }),

    iccProfile: (image, requester) =>
      openSlides.use(new ImageOpening(image, requester), async ({ slide }) => {
        const bytes = await slide.readIccProfile();
        return bytes && { bytes, etag: etagOf(slide.fingerprint, 'icc-profile') };
      }),

    colourTable: (image, requester) =>
      openSlides.use(new ImageOpening(image, requester), async (open) => {
        if (!(await hasColourTable(open, requester))) return null;
        const { location, slide } = open;
        const gzip = await renderedTiles.colourTable({ location, fingerprint: slide.fingerprint }, requester);
        return gzip && { gzip, etag: etagOf(slide.fingerprint, 'colour-table') };
      }),

    tile: (image, query, client) =>
      delayRejectionTo(
        openSlides.use(new ImageOpening(image, client.requester), (open) => tileOf(open, query, client)),
        client,
      ),

    thumbnail: (image, signal, requester) =>
      delayRejectionTo(
        thumbnailOf(image, signal, requester).catch((error: unknown) => {
          // Retries once with the new fingerprint when the file was replaced after its fingerprint was read.
          if (!(error instanceof SlideError && error.code === 'FILE_CHANGED')) throw error;
          return thumbnailOf(image, signal, requester);
        }),
        { signal },
      ),

    async inspect(file, signal) {
      try {
        const location = await locationOf(file);
        const summary = await renderedTiles.inspect(location, signal);
        // Prerendering a slide of the bucket downloads most of it, so it starts only when the first viewer opens the slide.
        if (!location.isObject)
          renderedTiles.queuePrerendering({ location, fingerprint: summary.fingerprint }, 'found');
        return { status: 'ready', summary };
      } catch (error) {
        if (signal.aborted) return { status: 'postponed' };
        if (!(error instanceof SlideError)) throw error;
        const { code } = error;
        // FILE_MISSING is permanent if all known files exist: then the slide needs a file that no scan finds, or access is denied.
        const isTransient = code === 'FILE_MISSING' ? await isMissing(file) : transientErrorCodes.has(code);
        if (isTransient || isTemporaryError(error)) return { status: 'postponed' };
        log.warn(
          { err: error, slideRoot: file.root, slidePath: file.path },
          'slide file unreadable; its image is marked as failed until the file is replaced (slidePath is relative to slideRoot)',
        );
        return { status: 'failed', error: sentenceOf(error), code };
      }
    },

    async group(folder, names, signal) {
      try {
        return await renderedTiles.group(folder, names, signal);
      } catch (error) {
        if (signal.aborted) return null;
        if (!(error instanceof SlideError)) throw error;
        if (transientErrorCodes.has(error.code) || isTemporaryError(error)) return null;
        log.warn(
          { err: error, folder: folder.path, fileCount: names.length },
          'slide files of a folder could not be grouped into slides; the next scan tries again, and after three failed scans each file is treated as a slide of its own',
        );
        return 'failed';
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

    closeSlide: (imageId) => openSlides.closeSlide(imageId),

    openCount: () => openSlides.count(),

    async close() {
      closing.abort();
      await openSlides.close();
      await renderedTiles.close();
    },
  };
}

/**
 * Returns the view that shows a tile of a level. Its rectangle (`x`, `y`, `width`, `height`) is in pixels at full resolution, and its
 * output size (`toWidth`, `toHeight`) is in pixels of the level. Tiles at the right and bottom edge are padded to the full size, as all
 * frames of a DICOM level are (PS3.3 C.7.6.3, Rows and Columns).
 */
function viewOfTile(
  { columns, tileWidth, tileHeight, downsample, width: levelWidth, height: levelHeight }: NativeLevel,
  index: number,
): View {
  const left = (index % columns) * tileWidth;
  const top = Math.floor(index / columns) * tileHeight;
  const toWidth = Math.min(tileWidth, levelWidth - left);
  const toHeight = Math.min(tileHeight, levelHeight - top);
  return {
    x: Math.floor(left * downsample),
    y: Math.floor(top * downsample),
    width: Math.round(toWidth * downsample),
    height: Math.round(toHeight * downsample),
    toWidth,
    toHeight,
    rotation: 0,
    isMirrored: false,
    isGrey: false,
    format: 'jpg',
    padTo: [tileWidth, tileHeight],
  };
}

/** Results of `readDicomWebSlide` by slide; promises while the slide is being read. */
const dicomWebSlides = new WeakMap<Slide, DicomWebSlide | Promise<DicomWebSlide>>();

function dicomWebSlideOf(slide: Slide): DicomWebSlide | Promise<DicomWebSlide> {
  const cachedResult = dicomWebSlides.get(slide);
  if (cachedResult !== undefined) return cachedResult;
  const pendingResult = readDicomWebSlide(slide);
  dicomWebSlides.set(slide, pendingResult);
  pendingResult.then(
    (dicomWebSlide) => dicomWebSlides.set(slide, dicomWebSlide),
    () => dicomWebSlides.delete(slide),
  );
  return pendingResult;
}

async function readDicomWebSlide(slide: Slide): Promise<DicomWebSlide> {
  const { mpp, objectivePower } = scaleOf(slide);
  const { vendor, fingerprint, placeOnGlass = null } = slide;
  const levels = await findNativeLevels(slide);
  const profile = await slide.readIccProfile().catch(() => null); // an unreadable profile counts as none
  const hasIccProfile = profile !== null;
  return { levels, mpp, objectivePower, vendor, fingerprint, placeOnGlass, hasIccProfile };
}

/** Part of the descriptor's ETag. Increase the number when the form of the XML changes, so that browsers do not use cached XML. */
const descriptorName = 'descriptor-2';
/** As `descriptorName`, for a descriptor with `unreadProfile`: a later descriptor of the same slide may contain its profile. */
const unreadDescriptorName = `${descriptorName}-unread`;

/** Stands for a profile that could not be read because the render worker died or failed unexpectedly. */
const unreadProfile: ColourProfile = { name: null, bytes: null, tableNodes: null, ignored: 'broken' };
/** Number of failed reads after which the profile of an open slide counts as broken and is not read again. */
const maxFailedProfileReads = 3;

/** Returns whether this process reads the file itself. If not, `slide` has no native level and is a summary from a render worker. */
const isOpenedInThisProcess = ({ levels }: Slide) => levels.some(({ needsRendering }) => !needsRendering);

/** Returns whether the slide has no profile; false when the profile is unreadable: a render worker then reports the reason. */
async function hasNoProfile(slide: Slide): Promise<boolean> {
  try {
    return (await slide.readIccProfile()) === null;
  } catch {
    return false;
  }
}

const etagOf = (fingerprint: string, name: string) => `"${fingerprint}-${name}"`;

/** Error codes after which the file is read again later, because they do not mean that its contents are malformed. */
const transientErrorCodes: ReadonlySet<SlideErrorCode> = new Set(['FILE_MISSING', 'FILE_CHANGED']);

/** Returns the description of the error for administrators, as one sentence. */
function sentenceOf({ code, message }: SlideError): string {
  if (code === 'FORMAT_NOT_RECOGNISED') return 'This is not a slide in a format that can be read.';
  if (code === 'DECODE_FAILED') return 'Reading the file took too long or ended the process that read it.';
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
