/** What a tile maker and its processes say to each other. */
import type { DeepZoomAddress } from '../deep-zoom.ts';
import type { SlideErrorCode, SlideLocation } from '../slide.ts';

export type MakerJob =
  | { readonly kind: 'inspect'; readonly location: SlideLocation }
  | { readonly kind: 'tile'; readonly location: ExpectedSlide; readonly address: DeepZoomAddress }
  | { readonly kind: 'thumbnail'; readonly location: ExpectedSlide; readonly maxSide: number }
  | { readonly kind: 'list'; readonly location: ExpectedSlide; readonly most: number }
  | GroupJob;

/** A slide, and what its file must be: with another one there, the job is refused with FILE_CHANGED. */
export interface ExpectedSlide extends SlideLocation {
  /** Absent: whatever is there. */
  readonly fingerprint?: string;
}

/** What `groupSlideFiles` takes. */
interface GroupJob {
  readonly kind: 'group';
  readonly folder: string;
  readonly names: readonly string[];
  readonly folders: readonly string[];
}

/** `job` null: nobody waits any more for the one with this number. */
export interface MakerRequest {
  readonly id: number;
  readonly job: MakerJob | null;
}

/** Every job is answered once, also one that nobody waits for. */
export type MakerReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: MakerFailure };

/** A SlideError as it travels; `detail` is for the log and may name a path. */
export interface MakerFailure {
  readonly code: SlideErrorCode;
  readonly message: string;
  readonly detail: string;
}
