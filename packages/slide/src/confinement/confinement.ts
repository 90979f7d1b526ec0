/** The permissions of a render process, as decided by the process that starts it. */

/** Passed to `start-confined.ts` as JSON on its command line. */
export interface Confinement {
  /**
   * Slides: files, and folders with everything below them. Null, which the server never passes: every file of
   * the machine is readable, those of `/proc` included.
   */
  readonly slides: readonly string[] | null;
  /** Folder of the compile cache; null: none. */
  readonly compiled: { readonly folder: string; readonly isWritable: boolean } | null;
  /** The only other writable folder; null: none. */
  readonly scratch: string | null;
  /**
   * Memory for data beyond what Node itself takes when it starts. The kernel refuses more, and the process
   * ends.
   */
  readonly memoryBytes: number;
  /** The program to execute, and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  /** The complete environment of the program. */
  readonly environment: Readonly<Record<string, string>>;
}
