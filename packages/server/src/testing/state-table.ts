/** Data of the table in docs/permissions.md section 5: how each call of an administrator changes the state of an account. */
import type { Role, Status } from '@lamina/contract';

export const accountStates = [
  'pending',
  'active:unassigned',
  'active:viewer',
  'active:user',
  'active:admin',
  'suspended:unassigned',
  'suspended:viewer',
  'suspended:user',
  'suspended:admin',
  'deactivated:user',
  'deactivated:admin',
  'self',
] as const;
/** State of an account before the call: status and role. `self` is the account of the administrator who calls. */
export type AccountState = (typeof accountStates)[number];

interface AccountCall {
  /** Name of the endpoint in the contract. */
  readonly endpoint: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /**
   * A line for each state before the call, with the outcome: status and role after the call; `=` when nothing changes; `*` when the
   * password changes, but not status and role; or an error code. A trailing `!` means that the call ends all earlier tokens and sessions.
   */
  readonly outcomes: string;
}

export const accountCalls: Readonly<Record<string, AccountCall>> = {
  'approve without a role': {
    endpoint: 'approveUser',
    outcomes: `
      pending               active:user
      active:unassigned     already_active
      active:viewer         already_active
      active:user           already_active
      active:admin          already_active
      suspended:unassigned  active:user
      suspended:viewer      active:viewer
      suspended:user        active:user
      suspended:admin       active:user
      deactivated:user      active:user
      deactivated:admin     active:user
      self                  already_active`,
  },
  'approve as viewer': {
    endpoint: 'approveUser',
    body: { role: 'viewer' },
    outcomes: `
      pending               active:viewer
      active:unassigned     already_active
      active:viewer         already_active
      active:user           already_active
      active:admin          already_active
      suspended:unassigned  active:viewer
      suspended:viewer      active:viewer
      suspended:user        active:viewer
      suspended:admin       active:viewer
      deactivated:user      active:viewer
      deactivated:admin     active:viewer
      self                  already_active`,
  },
  'approve as admin': {
    endpoint: 'approveUser',
    body: { role: 'admin' },
    outcomes: `
      pending               invalid_request
      active:unassigned     invalid_request
      active:viewer         invalid_request
      active:user           invalid_request
      active:admin          invalid_request
      suspended:unassigned  invalid_request
      suspended:viewer      invalid_request
      suspended:user        invalid_request
      suspended:admin       invalid_request
      deactivated:user      invalid_request
      deactivated:admin     invalid_request
      self                  invalid_request`,
  },
  'withdraw the approval': {
    endpoint: 'withdrawApproval',
    outcomes: `
      pending               not_active
      active:unassigned     pending:unassigned!
      active:viewer         pending:unassigned!
      active:user           pending:unassigned!
      active:admin          approval_settled
      suspended:unassigned  not_active
      suspended:viewer      not_active
      suspended:user        not_active
      suspended:admin       not_active
      deactivated:user      not_active
      deactivated:admin     not_active
      self                  approval_settled`,
  },
  suspend: {
    endpoint: 'suspendUser',
    outcomes: `
      pending               suspended:unassigned!
      active:unassigned     suspended:unassigned!
      active:viewer         suspended:viewer!
      active:user           suspended:user!
      active:admin          suspended:admin!
      suspended:unassigned  =
      suspended:viewer      =
      suspended:user        =
      suspended:admin       =
      deactivated:user      closed
      deactivated:admin     closed
      self                  self_change`,
  },
  deactivate: {
    endpoint: 'deactivateUser',
    outcomes: `
      pending               deactivated:unassigned!
      active:unassigned     deactivated:unassigned!
      active:viewer         deactivated:viewer!
      active:user           deactivated:user!
      active:admin          deactivated:admin!
      suspended:unassigned  deactivated:unassigned!
      suspended:viewer      deactivated:viewer!
      suspended:user        deactivated:user!
      suspended:admin       deactivated:admin!
      deactivated:user      =
      deactivated:admin     =
      self                  self_change`,
  },
  promote: {
    endpoint: 'promoteUser',
    outcomes: `
      pending               not_active
      active:unassigned     active:admin!
      active:viewer         active:admin!
      active:user           active:admin!
      active:admin          =
      suspended:unassigned  not_active
      suspended:viewer      not_active
      suspended:user        not_active
      suspended:admin       not_active
      deactivated:user      not_active
      deactivated:admin     not_active
      self                  =`,
  },
  reject: {
    endpoint: 'rejectUser',
    body: { reason: 'Kurumunuz doğrulanamadı.' },
    outcomes: `
      pending               suspended:unassigned
      active:unassigned     not_pending
      active:viewer         not_pending
      active:user           not_pending
      active:admin          not_pending
      suspended:unassigned  not_pending
      suspended:viewer      not_pending
      suspended:user        not_pending
      suspended:admin       not_pending
      deactivated:user      not_pending
      deactivated:admin     not_pending
      self                  not_pending`,
  },
  'set the password': {
    endpoint: 'setUserPassword',
    body: { new_password: 'yepyeni-şifre' },
    outcomes: `
      pending               *!
      active:unassigned     *!
      active:viewer         *!
      active:user           *!
      active:admin          *!
      suspended:unassigned  *!
      suspended:viewer      *!
      suspended:user        *!
      suspended:admin       *!
      deactivated:user      closed
      deactivated:admin     closed
      self                  self_change`,
  },
};

/** Returns the outcome of a call for an account in this state. @throws Error when the table has none */
export function outcomeOf(call: string, state: AccountState): string {
  const lines = (accountCalls[call]?.outcomes ?? '').trim().split('\n');
  const [, outcome] =
    lines.map((line) => line.trim().split(/\s+/)).find(([before]) => before === state) ?? [];
  if (outcome === undefined) throw new Error(`The table has no outcome of ${call} for the state ${state}.`);
  return outcome;
}

/** Splits a state into status and role. The name of the state `pending` contains no role; its role is `unassigned`. */
export function statusAndRoleOf(state: Exclude<AccountState, 'self'>): { status: Status; role: Role } {
  const [status, role = 'unassigned'] = state.split(':') as [Status, Role?];
  return { status, role };
}
