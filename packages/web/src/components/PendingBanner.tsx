import { IconClockHour4 } from '@tabler/icons-react';
import { languageNow } from '../language.ts';
import { pendingTexts as texts } from '../texts.ts';
import classes from './PendingBanner.module.css';

/** Stands above everything while the account waits for an administrator. */
export function PendingBanner() {
  return (
    <div className={classes.banner} role="status" lang={languageNow('en')}>
      <IconClockHour4 aria-hidden className={classes.icon} />
      <div>
        <strong>{texts.heading}</strong>
        <div>{texts.hint}</div>
      </div>
    </div>
  );
}
