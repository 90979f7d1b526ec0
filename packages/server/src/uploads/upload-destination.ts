/** The interface of the destinations of complete uploads: the folder of uploaded slides, or a bucket. */
import type { SlideRoot } from '../store/schema.ts';

export interface CompleteUpload {
  /** Target path of the file or folder relative to the slide root, with forward slashes. */
  readonly targetPath: string;
  readonly isFolder: boolean;
  /** The files of the upload; a single file is one entry. */
  readonly files: readonly {
    /** Absolute path of the received file. */
    readonly receivedFile: string;
    /** Validated path relative to the folder; for a single file, its name. */
    readonly path: string;
    readonly sizeBytes: number;
  }[];
  /** Absolute path of a temporary folder in which the destination may assemble the files of an uploaded folder. */
  readonly assemblyFolder: string;
  /** Whether an earlier attempt may have stored all or some of the files. */
  readonly isRetry: boolean;
}

export interface UploadDestination {
  /** Storage location of the uploaded slides: `uploads` (a folder) or `bucket`. */
  readonly root: SlideRoot;
  /** Returns whether a target path is taken: it exists, or one of its parents is a file. */
  isTaken(targetPath: string): Promise<boolean>;
  /** Moves the upload to its target path. @returns false, without changing the slide storage, when the path is taken */
  store(upload: CompleteUpload): Promise<boolean>;
}
