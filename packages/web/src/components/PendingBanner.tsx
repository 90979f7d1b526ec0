import { IconClockHour4 } from '@tabler/icons-react';
import classes from './PendingBanner.module.css';

/** Stands above everything while the account waits for an administrator. */
export function PendingBanner() {
  return (
    <div className={classes.banner} role="status" lang="en">
      <IconClockHour4 aria-hidden className={classes.icon} />
      <div>
        <strong>Your Account is Pending Approval</strong>
        <div>Some features may be limited</div>
      </div>
    </div>
  );
}
