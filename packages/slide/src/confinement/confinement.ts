/** The permissions of a render process. The server process decides them when it starts the render process. */

/** Permissions and program of a render process; passed to `start-confined.ts` as JSON on its command line. */
export interface Confinement {
  /**
   * Readable slides: files, and folders with everything below them. With null, which the server never passes, every file of
   * the machine is readable, including `/proc`.
   */
  readonly slides: readonly string[] | null;
  /** Folder of the V8 compile cache; null for no cache. */
  readonly compiled: { readonly folder: string; readonly isWritable: boolean } | null;
  /** Folder for temporary files, the only other writable folder; null for none. */
  readonly scratch: string | null;
  /** Maximum bytes of data in addition to the bytes that Node takes at its start. An allocation beyond it fails, which ends the process. */
  readonly memoryBytes: number;
  /** The program to execute, and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  /** The complete environment of the program. */
  readonly environment: Readonly<Record<string, string>>;
}
