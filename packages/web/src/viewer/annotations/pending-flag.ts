/**
 * A flag per account in local storage: whether this browser stores unsent changes of annotations. If so, opening any slide, even
 * one without annotations, makes the viewer load the code that sends the changes.
 */
import { authState } from '../../api/auth-state.ts';

const keyOf = (uid: string) => `annotations-pending:${uid}`;

/** Whether this browser stores unsent changes of the signed-in account. */
export function hasPendingAnnotations(): boolean {
  const { user } = authState();
  return user !== null && localStorage.getItem(keyOf(user.uid)) !== null;
}

export function setPendingFlag(uid: string, hasPending: boolean): void {
  if (hasPending) localStorage.setItem(keyOf(uid), 'true');
  else localStorage.removeItem(keyOf(uid));
}
