import { describe, expect, it } from 'vitest';
import { FairQueue } from './fair-queue.ts';

/** Starts jobs in the order of the queue until no job may start. @returns the started jobs in this order */
function startAll<T>(queue: FairQueue<T>, mayStart?: (job: T) => boolean): T[] {
  const started: T[] = [];
  for (let ticket = queue.next(mayStart); ticket !== null; ticket = queue.next(mayStart)) {
    queue.start(ticket);
    started.push(ticket.job);
  }
  return started;
}

/** Returns a queue with these jobs. The letters of a job are its keys: `ax1` is the first job of account a, session x. */
function queueOf(jobs: readonly string[], pathOf: (job: string) => string[]): FairQueue<string> {
  const queue = new FairQueue<string>({ total: 100 });
  for (const job of jobs) queue.add(job, pathOf(job));
  return queue;
}

describe('the order of jobs in FairQueue (keys such as accounts take turns)', () => {
  it('is the order of arrival for the jobs of one key', () => {
    expect(startAll(queueOf(['a1', 'a2', 'a3'], () => ['a']))).toEqual(['a1', 'a2', 'a3']);
  });

  it('gives each key one job in turn, however many jobs another key has', () => {
    const queue = queueOf(['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2'], ([key = '']) => [key]);
    expect(startAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4']);
  });

  it('starts the job of a new key after one job of each key that was already waiting', () => {
    const queue = queueOf(['a1', 'a2', 'a3', 'b1', 'b2'], ([key = '']) => [key]);
    const first = queue.next();
    if (first !== null) queue.start(first);
    queue.add('c1', ['c']);
    expect([first?.job, ...startAll(queue)]).toEqual(['a1', 'b1', 'a2', 'c1', 'b2', 'a3']);
  });

  it('lets second-level keys, such as the sessions of an account, take turns within their first-level key', () => {
    const queue = queueOf(['ax1', 'ax2', 'ax3', 'ay1', 'bx1', 'bx2'], ([one = '', two = '']) => [one, two]);
    expect(startAll(queue)).toEqual(['ax1', 'bx1', 'ay1', 'bx2', 'ax2', 'ax3']);
  });

  it('is by priority number, the lowest first, for jobs with the same keys', () => {
    const queue = new FairQueue<string>({ total: 100 });
    queue.add('later', ['a'], 1);
    queue.add('first', ['a'], 0);
    queue.add('second', ['a'], 0);
    queue.add('other key, low priority', ['b'], 1);
    expect(startAll(queue)).toEqual(['first', 'other key, low priority', 'second', 'later']);
  });

  it('starts a job that was skipped because it could not start, once it can, before later jobs of other keys', () => {
    const queue = queueOf(['a-slow', 'b1', 'b2'], ([key = '']) => [key]);
    expect(startAll(queue, (job) => job !== 'a-slow')).toEqual(['b1', 'b2']);
    queue.add('b3', ['b']);
    expect(startAll(queue)).toEqual(['a-slow', 'b3']);
  });

  it('gives the turn of a removed job to the next job of the same key', () => {
    const queue = queueOf(['a1', 'a2', 'b1'], ([key = '']) => [key]);
    const first = queue.next();
    expect(first && queue.remove(first)).toBe(true);
    expect(first && queue.remove(first)).toBe(false);
    expect(startAll(queue)).toEqual(['a2', 'b1']);
  });
});

describe('FairQueue at its limits (keys such as accounts take turns)', () => {
  it('rejects a new job when the queue is full of jobs of the same key', () => {
    const queue = new FairQueue<string>({ total: 2 });
    expect([queue.add('a1', ['a']), queue.add('a2', ['a'])]).not.toContain(null);
    expect(queue.add('a3', ['a'])).toBeNull();
    expect(queue.size).toBe(2);
  });

  it('rejects a job of a key that has reached the limit per key, and accepts jobs of other keys', () => {
    const queue = new FairQueue<string>({ total: 100, perKey: [3, 2] });
    expect(queue.add('1', ['a', 'x'])).not.toBeNull();
    expect(queue.add('2', ['a', 'x'])).not.toBeNull();
    expect(queue.add('3', ['a', 'x'])).toBeNull();
    expect(queue.add('4', ['a', 'y'])).not.toBeNull();
    expect(queue.add('5', ['a', 'z'])).toBeNull();
    expect(queue.add('6', ['b', 'x'])).not.toBeNull();
  });

  it('displaces, when full, the newest job of the busiest key for a job of a key that has at least two jobs fewer', () => {
    const queue = new FairQueue<string>({ total: 4 });
    for (const job of ['1', '2', '3']) queue.add(job, ['a', 'x']);
    queue.add('4', ['b', 'x']);
    expect(queue.add('5', ['c', 'x'])?.displaced?.job).toBe('3');
    expect(queue.add('6', ['c', 'y'])).toBeNull();
    expect(startAll(queue)).toEqual(['1', '4', '5', '2']);
  });

  it('displaces, when full, the newest job of the busiest account for a job of another account in the same network', () => {
    const queue = new FairQueue<string>({ total: 4 });
    for (const job of ['1', '2', '3', '4']) queue.add(job, ['network', 'flooding account']);
    expect(queue.add('5', ['network', 'other account'])?.displaced?.job).toBe('4');
  });

  it('displaces, when full, a job of low priority rather than a newer job of high priority', () => {
    const queue = new FairQueue<string>({ total: 3 });
    queue.add('urgent', ['a'], 0);
    queue.add('not urgent', ['a'], 1);
    queue.add('urgent too', ['a'], 0);
    expect(queue.add('other', ['b'])?.displaced?.job).toBe('not urgent');
  });

  it('accepts a new job after a waiting job of the full queue was started, removed or cleared', () => {
    const queue = new FairQueue<string>({ total: 1, perKey: [1] });
    const first = queue.add('1', ['a'])?.ticket;
    if (first) queue.start(first);
    const second = queue.add('2', ['a'])?.ticket;
    if (second) queue.remove(second);
    expect(queue.add('3', ['a'])).not.toBeNull();
    queue.clear();
    expect([queue.size, queue.next()]).toEqual([0, null]);
    expect(queue.add('4', ['a'])).not.toBeNull();
  });
});
