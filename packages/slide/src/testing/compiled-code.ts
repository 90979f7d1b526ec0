import os from 'node:os';
import { join } from 'node:path';

/**
 * Folder in which render processes of tests cache their compiled code. All tests on this machine share it, because a
 * process that finds its compiled code starts faster.
 */
export const compiledCodeFolder = join(os.tmpdir(), 'lamina-compile-cache-render');
