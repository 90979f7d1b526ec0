import type { UserDetails } from '@lamina/contract';
import { Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { messageOf } from '../../api/client.ts';
import { useApplications } from '../../api/users.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { ApplicationRow } from './ApplicationRow.tsx';
import classes from './Applications.module.css';
import { ApproveDialog } from './ApproveDialog.tsx';
import { RejectDialog } from './RejectDialog.tsx';
import { texts } from './texts.ts';

type Queue = NonNullable<ReturnType<typeof useApplications>['data']>;

/** Who waits for approval: decided one by one, or several at once. */
export function Applications() {
  const queue = useApplications();
  return (
    <Panel title={texts.queueTitle}>
      {queue.isPending ? (
        <Loading label={texts.queueLoading} />
      ) : queue.isError ? (
        <LoadFailed
          message={messageOf(queue.error, texts.queueFailed)}
          onRetry={() => void queue.refetch()}
        />
      ) : (
        <Waiting queue={queue.data} />
      )}
    </Panel>
  );
}

/** What is being decided, about whom. */
interface Decision {
  readonly kind: 'approve' | 'reject';
  readonly people: readonly UserDetails[];
}

function Waiting({ queue: { applications, waiting } }: { readonly queue: Queue }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [decision, setDecision] = useState<Decision | null>(null);
  const people = applications.map(({ user }) => user);
  const selected = people.filter(({ uid }) => chosen.has(uid)); // who has been decided meanwhile is not among them

  const choose = (uid: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(uid);
    else next.delete(uid);
    setChosen(next);
  };
  const close = () => setDecision(null);

  return (
    <>
      {people.length === 0 ? (
        <Text c="dimmed">{texts.nobodyWaits}</Text>
      ) : (
        <Stack gap="md">
          {waiting > people.length && <Text c="dimmed">{texts.notAllShown(people.length, waiting)}</Text>}
          <Group justify="space-between" className={classes.bar}>
            <Checkbox
              label={selected.length === 0 ? texts.chooseAll : texts.chosen(selected.length)}
              checked={selected.length === people.length}
              indeterminate={selected.length > 0 && selected.length < people.length}
              onChange={() =>
                setChosen(new Set(selected.length === people.length ? [] : people.map(({ uid }) => uid)))
              }
            />
            <Group gap="xs">
              <Button
                size="sm"
                disabled={selected.length === 0}
                leftSection={<IconCheck size={18} aria-hidden />}
                onClick={() => setDecision({ kind: 'approve', people: selected })}
              >
                {texts.approveChosen}
              </Button>
              <Button
                size="sm"
                variant="default"
                disabled={selected.length === 0}
                leftSection={<IconX size={18} aria-hidden />}
                onClick={() => setDecision({ kind: 'reject', people: selected })}
              >
                {texts.rejectChosen}
              </Button>
            </Group>
          </Group>
          <ul className={classes.list}>
            {applications.map(({ user, duplicates }) => (
              <ApplicationRow
                key={user.uid}
                user={user}
                duplicates={duplicates}
                isChosen={chosen.has(user.uid)}
                onChoose={(isChosen) => choose(user.uid, isChosen)}
                onApproveWith={() => setDecision({ kind: 'approve', people: [user] })}
                onReject={() => setDecision({ kind: 'reject', people: [user] })}
              />
            ))}
          </ul>
        </Stack>
      )}
      {decision?.kind === 'approve' && <ApproveDialog people={decision.people} onClose={close} />}
      {decision?.kind === 'reject' && <RejectDialog people={decision.people} onClose={close} />}
    </>
  );
}
