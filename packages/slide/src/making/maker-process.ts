/**
 * The program of one making process: decodes, and reads headers that nobody has checked yet. Whatever a file does to
 * it, the server goes on: it is watched, ended and replaced by tile-maker.ts.
 */
import { rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import os from 'node:os';
import { firstTilesToMake } from '../deep-zoom.ts';
import { groupSlideFiles } from '../open-slide.ts';
import { askForObjects } from './ask-for-objects.ts';
import { KeptSlides } from './kept-slides.ts';
import { makeThumbnail } from './make-thumbnail.ts';
import { makeTile } from './make-tile.ts';
import { failureOf } from './maker-failure.ts';
import type { MakerJob, MakerReply, MakerRequest, QuestionReply } from './maker-message.ts';
import { summariseSlide } from './slide-summary.ts';

// Requests that need no making go first.
os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);

const [, , temporaryFolder] = process.argv;
// Whoever is asked may have been killed meanwhile: this process then ends, too.
const objects = askForObjects((question) => process.send?.(question, undefined, {}, () => {}));
const slides = new KeptSlides(objects);
const undecodable = { code: 'DECODE_FAILED', message: 'The slide could not be decoded' } as const;
const running = new Map<number, AbortController>();

function perform(job: MakerJob, signal: AbortSignal): Promise<unknown> {
  if (job.kind === 'group') return groupSlideFiles(job.folder, job.names, job.folders, objects);
  return slides.use(job.location, async (slide) => {
    switch (job.kind) {
      case 'inspect':
        return summariseSlide(slide);
      case 'tile':
        return makeTile(slide, job.address, signal);
      case 'thumbnail':
        return makeThumbnail(slide, job.maxSide, signal);
      case 'list':
        return firstTilesToMake(slide, job.most);
    }
  });
}

async function answer(id: number, job: MakerJob): Promise<MakerReply> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    return { id, value: await perform(job, controller.signal) };
  } catch (error) {
    return { id, failure: failureOf(error, undecodable) };
  } finally {
    running.delete(id);
  }
}

process.on('message', (message: MakerRequest | QuestionReply) => {
  if ('questionId' in message) {
    objects.hear(message);
    return;
  }
  const { id, job } = message;
  if (job === null) running.get(id)?.abort();
  // Whoever asked may have been killed meanwhile: nobody waits for the answer then.
  else void answer(id, job).then((reply) => process.send?.(reply, undefined, {}, () => {}));
});

// A process that is ended has no time for it: the next one starts in half the time, and with 20 MB less.
flushCompileCache();

// Whoever started this process ends it; a Ctrl-C meant for the server reaches its children too.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => {
  // Without whoever started this process nobody else removes what it has written.
  if (temporaryFolder) rmSync(temporaryFolder, { recursive: true, force: true });
  process.exit();
});
