import type { Role, Status } from '@lamina/contract';
import { roleLabel, statusLabel } from '../language/texts.ts';
import classes from './AccountBadge.module.css';

/** Shows the account status as text after a dot, whose colour the style sheet sets by `data-status`. */
export function StatusBadge({ status }: { readonly status: Status }) {
  return (
    <span className={classes.badge} data-status={status}>
      {statusLabel(status)}
    </span>
  );
}

export function RoleBadge({ role }: { readonly role: Role }) {
  return (
    <span className={classes.badge} data-role={role}>
      {roleLabel(role)}
    </span>
  );
}
