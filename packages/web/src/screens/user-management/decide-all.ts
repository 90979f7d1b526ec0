import type { UserDetails } from '@lamina/contract';
import { toast } from 'react-toastify';
import { announce } from '../../announce.ts';
import type { ActionResult } from '../../api/action-result.ts';

/** Somebody about whom nothing has been decided, and why. */
export interface Undecided {
  readonly user: UserDetails;
  readonly message: string;
}

/**
 * The same decision about several people, one after the other, told in one sentence.
 *
 * @param done the sentence for so many people
 * @returns those for whom it failed, in their order
 */
export async function decideAll(
  people: readonly UserDetails[],
  decide: (uid: string) => Promise<ActionResult>,
  done: (count: number) => string,
): Promise<readonly Undecided[]> {
  const undecided: Undecided[] = [];
  let last: ActionResult | null = null;
  for (const user of people) {
    last = await decide(user.uid);
    if (!last.success) undecided.push({ user, message: last.message });
  }
  const count = people.length - undecided.length;
  if (people.length === 1 && last?.success) announce(last);
  else if (count > 0) toast.success(done(count));
  return undecided;
}
