import { IconShieldLock, IconUserCheck } from '@tabler/icons-react';
import { useWaitingCounts } from '../../api/users.ts';
import { QuickLink } from './QuickLink.tsx';
import { texts } from './texts.ts';

/** Links on the dashboard of administrators: to the admin panel and, while applicants wait, to the queue of applicants. */
export function AdminLinks() {
  const applicantCount = useWaitingCounts().data?.applications ?? 0;
  return (
    <>
      <QuickLink to="/admin" label={texts.adminPanel} hint={texts.adminPanelHint} icon={IconShieldLock} />
      {applicantCount > 0 && (
        <QuickLink
          to="/admin/users?view=waiting"
          label={texts.waitingPeople}
          hint={texts.waitingCount(applicantCount)}
          icon={IconUserCheck}
        />
      )}
    </>
  );
}
