/**
 * Cache keys of accounts, applicants and the counts of waiting decisions. They are separate from the calls in `users.ts`, because code
 * for members needs the keys but not the calls for administrators.
 */
import { queryClient } from './query-client.ts';

export const usersKey = ['users'];
export const waitingKey = ['waiting'];
export const applicationsKey = ['applications'];

/** Reloads the applicants and the counts of waiting decisions. */
export function invalidateWaitingCounts(): void {
  for (const queryKey of [waitingKey, applicationsKey]) void queryClient.invalidateQueries({ queryKey });
}

export function invalidateUsers(): void {
  void queryClient.invalidateQueries({ queryKey: usersKey });
}
