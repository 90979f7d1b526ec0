/** Passwords: argon2id, a few at a time, so that signing in never starves the tiles. */
import os from 'node:os';
import { AppError } from '@lamina/contract';
import { hash, verify } from '@node-rs/argon2';

/** What one hash costs. */
export interface PasswordCost {
  readonly memoryKiB: number;
  readonly passes: number;
}

/** OWASP Password Storage Cheat Sheet, argon2id: at least 19 MiB, 2 passes, 1 thread. */
export const passwordCost: PasswordCost = { memoryKiB: 19_456, passes: 2 };

export interface Passwords {
  /** Encoded with its own salt and parameters. @throws AppError unavailable */
  hash(password: string): Promise<string>;
  /** Null, for nobody, takes as long as a wrong password. @throws AppError unavailable */
  isRight(passwordHash: string | null, password: string): Promise<boolean>;
}

/** Hashes that wait for their turn; beyond them the caller is asked to come back. */
const queueLimit = 32;

export function createPasswords(cost: PasswordCost): Passwords {
  const gate = createGate(Math.max(1, os.availableParallelism() - 1), queueLimit);
  const hashNow = (password: string) =>
    hash(prepared(password), { memoryCost: cost.memoryKiB, timeCost: cost.passes, parallelism: 1 });
  // Made beforehand: the first unknown address would else take longer than a wrong password.
  const nobodysHash = hashNow('a password that no account has');
  nobodysHash.catch(() => undefined); // told to whoever needs it

  return {
    hash: (password) => gate(() => hashNow(password)),
    isRight: (passwordHash, password) =>
      gate(async () => {
        const isRight = await verify(passwordHash ?? (await nobodysHash), prepared(password));
        return isRight && passwordHash !== null;
      }),
  };
}

/** The same characters whichever keyboard composed them. */
export function prepared(password: string): string {
  return password.normalize('NFKC');
}

/** Runs at most `atOnce` at a time. @throws AppError unavailable, when too many wait already */
function createGate(atOnce: number, mayWait: number) {
  let running = 0;
  const waiting: (() => void)[] = [];

  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < atOnce) running += 1;
    else if (waiting.length < mayWait) await new Promise<void>((resolve) => waiting.push(resolve));
    else throw new AppError('unavailable', { retryAfterSeconds: 2 });
    try {
      return await work();
    } finally {
      // The place goes straight to the next in the queue, so nobody gets in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
