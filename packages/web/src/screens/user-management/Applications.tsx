import { applicationsDefaultLimit, applicationsMaxLimit, type UserDetails } from '@lamina/contract';
import { Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { messageOf } from '../../api/client.ts';
import { approve, useApplications, withdrawApproval } from '../../api/users.ts';
import { announceAction } from '../../components/announce-action.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { ListToolbar } from '../../components/ListToolbar.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { useSettled } from '../../components/use-settled.ts';
import { nameOf } from '../../formatting/person.ts';
import { ApplicationRow } from './ApplicationRow.tsx';
import classes from './Applications.module.css';
import { ApproveDialog } from './ApproveDialog.tsx';
import { DecidedRow } from './DecidedRow.tsx';
import { RejectDialog } from './RejectDialog.tsx';
import { texts } from './texts.ts';
import { useQueueRows } from './use-queue-rows.ts';
import { searchParameter, viewParameter } from './user-address.ts';

/** The loaded applicants, the number of all waiting applicants, and the number of applicants who match the search. */
type Queue = NonNullable<ReturnType<typeof useApplications>['data']>;

/** Returns the number of applicants who match the search. A response without `total` means that all waiting applicants match. */
const countMatching = ({ total, waiting }: Queue) => total ?? waiting;

/**
 * The queue of applicants (people whose accounts wait for approval) in the user management. Administrators search the queue, and approve or
 * reject one or several applicants.
 */
export function Applications() {
  const [urlQuery, setUrlQuery] = useSearchParams();
  const search = urlQuery.get(searchParameter)?.trim() ?? '';
  /** Number of applicants to load; the button below the list raises it. */
  const [limit, setLimit] = useState(applicationsDefaultLimit);
  const queue = useApplications(search, limit);
  const setSearch = (text: string) =>
    setUrlQuery(
      { [viewParameter]: 'waiting', ...(text !== '' && { [searchParameter]: text }) },
      { replace: true },
    );

  return (
    <Panel title={texts.queueTitle}>
      <ListToolbar
        searchLabel={texts.search}
        searchHint={texts.searchHint}
        search={search}
        onSearch={setSearch}
        countText={
          queue.data === undefined
            ? null
            : texts.applicantCount(countMatching(queue.data), queue.data.waiting)
        }
        onClear={search === '' ? null : () => setSearch('')}
      />
      {queue.isPending && <Loading label={texts.queueLoading} />}
      {queue.isLoadingError && (
        <LoadFailed
          message={messageOf(queue.error, texts.queueFailed)}
          onRetry={() => void queue.refetch()}
        />
      )}
      {queue.data !== undefined && (
        <ApplicantList
          key={search} // a new search starts without selected applicants and without rows of decided applicants
          queue={queue.data}
          isSearch={search !== ''}
          isLoadingMore={queue.isPlaceholderData}
          onMore={
            limit < applicationsMaxLimit
              ? () => setLimit(Math.min(limit + applicationsDefaultLimit, applicationsMaxLimit))
              : null
          }
        />
      )}
    </Panel>
  );
}

/** The open dialog, and the applicants about whom it decides. */
interface DecisionDialog {
  readonly kind: 'approve' | 'reject';
  readonly applicants: readonly UserDetails[];
}

interface ApplicantListProps {
  readonly queue: Queue;
  /** Whether the queue contains only the applicants who match a search. */
  readonly isSearch: boolean;
  readonly isLoadingMore: boolean;
  /** Null when the maximum number of applicants is loaded. */
  readonly onMore: (() => void) | null;
}

function ApplicantList({ queue, isSearch, isLoadingMore, onMore }: ApplicantListProps) {
  const { applications } = queue;
  const matchingCount = countMatching(queue);
  const [selectedUids, setSelectedUids] = useState<ReadonlySet<string>>(new Set());
  /** Null while no dialog is open. */
  const [dialog, setDialog] = useState<DecisionDialog | null>(null);
  const applicants = applications.map(({ user }) => user);
  // When another administrator decides about an applicant, `applicants` no longer contains the applicant, and neither does the selection.
  const selectedApplicants = applicants.filter(({ uid }) => selectedUids.has(uid));

  const select = (uid: string, isSelected: boolean) =>
    setSelectedUids((before) => {
      const next = new Set(before);
      if (isSelected) next.add(uid);
      else next.delete(uid);
      return next;
    });
  const closeDialog = () => setDialog(null);

  const list = useRef<HTMLUListElement>(null);
  // `keepRow` keeps the row of a decided applicant in its place, so that the rows below do not move under the pointer.
  const { rows, keepRow, releaseRow } = useQueueRows(applications, list);
  // The buttons are disabled for 700 ms after rows have moved or a dialog has opened or closed, because a click could hit the wrong button.
  const isSettled = useSettled(`${rows.map(({ user }) => user.uid).join()} ${dialog === null}`);

  async function undoApproval(user: UserDetails, rowHeight: number) {
    const result = await withdrawApproval(user.uid);
    if (result.success) keepRow(user.uid, 'withdrawn', rowHeight);
    return result;
  }

  async function approveOne(user: UserDetails, rowHeight: number) {
    keepRow(user.uid, 'approving', rowHeight);
    const result = await approve(user.uid, 'user'); // 'user' is the role; the dialog offers other roles
    if (result.success) keepRow(user.uid, 'approved', rowHeight);
    else releaseRow(user.uid);
    announceAction(result, { about: nameOf(user), undo: () => undoApproval(user, rowHeight) });
  }

  return (
    <>
      {rows.length === 0 ? (
        <EmptyState
          title={isSearch ? texts.noApplicantMatch : texts.noApplications}
          {...(!isSearch && { hint: texts.noApplicationsHint })}
        />
      ) : (
        <Stack gap="md">
          {matchingCount > applicants.length && (
            <Text c="dimmed">{texts.notAllShown(applicants.length, matchingCount)}</Text>
          )}
          <Group justify="space-between" className={classes.bar}>
            <Checkbox
              label={
                selectedApplicants.length === 0
                  ? texts.selectAll
                  : texts.selectedCount(selectedApplicants.length)
              }
              checked={applicants.length > 0 && selectedApplicants.length === applicants.length}
              indeterminate={selectedApplicants.length > 0 && selectedApplicants.length < applicants.length}
              onChange={() =>
                setSelectedUids(
                  new Set(
                    selectedApplicants.length === applicants.length ? [] : applicants.map(({ uid }) => uid),
                  ),
                )
              }
            />
            <Group gap="xs">
              <Button
                size="sm"
                disabled={selectedApplicants.length === 0 || !isSettled}
                leftSection={<IconCheck size={18} aria-hidden />}
                onClick={() => setDialog({ kind: 'approve', applicants: selectedApplicants })}
              >
                {texts.approveSelected}
              </Button>
              <Button
                size="sm"
                variant="default"
                disabled={selectedApplicants.length === 0 || !isSettled}
                leftSection={<IconX size={18} aria-hidden />}
                onClick={() => setDialog({ kind: 'reject', applicants: selectedApplicants })}
              >
                {texts.rejectSelected}
              </Button>
            </Group>
          </Group>
          <ul className={classes.list} ref={list}>
            {rows.map(({ user, duplicates, isApproving, decision }) =>
              decision !== null ? (
                <DecidedRow
                  key={user.uid}
                  user={user}
                  decision={decision}
                  onUndo={async () =>
                    announceAction(await undoApproval(user, decision.height), { about: nameOf(user) })
                  }
                />
              ) : (
                <ApplicationRow
                  key={user.uid}
                  user={user}
                  duplicates={duplicates}
                  isSelected={selectedUids.has(user.uid)}
                  onSelect={(isSelected) => select(user.uid, isSelected)}
                  isDisabled={!isSettled}
                  isApproving={isApproving}
                  onApprove={(rowHeight) => void approveOne(user, rowHeight)}
                  onOpenApproveDialog={() => setDialog({ kind: 'approve', applicants: [user] })}
                  onOpenRejectDialog={() => setDialog({ kind: 'reject', applicants: [user] })}
                />
              ),
            )}
          </ul>
          {matchingCount > applicants.length && onMore !== null && (
            <Button variant="default" className={classes.more} loading={isLoadingMore} onClick={onMore}>
              {texts.showMore}
            </Button>
          )}
        </Stack>
      )}
      {dialog?.kind === 'approve' && <ApproveDialog applicants={dialog.applicants} onClose={closeDialog} />}
      {dialog?.kind === 'reject' && <RejectDialog applicants={dialog.applicants} onClose={closeDialog} />}
    </>
  );
}
