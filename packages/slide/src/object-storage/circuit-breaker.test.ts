import { describe, expect, it, vi } from 'vitest';
import { SlideError } from '../model/slide.ts';
import { createStoreGuard, StoreFault, type StoreLimits, storeLimits } from './circuit-breaker.ts';

const transientFault = () =>
  new StoreFault('STORE_UNAVAILABLE', 'The object store responded with status 500', true);
const definiteError = () => new SlideError('FILE_MISSING', 'The object is not there');
/** A guard without retries, so that each failure is one attempt. */
const guard = (limits: Partial<StoreLimits> = {}) =>
  createStoreGuard({ ...storeLimits, retries: 0, backoffMs: 1, ...limits });
const failing = (error: Error) => async () => {
  throw error;
};

describe('a request to the object store with retries', () => {
  it('is retried after a transient fault and after an unexpected error, and returns the result of the third attempt', async () => {
    const attempt = vi
      .fn<() => Promise<string>>()
      .mockRejectedValueOnce(transientFault())
      .mockRejectedValueOnce(new TypeError('fetch failed'))
      .mockResolvedValue('bytes');
    expect(await guard({ retries: 2 }).run(attempt)).toBe('bytes');
  });

  it('throws a definite error such as FILE_MISSING after the first attempt, without a retry', async () => {
    const attempt = vi.fn<() => Promise<never>>(failing(definiteError()));
    await expect(guard({ retries: 2 }).run(attempt)).rejects.toMatchObject({ code: 'FILE_MISSING' });
    expect(attempt).toHaveBeenCalledOnce();
  });

  it('throws the error of the first attempt when the waiting time before a retry (backoff) would exceed the total time limit', async () => {
    const attempt = vi.fn<() => Promise<never>>(failing(transientFault()));
    await expect(guard({ retries: 2, backoffMs: 60_000 }).run(attempt)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    expect(attempt).toHaveBeenCalledOnce();
  });

  it('throws the reason of the abort when its caller aborts it before a retry', async () => {
    const controller = new AbortController();
    const attempt = async () => {
      setImmediate(() => controller.abort(new Error('gone')));
      throw transientFault();
    };
    const request = guard({ retries: 2, backoffMs: 5000 }).run(attempt, controller.signal);
    await expect(request).rejects.toThrow('gone');
  });

  it('is aborted and throws STORE_TIMEOUT after the time limit of an attempt', async () => {
    const attempt = vi.fn<(signal: AbortSignal) => Promise<never>>(
      (signal) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('interrupted')));
        }),
    );
    await expect(guard({ attemptMs: 1 }).run(attempt)).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
  });
});

describe('the circuit breaker of object storage', () => {
  async function openCircuit(limits: Partial<StoreLimits> = {}) {
    const openGuard = guard(limits);
    for (let i = 0; i < 5; i++) await expect(openGuard.run(failing(transientFault()))).rejects.toThrow('500');
    return openGuard;
  }

  it('opens after five consecutive failures: requests then fail immediately and send nothing', async () => {
    const openGuard = await openCircuit();
    const attempt = vi.fn<() => Promise<string>>(async () => 'bytes');
    await expect(openGuard.run(attempt)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: 'The object store failed repeatedly; no requests are sent until the next probe',
    });
    expect(attempt).not.toHaveBeenCalled();
  });

  it.each([
    ['a success', async () => 'bytes'],
    ['a definite error such as FILE_MISSING', failing(definiteError())],
  ])('stays closed, so that requests are still sent, when %s occurs between failures', async (_, between) => {
    const closedGuard = guard();
    for (let i = 0; i < 4; i++) await closedGuard.run(failing(transientFault())).catch(() => {});
    await closedGuard.run(between).catch(() => {});
    for (let i = 0; i < 4; i++) await closedGuard.run(failing(transientFault())).catch(() => {});
    expect(await closedGuard.run(async () => 'bytes')).toBe('bytes');
  });

  it('sends one request as a probe after the probe interval, and closes when the probe succeeds', async () => {
    const openGuard = await openCircuit({ probeMs: 0 });
    const gate = Promise.withResolvers<string>();
    const probe = openGuard.run(() => gate.promise);
    await expect(openGuard.run(async () => 'another')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    gate.resolve('bytes');
    expect(await probe).toBe('bytes');
    expect(await openGuard.run(async () => 'another')).toBe('another');
  });

  it('throws the error of a probe that fails, without retrying the probe', async () => {
    const openGuard = await openCircuit({ probeMs: 0, retries: 2 });
    const attempt = vi.fn<() => Promise<never>>(failing(transientFault()));
    await expect(openGuard.run(attempt)).rejects.toThrow('500');
    expect(attempt).toHaveBeenCalledOnce();
  });

  it('stays open when the caller aborts the probe: the next request is a probe again', async () => {
    const openGuard = await openCircuit({ probeMs: 0, retries: 2 });
    const controller = new AbortController();
    const probe = openGuard.run(() => {
      controller.abort(new Error('gone'));
      return Promise.reject(new Error('interrupted'));
    }, controller.signal);
    await expect(probe).rejects.toThrow('gone');
    // The circuit is still open, so the next request is a probe and is not retried.
    const attempt = vi.fn<() => Promise<never>>(failing(transientFault()));
    await expect(openGuard.run(attempt)).rejects.toThrow('500');
    expect(attempt).toHaveBeenCalledOnce();
    expect(await openGuard.run(async () => 'bytes')).toBe('bytes');
  });
});

