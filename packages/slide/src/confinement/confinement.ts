/** The permissions of a render process. The server process decides them when it starts the render process. */

/** Passed to `start-confined.ts` as JSON on its command line. */
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
  /** Memory for data in addition to what Node takes at its start. Allocations above the sum fail, which ends the process. */
  readonly memoryBytes: number;
  /** The program to execute, and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  /** The complete environment of the program. */
  readonly environment: Readonly<Record<string, string>>;
}
