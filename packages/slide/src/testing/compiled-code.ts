import os from 'node:os';
import { join } from 'node:path';

/** Compiled code of render processes, for all tests of this machine: a process that finds it starts in a third of the time. */
export const compiledCodeFolder = join(os.tmpdir(), 'lamina-compile-cache-render');
