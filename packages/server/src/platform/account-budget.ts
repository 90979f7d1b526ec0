/** Limits what accounts use at the same time, such as memory: per account, so that one cannot take all, and together. */
import { AppError } from '@lamina/contract';

export interface AccountBudget {
  /**
   * Reserves an amount for an account. Without other reservations of the account, or of all accounts, the amount may exceed that limit.
   *
   * @returns a function that releases the amount; further calls have no effect
   * @throws AppError unavailable when the reservations of the account, or of all accounts, would exceed their limit
   */
  reserve(uid: string, amount: number): () => void;
}

/** Creates a budget. Both limits are in the unit of the reserved amounts. */
export function createAccountBudget({
  maxPerAccount,
  max,
}: {
  readonly maxPerAccount: number;
  readonly max: number;
}): AccountBudget {
  const reservedByAccount = new Map<string, number>();
  let reserved = 0;

  function add(uid: string, amount: number): void {
    reserved += amount;
    const ofAccount = (reservedByAccount.get(uid) ?? 0) + amount;
    if (ofAccount === 0) reservedByAccount.delete(uid);
    else reservedByAccount.set(uid, ofAccount);
  }

  return {
    reserve(uid, amount) {
      const ofAccount = reservedByAccount.get(uid) ?? 0;
      const isTooMuch =
        (ofAccount > 0 && ofAccount + amount > maxPerAccount) || (reserved > 0 && reserved + amount > max);
      if (isTooMuch) throw new AppError('unavailable', { retryAfterSeconds: 5 });
      add(uid, amount);
      let isReleased = false;
      return () => {
        if (!isReleased) add(uid, -amount);
        isReleased = true;
      };
    },
  };
}
