/**
 * Decodes tiles and corrects their colours by the colour table of the slide in a worker, for the drawer without WebGL. With
 * WebGL, a shader corrects the colours while it draws, and tiles are decoded without a colour table.
 */
import type { ColourTable } from '../colours/colour-table.ts';
import type { CorrectedTile, CorrectingMessage } from './correcting-worker.ts';
import { decode, decodeCorrected } from './decode.ts';

/** The result of `canCorrectTiles`; null before its first call. */
let canCorrect: boolean | null = null;

/**
 * Returns whether this browser can correct tiles on a 2D canvas, which requires that reading a canvas returns unchanged pixels.
 * Browsers that protect against fingerprinting return noise or refuse to return pixels:
 * https://bugzilla.mozilla.org/show_bug.cgi?id=967895.
 */
export function canCorrectTiles(): boolean {
  canCorrect ??= readsCanvasExactly();
  return canCorrect;
}

/** Writes a pattern to a canvas and returns whether the browser returns the same pixels. */
function readsCanvasExactly(): boolean {
  try {
    const context = new OffscreenCanvas(16, 16).getContext('2d', { willReadFrequently: true });
    const pattern = new ImageData(16, 16);
    // An opaque pattern (every fourth byte is alpha). The factor 37 is arbitrary: it makes neighbouring samples differ.
    for (let index = 0; index < pattern.data.length; index += 1) {
      pattern.data[index] = index % 4 === 3 ? 255 : (index * 37) % 256;
    }
    context?.putImageData(pattern, 0, 0);
    const returnedData = context?.getImageData(0, 0, 16, 16).data;
    return pattern.data.every((sample, index) => returnedData?.[index] === sample);
  } catch {
    return false; // no OffscreenCanvas, or reading it is forbidden
  }
}

/**
 * Maximum number of tiles in the worker at a time: enough for the worker to decode one tile while it corrects another. Other
 * tiles wait in the page.
 */
const maxJobsInWorker = 3;

/** A tile to decode and correct. */
interface Job {
  readonly blob: Blob;
  readonly table: ColourTable;
  /** The promise that `decode` has returned, with the functions that settle it. */
  readonly deferred: PromiseWithResolvers<ImageBitmap>;
}

/** Decodes the tiles of one view. Tiles that need no correction are decoded in the page. */
export class CorrectingDecoder {
  readonly #createWorker: () => Worker;
  /** Null before the first tile with a table. */
  #worker: Worker | null = null;
  /** Whether the browser could not load the worker: the page then corrects the tiles in its main thread. */
  #isWorkerBroken = false;
  /** The table that was last sent to the worker. */
  #tableInWorker: ColourTable | null = null;
  /** The jobs that the worker has not finished, by the id of the message to the worker. */
  readonly #jobsInWorker = new Map<number, Job>();
  #waiting: Job[] = [];
  #lastId = 0;
  #isClosed = false;

  /** @param createWorker starts a worker with the code of correcting-worker.ts */
  constructor(createWorker = createCorrectingWorker) {
    this.#createWorker = createWorker;
  }

  /**
   * Decodes a tile.
   *
   * @param table corrects the colours; null leaves them as stored
   * @throws DOMException 'InvalidStateError' when the bytes are not an image; 'AbortError' after `destroy`
   */
  decode(blob: Blob, table: ColourTable | null): Promise<ImageBitmap> {
    if (table === null) return decode(blob);
    if (this.#isClosed) return Promise.reject(closedError());
    const deferred = Promise.withResolvers<ImageBitmap>();
    this.#waiting.push({ blob, table, deferred });
    this.#sendWaitingJobs();
    return deferred.promise;
  }

  /** Terminates the worker and rejects pending calls of `decode`. */
  destroy(): void {
    this.#isClosed = true;
    this.#worker?.terminate();
    this.#worker = null;
    for (const { deferred } of this.#removeAllJobs()) deferred.reject(closedError());
  }

  /** Sends waiting tiles until the worker has `maxJobsInWorker`. When the worker is broken, corrects all of them in the page. */
  #sendWaitingJobs(): void {
    while (this.#isWorkerBroken || this.#jobsInWorker.size < maxJobsInWorker) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      if (this.#isWorkerBroken) job.deferred.resolve(decodeCorrected(job.blob, job.table));
      else this.#send(job);
    }
  }

  #send(job: Job): void {
    this.#worker ??= this.#startWorker();
    this.#lastId += 1;
    this.#jobsInWorker.set(this.#lastId, job);
    if (this.#tableInWorker !== job.table) {
      this.#tableInWorker = job.table;
      this.#worker.postMessage({ table: job.table } satisfies CorrectingMessage);
    }
    this.#worker.postMessage({ id: this.#lastId, blob: job.blob } satisfies CorrectingMessage);
  }

  #startWorker(): Worker {
    const worker = this.#createWorker();
    worker.addEventListener('message', ({ data }: MessageEvent<CorrectedTile>) => this.#receive(data));
    // The browser could not load the file of the worker: the server has been updated or is unreachable.
    worker.addEventListener('error', () => this.#fallBackToPage());
    return worker;
  }

  #receive(result: CorrectedTile): void {
    const job = this.#jobsInWorker.get(result.id); // undefined if `#removeAllJobs` has removed it
    this.#jobsInWorker.delete(result.id);
    if ('bitmap' in result) {
      if (job === undefined) result.bitmap.close();
      else job.deferred.resolve(result.bitmap);
    } else job?.deferred.reject(new DOMException(result.message, result.name));
    this.#sendWaitingJobs();
  }

  #fallBackToPage(): void {
    this.#isWorkerBroken = true;
    this.#worker?.terminate();
    this.#worker = null;
    this.#waiting = this.#removeAllJobs();
    this.#sendWaitingJobs();
  }

  /** Removes all jobs, sent and waiting, and returns them. */
  #removeAllJobs(): Job[] {
    const jobs = [...this.#jobsInWorker.values(), ...this.#waiting];
    this.#jobsInWorker.clear();
    this.#waiting = [];
    return jobs;
  }
}

const closedError = () => new DOMException('The view was closed.', 'AbortError');

function createCorrectingWorker(): Worker {
  return new Worker(new URL('./correcting-worker.ts', import.meta.url), { type: 'module' });
}
