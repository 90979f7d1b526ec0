/** Hashes passwords with argon2id, a few at a time, so that sign-ins leave processor time for tiles. */
import os from 'node:os';
import { AppError } from '@lamina/contract';
import { FairQueue } from '@lamina/slide/fair-queue';
import { hash, verify } from '@node-rs/argon2';
import { siteOf } from '../domain/network-of.ts';
import type { HashRequester } from '../sessions/sign-in-service.ts';

/** Cost parameters of one hash. */
export interface PasswordCost {
  readonly memoryKiB: number;
  readonly passes: number;
}

/** OWASP Password Storage Cheat Sheet, argon2id: at least 19 MiB, 2 passes, 1 thread. */
export const passwordCost: PasswordCost = { memoryKiB: 19_456, passes: 2 };

export interface Passwords {
  /** Returns the hash, encoded with its salt and parameters. @throws AppError unavailable */
  hash(password: string, requester: HashRequester): Promise<string>;
  /**
   * Compares a password with a hash. Without a hash the result is false, after the same work as for a wrong password.
   *
   * @throws AppError unavailable
   */
  isRight(passwordHash: string | null, password: string, requester: HashRequester): Promise<boolean>;
}

/**
 * Maximum number of waiting hashes. One takes about 30 ms, so the last of 128 waits 4 s on one processor. Per account and
 * network, 32 may wait, which is enough for a class that shares a teaching account.
 */
const queueLimits = { total: 128, perKey: [128, 32] };

export function createPasswords(cost: PasswordCost): Passwords {
  const runInTurn = createTurns(Math.max(1, os.availableParallelism() - 1));
  const hashNow = (password: string) =>
    hash(normalisePassword(password), { memoryCost: cost.memoryKiB, timeCost: cost.passes, parallelism: 1 });
  // Hashed at the start; otherwise the first sign-in with an unknown address would take longer than one with a wrong password.
  const unmatchedHash = hashNow('a password that no account has');
  unmatchedHash.catch(() => undefined); // the call that needs it reports the failure

  return {
    hash: (password, requester) => runInTurn(requester, () => hashNow(password)),
    isRight: (passwordHash, password, requester) =>
      runInTurn(requester, async () => {
        const isRight = await verify(passwordHash ?? (await unmatchedHash), normalisePassword(password));
        return isRight && passwordHash !== null;
      }),
  };
}

/** Normalises a password, because keyboards compose the same characters in different ways. */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Runs at most `atOnce` jobs at a time; the others wait for the turn of their requester.
 *
 * @throws AppError unavailable when a job may not wait, or when another requester's job displaces it from the full queue
 */
function createTurns(maxRunning: number) {
  interface Turn {
    readonly begin: () => void;
    readonly refuse: (error: AppError) => void;
  }
  const queue = new FairQueue<Turn>(queueLimits);
  let running = 0;
  const unavailable = () => new AppError('unavailable', { retryAfterSeconds: 2 });

  async function waitForTurn(requester: HashRequester): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const path = requester === null ? ['', ''] : [siteOf(requester.address), requester.account];
    const added = queue.add({ begin: resolve, refuse: reject }, path);
    if (added === null) throw unavailable();
    added.displaced?.job.refuse(unavailable());
    return promise;
  }

  return async <T>(requester: HashRequester, work: () => Promise<T>): Promise<T> => {
    if (running < maxRunning) running += 1;
    else await waitForTurn(requester);
    try {
      return await work();
    } finally {
      // The slot passes directly to the next job, so that a new one cannot overtake it.
      const next = queue.next();
      if (next === null) {
        running -= 1;
      } else {
        queue.start(next);
        next.job.begin();
      }
    }
  };
}
