import type { User } from '@lamina/contract';
import type { ActionResult } from '../../api/action-result.ts';
import { approve, deactivate, promote, suspend } from '../../api/users.ts';
import { texts } from './texts.ts';

interface UserAction {
  readonly label: string;
  /** What the card asks to be done first. */
  readonly isMain: boolean;
  readonly run: (uid: string) => Promise<ActionResult>;
}

const approveAsUser: UserAction = {
  label: texts.approve,
  isMain: true,
  run: (uid) => approve(uid, 'user'),
};
const activate: UserAction = { label: texts.activate, isMain: true, run: (uid) => approve(uid, null) };
const suspendUser: UserAction = { label: texts.suspend, isMain: false, run: suspend };
const makeAdmin: UserAction = { label: texts.promote, isMain: false, run: promote };
const close: UserAction = { label: texts.deactivate, isMain: false, run: deactivate };

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
