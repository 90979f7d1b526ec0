/** Hashes passwords with argon2id, only a few at the same time, so that sign-ins leave CPU time for tiles. */
import os from 'node:os';
import { AppError } from '@lamina/contract';
import { FairQueue } from '@lamina/slide/fair-queue';
import { hash, verify } from '@node-rs/argon2';
import { siteOf } from '../domain/network-of.ts';
import type { HashRequester } from '../sessions/sign-in-service.ts';

/** Cost parameters of argon2id. */
export interface PasswordCost {
  readonly memoryKiB: number;
  /** Number of passes over the memory. */
  readonly passes: number;
}

/** The minimum of the OWASP Password Storage Cheat Sheet for argon2id: 19 MiB, 2 passes, 1 thread. */
export const passwordCost: PasswordCost = { memoryKiB: 19_456, passes: 2 };

/** Both methods wait in a queue that takes turns between requesters: client and account, or null for the server itself. */
export interface Passwords {
  /** Returns the hash, encoded with its salt and parameters. @throws AppError unavailable */
  hash(password: string, requester: HashRequester): Promise<string>;
  /**
   * Returns whether a password belongs to a hash. Without a hash the result is false after the same CPU time as for a wrong password,
   * so that the duration does not reveal whether an account exists.
   *
   * @throws AppError unavailable
   */
  matchesHash(passwordHash: string | null, password: string, requester: HashRequester): Promise<boolean>;
}

/**
 * Maximum number of waiting hashes. A hash takes about 30 ms, so the last of 128 hashes waits about 4 s if one runs at a time. At most
 * 32 hashes of one account in one network may wait, which is enough for a class that shares a teaching account.
 */
const queueLimits = { total: 128, perKey: [128 /* of one network */, 32 /* of one account in it */] };

export function createPasswords(cost: PasswordCost): Passwords {
  const runInTurn = createTurnQueue(Math.max(1, os.availableParallelism() - 1)); // leaves one processor for other work
  const hashNow = (password: string) =>
    hash(normalisePassword(password), { memoryCost: cost.memoryKiB, timeCost: cost.passes, parallelism: 1 });
  // Passwords for unknown accounts are compared with this hash. It is computed at the start; otherwise the first
  // sign-in with an unknown address would take longer than one with a wrong password.
  const decoyHash = hashNow('a password that no account has');
  decoyHash.catch(() => undefined); // `matchesHash` reports the error

  return {
    hash: (password, requester) => runInTurn(requester, () => hashNow(password)),
    matchesHash: (passwordHash, password, requester) =>
      runInTurn(requester, async () => {
        const isCorrect = await verify(passwordHash ?? (await decoyHash), normalisePassword(password));
        return isCorrect && passwordHash !== null;
      }),
  };
}

/** Returns the password in NFKC, because keyboards compose the same characters from different code points. */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Returns a function that runs jobs, at most `maxRunning` at a time. Further jobs wait in a queue that takes turns between networks,
 * and between the accounts of a network. The function throws AppError unavailable when the queue does not accept a job, or when
 * another requester's job displaces it from the full queue.
 */
function createTurnQueue(maxRunning: number) {
  interface Turn {
    readonly begin: () => void;
    readonly reject: (error: AppError) => void;
  }
  const queue = new FairQueue<Turn>(queueLimits);
  let running = 0;
  const unavailable = () => new AppError('unavailable', { retryAfterSeconds: 2 });

  async function waitForTurn(requester: HashRequester): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // A site is an IPv4 address or an IPv6 /48 network.
    const queueKeys = requester === null ? ['', ''] : [siteOf(requester.address), requester.account];
    const added = queue.add({ begin: resolve, reject }, queueKeys);
    if (added === null) throw unavailable();
    added.displaced?.job.reject(unavailable()); // a job that this one has pushed out of the full queue
    return promise;
  }

  return async <T>(requester: HashRequester, work: () => Promise<T>): Promise<T> => {
    if (running < maxRunning) running += 1;
    else await waitForTurn(requester);
    try {
      return await work();
    } finally {
      // `running` stays the same when a waiting job begins, so that a new job cannot begin before it.
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
