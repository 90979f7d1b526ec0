import { IconClockHour4 } from '@tabler/icons-react';
import { chosenLanguageOr } from '../language/language.ts';
import { pendingTexts as texts } from '../language/texts.ts';
import classes from './PendingBanner.module.css';

/** Tells a user with a pending account that an administrator has not approved it yet. */
export function PendingBanner() {
  return (
    <div className={classes.banner} role="status" lang={chosenLanguageOr('en')}>
      <IconClockHour4 aria-hidden className={classes.icon} />
      <div>
        <strong>{texts.heading}</strong>
        <div>{texts.hint}</div>
      </div>
    </div>
  );
}
