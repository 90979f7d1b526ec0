/** Tells when something in the slide folders has changed, once things have become quiet again. */
import { watch } from 'chokidar';
import type { Logger } from 'pino';
import { isHidden } from '../domain/slide-names.ts';

export interface Watch {
  close(): Promise<void>;
}

interface Plan {
  readonly folders: readonly string[];
  readonly onChange: () => void;
  readonly log: Logger;
}

/** A slide that is being copied changes all the time; it is looked at when the copying pauses. */
const quietMs = 500;
/** … or has gone on for so long. */
const patienceMs = 5000;

export function watchFolders({ folders, onChange, log }: Plan): Watch {
  let timer: NodeJS.Timeout | null = null;
  let waitingSince = 0;

  function soon(): void {
    const now = performance.now();
    if (timer === null) waitingSince = now;
    else if (now - waitingSince > patienceMs - quietMs) return;
    else clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      onChange();
    }, quietMs);
  }

  const watcher = watch([...folders], {
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (file) => !folders.includes(file) && isHidden(file.split(/[\\/]/).at(-1) ?? ''),
  });
  watcher.on('all', soon);
  // Too many folders to watch, or a file system that cannot be: the timed scan goes on.
  watcher.on('error', (error) => log.warn({ err: error }, 'the slide folders cannot be watched fully'));

  return {
    async close() {
      if (timer !== null) clearTimeout(timer);
      await watcher.close();
    },
  };
}
