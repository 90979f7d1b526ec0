/** The messages between the server process, which owns the render pool, and its render processes. */
import type { DeepZoomAddress } from '../deep-zoom/deep-zoom.ts';
import type { FolderLocation } from '../location/open-slide-files.ts';
import type { SlideLocation } from '../model/slide.ts';
import type { StoredObject } from '../object-storage/object-store.ts';
import type { TileColour } from '../render/render-tile.ts';
import type { View } from '../render/render-view.ts';
import type { WorkerFailure } from './worker-failure.ts';

/** A job of a render process. The kind `inspect` reads the metadata of a slide. */
export type RenderJob =
  | { readonly kind: 'inspect'; readonly location: SlideLocation }
  | {
      readonly kind: 'tile';
      readonly location: ExpectedSlide;
      readonly address: DeepZoomAddress;
      readonly colour?: TileColour;
    }
  /** Renders the whole slide; `maxSide` is the longest side in pixels. */
  | { readonly kind: 'thumbnail'; readonly location: ExpectedSlide; readonly maxSide: number }
  | { readonly kind: 'view'; readonly location: ExpectedSlide; readonly view: View }
  /** Reads the colour profile and converts it to a colour table. */
  | { readonly kind: 'colour'; readonly location: ExpectedSlide }
  /** Lists the tiles to prerender, that is, to render before a viewer requests them. */
  | { readonly kind: 'list'; readonly location: ExpectedSlide; readonly maxTiles: number }
  | GroupJob;

/** A slide and the fingerprint that it must have. If the fingerprint differs, the job fails with FILE_CHANGED. */
export interface ExpectedSlide extends SlideLocation {
  /** If absent, any version of the file is accepted. */
  readonly fingerprint?: string;
}

/** Groups the files of a folder into slides (`groupSlideFiles`). `names` are its files, `folders` its subfolders, by name. */
interface GroupJob {
  readonly kind: 'group';
  readonly folder: FolderLocation;
  readonly names: readonly string[];
  readonly folders: readonly string[];
}

/** A request to a render process. With `job` null, it cancels the running job that has this `id`. */
export interface RenderRequest {
  readonly id: number;
  readonly job: RenderJob | null;
}

/**
 * A reply to a job. The process replies to every job once, also to a cancelled one. `needsOwnProcess` means that a C
 * library must read the slide, so the job has to run in another process, which reads this slide only.
 */
export type RenderReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: WorkerFailure }
  | { readonly id: number; readonly needsOwnProcess: true };

/** All messages from a render process. `isReady` comes first: messages that are sent to the process earlier are lost. */
export type WorkerMessage = RenderReply | WorkerQuestion | { readonly isReady: true };

/**
 * A request of a render process for an object, which the server process answers. Render processes have no access to object
 * storage, because code that reads hostile files must not know the storage credentials.
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

/** The message with which a render process asks the server process for an object. */
export interface WorkerQuestion {
  readonly questionId: number;
  readonly question: ObjectQuestion;
}

/** The server's reply to a question of a render process, sent once for every question. */
export type QuestionReply =
  | { readonly questionId: number; readonly value: unknown }
  | { readonly questionId: number; readonly failure: WorkerFailure };
