/** What a tile maker and its processes say to each other. */
import type { DeepZoomAddress } from '../deep-zoom.ts';
import type { SlideLocation } from '../slide.ts';
import type { StoredObject } from '../source/object-store.ts';
import type { FolderLocation } from '../source/slide-place.ts';
import type { MakerFailure } from './maker-failure.ts';

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
  readonly folder: FolderLocation;
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

/**
 * What a making process wants to know of an object. It has no way to the store by itself: what reads hostile files shall
 * not know the store's password.
 */
export type ObjectQuestion =
  | { readonly kind: 'head'; readonly key: string }
  | { readonly kind: 'list'; readonly prefix: string }
  | {
      readonly kind: 'read';
      readonly object: StoredObject;
      readonly offset: number;
      readonly length: number;
    };

/** From the process. */
export interface MakerQuestion {
  readonly questionId: number;
  readonly question: ObjectQuestion;
}

/** To the process, once for every question. */
export type QuestionReply =
  | { readonly questionId: number; readonly value: unknown }
  | { readonly questionId: number; readonly failure: MakerFailure };
