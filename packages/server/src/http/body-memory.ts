/**
 * Limits the memory of large request bodies. The server receives a whole body before its handler runs, so without a limit an account could
 * exhaust the memory by sending many files at the same time. Bodies of at most 1 MiB are not counted: `processLimits` in connections.ts
 * bounds their number.
 */
import type { ServerResponse } from 'node:http';
import { createAccountBudget } from '../platform/account-budget.ts';

const mebibyte = 2 ** 20;
const uncountedBytes = mebibyte;
/** For all accounts; parsing a body takes several times its size. */
const maxBytes = 512 * mebibyte;
/** Two annotation files of the maximum size. */
const maxBytesPerAccount = 128 * mebibyte;

export interface BodyMemory {
  /**
   * Reserves memory for the body of a request until its response is closed.
   *
   * @param bytes size of the body; the maximum size if it is unknown
   * @throws AppError unavailable when the bodies of the account, or of all accounts, already take too much memory
   */
  reserve(bytes: number, uid: string, response: ServerResponse): void;
}

export function createBodyMemory(): BodyMemory {
  const budget = createAccountBudget({ maxPerAccount: maxBytesPerAccount, max: maxBytes });
  return {
    reserve(bytes, uid, response) {
      if (bytes <= uncountedBytes || response.closed) return; // closed: the client has already disconnected
      response.once('close', budget.reserve(uid, bytes));
    },
  };
}
