import type { User, UserDetails } from '@lamina/contract';
import { approve, deactivate, promote, suspend, undoSuspension, withdrawApproval } from '../../api/users.ts';
import type { ActionResult } from '../../notifications/action-result.ts';

/** An action of an administrator on an account, with a button on the card of the account. */
export interface UserAction {
  /** Key of the text on its button. */
  readonly name: 'approve' | 'activate' | 'suspend' | 'promote' | 'deactivate';
  /** Whether the action is the main one of the card and has a filled button. */
  readonly isMain: boolean;
  /** Whether its button opens `DeactivateDialog`, which asks for a confirmation, instead of calling `run`. */
  readonly opensDeactivateDialog?: boolean;
  readonly run: (uid: string) => Promise<ActionResult>;
  /** Restores the state that the account had before the action; omitted when that is not possible. */
  readonly undo?: (before: UserDetails) => Promise<ActionResult>;
}

const approveAsUser: UserAction = {
  name: 'approve',
  isMain: true,
  run: (uid) => approve(uid, 'user'),
  undo: ({ uid }) => withdrawApproval(uid),
};
const activateUser: UserAction = {
  name: 'activate',
  isMain: true,
  run: (uid) => approve(uid, null), // null: a viewer stays `viewer`, any other account becomes `user`
  undo: ({ uid, status }) => (status === 'deactivated' ? deactivate(uid) : suspend(uid)),
};
const suspendUser: UserAction = {
  name: 'suspend',
  isMain: false,
  run: suspend,
  undo: (before) => undoSuspension(before.uid, before.role === 'admin'), // an administrator is promoted again
};
const promoteUser: UserAction = { name: 'promote', isMain: false, run: promote };
const deactivateUser: UserAction = {
  name: 'deactivate',
  isMain: false,
  opensDeactivateDialog: true,
  run: deactivate,
};

/**
 * Returns the actions that the status and role of an account allow, in the order of the buttons.
 *
 * @param isOwn whether the account belongs to the signed-in administrator: none of these actions is then allowed
 */
export function actionsOf(
  { status, role }: Pick<User, 'status' | 'role'>,
  isOwn: boolean,
): readonly UserAction[] {
  if (isOwn) return [];
  switch (status) {
    case 'pending':
      return [approveAsUser, deactivateUser];
    case 'active':
      return role === 'admin' ? [suspendUser, deactivateUser] : [suspendUser, promoteUser, deactivateUser];
    case 'suspended':
      return [activateUser, deactivateUser];
    case 'deactivated':
      return [activateUser];
  }
}
