/**
 * Decodes tiles and corrects their colours in a thread of its own, for the drawer without WebGL: a shader that corrects them
 * while they are drawn exists only with WebGL.
 */
import type { ColourTable } from '../colours/colour-table.ts';
import type { CorrectedTile, CorrectingOrder } from './correcting-worker.ts';
import { decode, decodeCorrected } from './decode.ts';

let canCorrect: boolean | null = null;

/**
 * Whether this browser returns the pixels of a canvas as they are. Browsers that protect against fingerprinting return noise, or
 * refuse: https://bugzilla.mozilla.org/show_bug.cgi?id=967895.
 */
export function canCorrectTiles(): boolean {
  canCorrect ??= readsCanvasExactly();
  return canCorrect;
}

function readsCanvasExactly(): boolean {
  try {
    const context = new OffscreenCanvas(16, 16).getContext('2d', { willReadFrequently: true });
    const written = new ImageData(16, 16);
    for (let place = 0; place < written.data.length; place += 1) {
      written.data[place] = place % 4 === 3 ? 255 : (place * 37) % 256;
    }
    context?.putImageData(written, 0, 0);
    const read = context?.getImageData(0, 0, 16, 16).data;
    return written.data.every((sample, place) => read?.[place] === sample);
  } catch {
    return false; // no OffscreenCanvas, or reading it is forbidden
  }
}

/** Tiles that the thread has at a time: it decodes one while it corrects another. The others wait here. */
const mostInThread = 3;

interface Job {
  readonly blob: Blob;
  readonly table: ColourTable;
  readonly settle: PromiseWithResolvers<ImageBitmap>;
}

export class CorrectingDecoder {
  readonly #startThread: () => Worker;
  /** Null before the first tile with a table. */
  #thread: Worker | null = null;
  /** The thread did not start: the page corrects the tiles itself. */
  #isThreadBroken = false;
  /** The table that the thread has. */
  #tableInThread: ColourTable | null = null;
  readonly #inThread = new Map<number, Job>();
  #waiting: Job[] = [];
  #lastId = 0;
  #isClosed = false;

  /** @param startThread of correcting-worker.ts */
  constructor(startThread = startCorrectingThread) {
    this.#startThread = startThread;
  }

  /**
   * @param table null: as stored
   * @throws DOMException 'InvalidStateError' when the bytes are no image; 'AbortError' after `destroy`
   */
  decode(blob: Blob, table: ColourTable | null): Promise<ImageBitmap> {
    if (table === null) return decode(blob);
    if (this.#isClosed) return Promise.reject(closedError());
    const settle = Promise.withResolvers<ImageBitmap>();
    this.#waiting.push({ blob, table, settle });
    this.#sendNext();
    return settle.promise;
  }

  /** Ends the thread. Tiles that it has not returned are rejected. */
  destroy(): void {
    this.#isClosed = true;
    this.#thread?.terminate();
    this.#thread = null;
    for (const { settle } of this.#takeAll()) settle.reject(closedError());
  }

  #sendNext(): void {
    while (this.#isThreadBroken || this.#inThread.size < mostInThread) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      if (this.#isThreadBroken) job.settle.resolve(decodeCorrected(job.blob, job.table));
      else this.#send(job);
    }
  }

  #send(job: Job): void {
    this.#thread ??= this.#start();
    this.#lastId += 1;
    this.#inThread.set(this.#lastId, job);
    if (this.#tableInThread !== job.table) {
      this.#tableInThread = job.table;
      this.#thread.postMessage({ table: job.table } satisfies CorrectingOrder);
    }
    this.#thread.postMessage({ id: this.#lastId, blob: job.blob } satisfies CorrectingOrder);
  }

  #start(): Worker {
    const thread = this.#startThread();
    thread.addEventListener('message', ({ data }: MessageEvent<CorrectedTile>) => this.#receive(data));
    // Its file could not be loaded: the server was updated, or is not reachable.
    thread.addEventListener('error', () => this.#doWithout());
    return thread;
  }

  #receive(answer: CorrectedTile): void {
    const job = this.#inThread.get(answer.id);
    this.#inThread.delete(answer.id);
    if ('bitmap' in answer) {
      if (job === undefined) answer.bitmap.close();
      else job.settle.resolve(answer.bitmap);
    } else job?.settle.reject(new DOMException(answer.message, answer.name));
    this.#sendNext();
  }

  #doWithout(): void {
    this.#isThreadBroken = true;
    this.#thread?.terminate();
    this.#thread = null;
    this.#waiting = this.#takeAll();
    this.#sendNext();
  }

  #takeAll(): Job[] {
    const jobs = [...this.#inThread.values(), ...this.#waiting];
    this.#inThread.clear();
    this.#waiting = [];
    return jobs;
  }
}

const closedError = () => new DOMException('The view was closed.', 'AbortError');

function startCorrectingThread(): Worker {
  return new Worker(new URL('./correcting-worker.ts', import.meta.url), { type: 'module' });
}
