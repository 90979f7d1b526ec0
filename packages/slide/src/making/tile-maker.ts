import type { DeepZoomAddress } from '../deep-zoom.ts';
import { type Slide, SlideError, type SlideLocation } from '../slide.ts';

export interface TileMakerOptions {
  /** How many processes make tiles side by side. */
  readonly processes: number;
  /** How many jobs may wait for a process; one more is refused with BUSY. */
  readonly queueLimit: number;
  /** A job that runs longer is ended together with its process. */
  readonly timeoutMs: number;
}

/** What the catalogue keeps of a slide; nothing in it can name a patient. */
export interface SlideSummary
  extends Pick<Slide, 'format' | 'fingerprint' | 'vendor' | 'mpp' | 'objectivePower'> {
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /** Of the Deep Zoom descriptor. */
  readonly tileSize: number;
  /** How many resolutions the file stores. */
  readonly levels: number;
}

/** Decodes, and reads headers for the first time, in processes of lower priority that a bad slide may kill. */
export class TileMaker {
  constructor(_options: TileMakerOptions) {}

  /** @throws SlideError what opening the slide throws, and BUSY, DECODE_FAILED */
  async inspect(_location: SlideLocation, _signal?: AbortSignal): Promise<SlideSummary> {
    throw new SlideError('BUSY', 'No process runs yet');
  }

  /** @returns a complete JPEG, of the size that the descriptor promises for the address */
  async tile(
    _location: SlideLocation,
    _address: DeepZoomAddress,
    _signal?: AbortSignal,
  ): Promise<Uint8Array> {
    throw new SlideError('BUSY', 'No process runs yet');
  }

  /** @returns the whole slide as a JPEG, its longer side at most `maxSide` pixels; never label or macro */
  async thumbnail(_location: SlideLocation, _maxSide: number, _signal?: AbortSignal): Promise<Uint8Array> {
    throw new SlideError('BUSY', 'No process runs yet');
  }

  async close(): Promise<void> {}
}
