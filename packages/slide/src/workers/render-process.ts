/**
 * The program of a render process: decodes pixels, and reads the headers of new files. A malicious file may crash a
 * decoder, which then ends only this process. start-render-process.ts starts the process; after a crash, render-pool.ts
 * starts another one.
 */
import { rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import os from 'node:os';
import { readSlideColour } from '../colour/slide-colour.ts';
import { tilesToPrerender } from '../deep-zoom/deep-zoom.ts';
import { groupSlideFiles } from '../open-slide.ts';
import { NeedsOwnProcess, setLibraryAccess } from '../openslide/access.ts';
import { renderThumbnail } from '../render/render-thumbnail.ts';
import { renderTile } from '../render/render-tile.ts';
import { renderView } from '../render/render-view.ts';
import { summariseSlide } from '../render/slide-summary.ts';
import type { QuestionReply, RenderJob, RenderReply, RenderRequest, WorkerMessage } from './messages.ts';
import { createObjectClient } from './object-client.ts';
import { OpenSlideCache } from './open-slide-cache.ts';
import { failureOf } from './worker-failure.ts';

// The server process, which answers requests that need no rendering, has a higher priority.
os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);

// The arguments that `confinementOf` (start-render-process.ts) passes.
const [, , temporaryFolder, kind] = process.argv;
// A process of the kind `own` serves a single slide and may load the C library OpenSlide, which gets links to the files of
// the slide in the temporary folder. In a shared process, opening a slide that needs OpenSlide throws NeedsOwnProcess.
setLibraryAccess(
  kind === 'own' ? { kind: 'own-process', folder: temporaryFolder ?? '' } : { kind: 'shared-process' },
);
// Sends no handle (`undefined`) and sets no options. The callback ignores errors: they mean that the server process has
// ended, and the event `disconnect` then ends this process.
const send = (message: WorkerMessage) => process.send?.(message, undefined, {}, () => {});
const objects = createObjectClient(send); // reads objects in object storage by asking the server process
const slides = new OpenSlideCache(objects);
const decodeFailure = { code: 'DECODE_FAILED', message: 'The slide could not be decoded' } as const;
/** The controllers that cancel running jobs, by `RenderRequest.id`. */
const runningJobs = new Map<number, AbortController>();

function runJob(job: RenderJob, signal: AbortSignal): Promise<unknown> {
  if (job.kind === 'group') return groupSlideFiles(job.folder, job.names, job.folders, objects);
  return slides.use(job.location, async (slide) => {
    switch (job.kind) {
      case 'inspect':
        return summariseSlide(slide);
      case 'tile':
        return renderTile(slide, job.address, signal, job.colour);
      case 'thumbnail':
        return renderThumbnail(slide, job.maxSide, signal);
      case 'view':
        return renderView(slide, job.view, signal);
      case 'colour':
        return readSlideColour(slide);
      case 'list':
        return tilesToPrerender(slide, job.maxTiles);
    }
  });
}

async function replyTo(id: number, job: RenderJob): Promise<RenderReply> {
  const controller = new AbortController();
  runningJobs.set(id, controller);
  try {
    return { id, value: await runJob(job, controller.signal) };
  } catch (error) {
    if (error instanceof NeedsOwnProcess) return { id, needsOwnProcess: true };
    return { id, failure: failureOf(error, decodeFailure) };
  } finally {
    runningJobs.delete(id);
  }
}

process.on('message', (message: RenderRequest | QuestionReply) => {
  if ('questionId' in message) {
    objects.handleReply(message);
    return;
  }
  const { id, job } = message;
  if (job === null) runningJobs.get(id)?.abort();
  else void replyTo(id, job).then(send);
});
send({ isReady: true });

// Writes the compile cache now, because a process that is killed later cannot. With the cache, the next process starts in
// half the time and uses 20 MB less.
flushCompileCache();

// Ctrl-C in a terminal sends signals to child processes too. This process ignores them, because the server ends it.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => {
  // The server process has ended, so this process removes its temporary files itself.
  if (temporaryFolder) rmSync(temporaryFolder, { recursive: true, force: true });
  process.exit();
});
