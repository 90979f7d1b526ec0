import cluster, { type Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import pino from 'pino';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startHttpWorkers } from './http-workers.ts';

const log = pino({ level: 'silent' });
const waitOptions = { timeout: 10_000 };

/** Returns a worker of the cluster that emits only the events of the test. @param pid undefined if the process could not be started */
function fakeWorker(pid: number | undefined): Worker {
  return Object.assign(new EventEmitter(), {
    process: { pid, exitCode: null, signalCode: null, kill: () => true },
    isDead: () => false,
    send: () => true,
  }) as unknown as Worker;
}

describe('startHttpWorkers (starts HTTP worker processes and restarts those that exit)', () => {
  vi.spyOn(cluster, 'setupPrimary').mockReturnValue();
  const fork = vi.spyOn(cluster, 'fork');
  beforeEach(() => void fork.mockReset());
  afterAll(() => void vi.restoreAllMocks());

  /** Starts one process, which listens. */
  async function startOne() {
    const worker = fakeWorker(1);
    fork.mockReturnValueOnce(worker);
    const starting = startHttpWorkers({ count: 1, calls: {}, log });
    worker.emit('listening', { port: 8080 });
    expect(await starting).toMatchObject({ port: 8080 });
    return worker;
  }

  it('tries again after a restart for which the system has no more processes', async () => {
    const worker = await startOne();
    const failed = fakeWorker(undefined);
    fork.mockImplementationOnce(() => {
      process.nextTick(() => failed.emit('error', new Error('spawn EAGAIN')));
      return failed;
    });
    fork.mockReturnValueOnce(fakeWorker(2));
    worker.emit('exit', 1, null);
    await vi.waitFor(() => expect(fork).toHaveBeenCalledTimes(3), waitOptions);
  });

  it('tries again after a restart for which the system has no memory', async () => {
    const worker = await startOne();
    fork.mockImplementationOnce(() => {
      throw new Error('spawn ENOMEM');
    });
    fork.mockReturnValueOnce(fakeWorker(2));
    worker.emit('exit', null, 'SIGKILL');
    await vi.waitFor(() => expect(fork).toHaveBeenCalledTimes(3), waitOptions);
  });

  it('returns null when the first process cannot be started', async () => {
    const failed = fakeWorker(undefined);
    fork.mockReturnValueOnce(failed);
    const starting = startHttpWorkers({ count: 2, calls: {}, log });
    failed.emit('error', new Error('spawn EAGAIN'));
    expect(await starting).toBeNull();
  });
});
