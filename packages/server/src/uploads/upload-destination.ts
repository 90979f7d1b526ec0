/** The interface of the places that store complete uploads: a folder or a bucket. */
import type { SlideRoot } from '../store/schema.ts';

export interface CompleteUpload {
  /** Path of the file or folder relative to the root, with forward slashes. */
  readonly place: string;
  readonly isFolder: boolean;
  /** The files of the upload; a single file is one entry. */
  readonly files: readonly {
    /** Absolute. */
    readonly part: string;
    /** Path relative to the folder, validated; of a single file its name. */
    readonly path: string;
    readonly sizeBytes: number;
  }[];
  /** Absolute path where the files of a folder may be assembled. */
  readonly assembly: string;
  /** Whether an earlier attempt may have placed all or some of the files. */
  readonly isAgain: boolean;
}

export interface UploadDestination {
  readonly root: SlideRoot;
  /** Returns whether the place exists, or a file has the path of one of its folders. */
  isTaken(place: string): Promise<boolean>;
  /** Moves the upload to its place. @returns false when the place is taken; its content and the received files then stay unchanged */
  place(upload: CompleteUpload): Promise<boolean>;
}
