import { useProfile } from '../../api/profile.ts';
import { RoleBadge, StatusBadge } from '../../components/AccountBadge.tsx';
import { FieldList } from '../../components/FieldList.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { formatDate, formatDateAndTime } from '../../formatting/dates.ts';
import { texts as shared } from '../../language/texts.ts';
import { texts } from './texts.ts';

/** Card with the fields of the signed-in account, read-only. */
export function AccountCard() {
  const profile = useProfile();

  return (
    <Panel title={texts.account}>
      {profile.isPending && <Loading label={shared.loading} />}
      {profile.isLoadingError && (
        <LoadFailed
          message={texts.loadFailed}
          reason={profile.error.message}
          onRetry={() => void profile.refetch()}
        />
      )}
      {profile.data && (
        <FieldList
          fields={[
            [shared.uid, profile.data.uid],
            [shared.email, profile.data.email],
            [shared.displayName, profile.data.displayName ?? shared.notGiven],
            [shared.status, <StatusBadge key="status" status={profile.data.status} />],
            [shared.role, <RoleBadge key="role" role={profile.data.role} />],
            [shared.createdAt, formatDate(profile.data.createdAt)],
            [shared.updatedAt, formatDate(profile.data.updatedAt)],
            ...(profile.data.adminApproved
              ? [[shared.approvalDate, formatDate(profile.data.approvalDate)] as const]
              : []),
            ...(profile.data.expiresAt !== null
              ? [[shared.expiresAt, formatDateAndTime(profile.data.expiresAt)] as const]
              : []),
          ]}
        />
      )}
    </Panel>
  );
}
