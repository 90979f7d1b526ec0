import type { User } from '@lamina/contract';
import type { ActionResult } from '../../api/action-result.ts';
import { approve, deactivate, promote, suspend } from '../../api/users.ts';

interface UserAction {
  /** Of the text on its button. */
  readonly name: 'approve' | 'activate' | 'suspend' | 'promote' | 'deactivate';
  /** What the card asks to be done first. */
  readonly isMain: boolean;
  readonly run: (uid: string) => Promise<ActionResult>;
}

const approveAsUser: UserAction = {
  name: 'approve',
  isMain: true,
  run: (uid) => approve(uid, 'user'),
};
const activate: UserAction = { name: 'activate', isMain: true, run: (uid) => approve(uid, null) };
const suspendUser: UserAction = { name: 'suspend', isMain: false, run: suspend };
const makeAdmin: UserAction = { name: 'promote', isMain: false, run: promote };
const close: UserAction = { name: 'deactivate', isMain: false, run: deactivate };

/** What may be done with an account of this status and role, in the order of the buttons. */
export function actionsOf({ status, role }: Pick<User, 'status' | 'role'>): readonly UserAction[] {
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
