import type { User, UserDetails } from '@lamina/contract';
import { approve, deactivate, promote, suspend, undoSuspension, withdrawApproval } from '../../api/users.ts';
import type { ActionResult } from '../../notifications/action-result.ts';

export interface UserAction {
  /** Key of the text on its button. */
  readonly name: 'approve' | 'activate' | 'suspend' | 'promote' | 'deactivate';
  /** The main action of the card, with a filled button. */
  readonly isMain: boolean;
  /** A dialog says first what else the action changes. */
  readonly opensDeactivateDialog?: boolean;
  readonly run: (uid: string) => Promise<ActionResult>;
  /** Restores the account to the given earlier state. */
  readonly undo?: (before: UserDetails) => Promise<ActionResult>;
}

const approveAsUser: UserAction = {
  name: 'approve',
  isMain: true,
  run: (uid) => approve(uid, 'user'),
  undo: ({ uid }) => withdrawApproval(uid),
};
const activate: UserAction = {
  name: 'activate',
  isMain: true,
  run: (uid) => approve(uid, null),
  undo: ({ uid, status }) => (status === 'deactivated' ? deactivate(uid) : suspend(uid)),
};
const suspendUser: UserAction = {
  name: 'suspend',
  isMain: false,
  run: suspend,
  undo: ({ uid, role }) => undoSuspension(uid, role === 'admin'),
};
const makeAdmin: UserAction = { name: 'promote', isMain: false, run: promote };
const close: UserAction = { name: 'deactivate', isMain: false, opensDeactivateDialog: true, run: deactivate };

/**
 * Returns the actions for an account of this status and role, in the order of the buttons.
 *
 * @param isOwn the administrator's own account, which the server neither suspends nor deactivates
 */
export function actionsOf(
  { status, role }: Pick<User, 'status' | 'role'>,
  isOwn: boolean,
): readonly UserAction[] {
  if (isOwn) return [];
  switch (status) {
    case 'pending':
      return [approveAsUser, close];
    case 'active':
      return role === 'admin' ? [suspendUser, close] : [suspendUser, makeAdmin, close];
    case 'suspended':
      return [activate, close];
    case 'deactivated':
      return [activate];
  }
}
