/** The slides behind the catalogue's images: their descriptors, tiles and thumbnails, as bytes to send. */
import type { DeepZoomAddress, SlideSummary } from '@lamina/slide';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { SlideFile } from './slide-roots.ts';

/** An image of the catalogue that may be shown, and the file it is read from. */
export interface ServableImage extends SlideFile {
  readonly id: string;
  readonly fileName: string;
}

export interface ServedBytes {
  readonly bytes: Uint8Array | string;
  /** Strong, quotes included. */
  readonly etag: string;
}

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
  tile(image: ServableImage, address: DeepZoomAddress, signal: AbortSignal): Promise<ServedBytes>;
  /** The whole slide, at most 256 pixels a side. @throws SlideError */
  thumbnail(image: ServableImage, signal: AbortSignal): Promise<ServedBytes>;
  /** Reads a file for the catalogue, in a process of its own. */
  inspect(file: SlideFile, signal: AbortSignal): Promise<Inspection>;
  /** Changes whenever the file does; null when it is not there. */
  fingerprintOf(file: SlideFile): Promise<string | null>;
  /** Closes an image that is not to be shown any more, at once. */
  forget(imageId: string): void;
  close(): Promise<void>;
}

export function createSlides(_ground: { readonly config: Config; readonly log: Logger }): Slides {
  throw new Error('not yet');
}
