import { applicationsAtOnce, applicationsMaxLimit, type UserDetails } from '@lamina/contract';
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
import { usePlaces } from './use-places.ts';
import { searchParameter, viewParameter } from './user-address.ts';

type Queue = NonNullable<ReturnType<typeof useApplications>['data']>;

/** The queue of applicants: search, and decisions about one or several of them. */
export function Applications() {
  const [address, setAddress] = useSearchParams();
  const search = address.get(searchParameter)?.trim() ?? '';
  const [limit, setLimit] = useState(applicationsAtOnce);
  const queue = useApplications(search, limit);
  const find = (text: string) =>
    setAddress(
      { [viewParameter]: 'waiting', ...(text !== '' && { [searchParameter]: text }) },
      { replace: true },
    );

  return (
    <Panel title={texts.queueTitle}>
      <ListToolbar
        searchLabel={texts.search}
        searchHint={texts.searchHint}
        search={search}
        onSearch={find}
        count={
          queue.data === undefined
            ? null
            : texts.applicantCount(queue.data.total ?? queue.data.waiting, queue.data.waiting)
        }
        onClear={search === '' ? null : () => find('')}
      />
      {queue.isPending ? (
        <Loading label={texts.queueLoading} />
      ) : queue.isError ? (
        <LoadFailed
          message={messageOf(queue.error, texts.queueFailed)}
          onRetry={() => void queue.refetch()}
        />
      ) : (
        <Waiting
          key={search}
          queue={queue.data}
          isSearch={search !== ''}
          isLoadingMore={queue.isPlaceholderData}
          onMore={
            limit < applicationsMaxLimit
              ? () => setLimit(Math.min(limit + applicationsAtOnce, applicationsMaxLimit))
              : null
          }
        />
      )}
    </Panel>
  );
}

/** The decision of the open dialog. */
interface Decision {
  readonly kind: 'approve' | 'reject';
  readonly people: readonly UserDetails[];
}

interface WaitingProps {
  readonly queue: Queue;
  readonly isSearch: boolean;
  readonly isLoadingMore: boolean;
  /** Null when no more can be loaded at once. */
  readonly onMore: (() => void) | null;
}

function Waiting({ queue, isSearch, isLoadingMore, onMore }: WaitingProps) {
  const { applications, waiting, total = waiting } = queue;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [decision, setDecision] = useState<Decision | null>(null);
  const people = applications.map(({ user }) => user);
  const selected = people.filter(({ uid }) => chosen.has(uid)); // without those decided meanwhile

  const choose = (uid: string, isChosen: boolean) =>
    setChosen((before) => {
      const next = new Set(before);
      if (isChosen) next.add(uid);
      else next.delete(uid);
      return next;
    });
  const close = () => setDecision(null);

  const list = useRef<HTMLUListElement>(null);
  const { places, hold, release } = usePlaces(applications, list);
  const [approving, setApproving] = useState<ReadonlySet<string>>(new Set());
  // Rows move when another administrator decides, and a closing dialog may leave the pointer over a row.
  const isSettled = useSettled(`${places.map(({ user }) => user.uid).join()} ${decision === null}`);

  async function undoApproval(user: UserDetails, height: number) {
    const result = await withdrawApproval(user.uid);
    if (result.success) hold(user.uid, 'withdrawn', height);
    return result;
  }

  async function approveOne(user: UserDetails, height: number) {
    setApproving((before) => new Set([...before, user.uid]));
    hold(user.uid, 'approving', height);
    const result = await approve(user.uid, 'user');
    setApproving((before) => new Set([...before].filter((uid) => uid !== user.uid)));
    if (result.success) hold(user.uid, 'approved', height);
    else release(user.uid);
    announceAction(result, { about: nameOf(user), undo: () => undoApproval(user, height) });
  }

  return (
    <>
      {places.length === 0 ? (
        <EmptyState
          title={isSearch ? texts.noApplicantMatch : texts.noApplications}
          {...(!isSearch && { hint: texts.noApplicationsHint })}
        />
      ) : (
        <Stack gap="md">
          {total > people.length && <Text c="dimmed">{texts.notAllShown(people.length, total)}</Text>}
          <Group justify="space-between" className={classes.bar}>
            <Checkbox
              label={selected.length === 0 ? texts.chooseAll : texts.chosen(selected.length)}
              checked={people.length > 0 && selected.length === people.length}
              indeterminate={selected.length > 0 && selected.length < people.length}
              onChange={() =>
                setChosen(new Set(selected.length === people.length ? [] : people.map(({ uid }) => uid)))
              }
            />
            <Group gap="xs">
              <Button
                size="sm"
                disabled={selected.length === 0 || !isSettled}
                leftSection={<IconCheck size={18} aria-hidden />}
                onClick={() => setDecision({ kind: 'approve', people: selected })}
              >
                {texts.approveChosen}
              </Button>
              <Button
                size="sm"
                variant="default"
                disabled={selected.length === 0 || !isSettled}
                leftSection={<IconX size={18} aria-hidden />}
                onClick={() => setDecision({ kind: 'reject', people: selected })}
              >
                {texts.rejectChosen}
              </Button>
            </Group>
          </Group>
          <ul className={classes.list} ref={list}>
            {places.map(({ user, duplicates, decided }) =>
              decided !== null ? (
                <DecidedRow
                  key={user.uid}
                  user={user}
                  decided={decided}
                  onUndo={async () =>
                    announceAction(await undoApproval(user, decided.height), { about: nameOf(user) })
                  }
                />
              ) : (
                <ApplicationRow
                  key={user.uid}
                  user={user}
                  duplicates={duplicates}
                  isChosen={chosen.has(user.uid)}
                  onChoose={(isChosen) => choose(user.uid, isChosen)}
                  isDisabled={!isSettled}
                  isApproving={approving.has(user.uid)}
                  onApprove={(height) => void approveOne(user, height)}
                  onApproveWith={() => setDecision({ kind: 'approve', people: [user] })}
                  onReject={() => setDecision({ kind: 'reject', people: [user] })}
                />
              ),
            )}
          </ul>
          {total > people.length && onMore !== null && (
            <Button variant="default" className={classes.more} loading={isLoadingMore} onClick={onMore}>
              {texts.showMore}
            </Button>
          )}
        </Stack>
      )}
      {decision?.kind === 'approve' && <ApproveDialog people={decision.people} onClose={close} />}
      {decision?.kind === 'reject' && <RejectDialog people={decision.people} onClose={close} />}
    </>
  );
}
