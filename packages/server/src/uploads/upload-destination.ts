/** Where uploads go when all of them is there. */
import type { SlideRoot } from '../store/schema.ts';

export interface WholeUpload {
  /** Below the root, with forward slashes: of the file or of the folder. */
  readonly place: string;
  readonly isFolder: boolean;
  /** Of a single file one. */
  readonly files: readonly {
    /** Absolute. */
    readonly part: string;
    /** Below the folder, checked; of a single file its name. */
    readonly path: string;
    readonly sizeBytes: number;
  }[];
  /** Absolute: where the files of a folder may be put together. */
  readonly assembly: string;
  /** It has been tried before, and may be there in part, or whole. */
  readonly isAgain: boolean;
}

export interface UploadDestination {
  readonly root: SlideRoot;
  /** Whether something lies at this place, or where a folder on the way to it would have to be. */
  isTaken(place: string): Promise<boolean>;
  /** @returns false when something else lies there: it is left as it is, and so is what has come */
  place(whole: WholeUpload): Promise<boolean>;
}
