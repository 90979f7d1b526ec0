import { useProfile } from '../../api/profile.ts';
import { RoleBadge, StatusBadge } from '../../components/AccountBadge.tsx';
import { FieldList } from '../../components/FieldList.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { formatDate, formatDateAndTime } from '../../formatting/dates.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import { texts } from './texts.ts';

/** Card of the profile with the fields of the signed-in account, read-only. */
export function AccountCard() {
  const profile = useProfile();

  return (
    <Panel title={texts.account}>
      {profile.isPending && <Loading label={sharedTexts.loading} />}
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
            [sharedTexts.uid, profile.data.uid],
            [sharedTexts.email, profile.data.email],
            [sharedTexts.displayName, profile.data.displayName ?? sharedTexts.notGiven],
            [sharedTexts.status, <StatusBadge key="status" status={profile.data.status} />],
            [sharedTexts.role, <RoleBadge key="role" role={profile.data.role} />],
            [sharedTexts.createdAt, formatDate(profile.data.createdAt)],
            [sharedTexts.updatedAt, formatDate(profile.data.updatedAt)],
            ...(profile.data.adminApproved
              ? [[sharedTexts.approvalDate, formatDate(profile.data.approvalDate)] as const]
              : []),
            ...(profile.data.expiresAt !== null
              ? [[sharedTexts.expiresAt, formatDateAndTime(profile.data.expiresAt)] as const]
              : []),
          ]}
        />
      )}
    </Panel>
  );
}