describe('the circuit breaker with a response that arrives late', () => {
  /** Opens the circuit while a request that was sent before waits for its response. */
  async function openWithLateRequest(probeMs: number) {
    const openGuard = guard({ probeMs });
    const response = Promise.withResolvers<string>();
    const lateRequest = openGuard.run(() => response.promise);
    for (let i = 0; i < 5; i++) await expect(openGuard.run(failing(transientFault()))).rejects.toThrow('500');
    return { openGuard, lateRequest, response };
  }

  it('stays open when a request that was sent before the circuit opened succeeds', async () => {
    const { openGuard, lateRequest, response } = await openWithLateRequest(60_000);
    response.resolve('late bytes');
    expect(await lateRequest).toBe('late bytes');
    await expect(openGuard.run(async () => 'bytes')).rejects.toThrow('until the next probe');
  });

  it.each([
    ['succeeds', (response: PromiseWithResolvers<string>) => response.resolve('late bytes')],
    ['fails', (response: PromiseWithResolvers<string>) => response.reject(transientFault())],
  ])(
    'sends no second probe while one runs when a request that was sent before the circuit opened %s',
    async (_, settle) => {
      const { openGuard, lateRequest, response } = await openWithLateRequest(0);
      const probeResponse = Promise.withResolvers<string>();
      const probe = openGuard.run(() => probeResponse.promise);
      settle(response);
      await lateRequest.catch(() => {});
      await expect(openGuard.run(async () => 'bytes')).rejects.toThrow('until the next probe');
      probeResponse.resolve('probe bytes');
      expect(await probe).toBe('probe bytes');
      expect(await openGuard.run(async () => 'bytes')).toBe('bytes');
    },
  );
});

describe('concurrent requests to the object store', () => {
  it('beyond the concurrency limit wait in order of arrival, and requests beyond the queue limit get BUSY', async () => {
    const limited = guard({ maxConcurrent: 1, maxWaiting: 2 });
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = limited.run(() => gate.promise);
    const others = ['a', 'b'].map((name) => limited.run(async () => order.push(name)));
    await expect(limited.run(async () => order.push('c'))).rejects.toMatchObject({ code: 'BUSY' });
    expect(order).toEqual([]);
    gate.resolve();
    await Promise.all([first, ...others]);
    expect(order).toEqual(['a', 'b']);
  });

  it('are removed from the queue when their caller aborts', async () => {
    const limited = guard({ maxConcurrent: 1, maxWaiting: 1 });
    const gate = Promise.withResolvers<void>();
    const controller = new AbortController();
    const first = limited.run(() => gate.promise);
    const aborted = limited.run(async () => 'gone', controller.signal);
    controller.abort(new Error('gone'));
    const next = limited.run(async () => 'next');
    gate.resolve();
    await expect(aborted).rejects.toThrow('gone');
    await first;
    expect(await next).toBe('next');
  });

  it('get STORE_TIMEOUT when they wait for their turn longer than the total time limit', async () => {
    const limited = guard({ maxConcurrent: 1, totalMs: 20 });
    const gate = Promise.withResolvers<void>();
    const first = limited.run(() => gate.promise, undefined, { totalMs: 60_000, attemptMs: 60_000 });
    await expect(limited.run(async () => 'late')).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
    gate.resolve();
    await first;
  });
});
