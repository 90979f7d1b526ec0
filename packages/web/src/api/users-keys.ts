/**
 * Cache keys of accounts, applicants and the counts of waiting decisions. They are separate from the calls for administrators in
 * `users.ts`, because the slide viewer loads `datasets.ts`, which needs the keys but not these calls.
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
