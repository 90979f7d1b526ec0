/** Names under which accounts and applicants are cached, apart from their calls: members need nothing else of them. */
import { queryClient } from './query-client.ts';

export const usersKey = ['users'];
export const waitingKey = ['waiting'];
export const applicationsKey = ['applications'];

/** Reloads applicants and counts after a decision. */
export function invalidateWaiting(): void {
  for (const queryKey of [waitingKey, applicationsKey]) void queryClient.invalidateQueries({ queryKey });
}

/** Updates an account in the list. */
export function invalidateUsers(): void {
  void queryClient.invalidateQueries({ queryKey: usersKey });
}
