import { IconShieldLock, IconUserCheck } from '@tabler/icons-react';
import { useWaiting } from '../../api/users.ts';
import { QuickLink } from './QuickLink.tsx';
import { texts } from './texts.ts';

/** The administrator's links: the admin panel, and the queue of applicants while there are any. */
export function AdminLinks() {
  const waiting = useWaiting().data?.applications ?? 0;
  return (
    <>
      <QuickLink to="/admin" label={texts.adminPanel} hint={texts.adminPanelHint} icon={IconShieldLock} />
      {waiting > 0 && (
        <QuickLink
          to="/admin/users?view=waiting"
          label={texts.waitingPeople}
          hint={texts.waitingCount(waiting)}
          icon={IconUserCheck}
        />
      )}
    </>
  );
}
