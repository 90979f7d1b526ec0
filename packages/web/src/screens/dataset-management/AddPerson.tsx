import type { User } from '@lamina/contract';
import { Button, Group, Select } from '@mantine/core';
import { useState } from 'react';
import { useAllUsers } from '../../api/users.ts';
import { nameOf } from '../../formatting/person.ts';
import type { ActionResult } from '../../notifications/action-result.ts';
import { announce } from '../../notifications/notify.ts';
import classes from './DatasetManagement.module.css';
import { texts } from './texts.ts';

interface Props {
  /** Label of the field, and of the button. */
  readonly label: string;
  readonly action: string;
  /** Whether an active account can be chosen. */
  readonly isCandidate: (user: Pick<User, 'uid' | 'role'>) => boolean;
  readonly add: (uid: string) => Promise<ActionResult>;
}

/** Gives one more person a right to a dataset. */
export function AddPerson({ label, action, isCandidate, add }: Props) {
  const users = useAllUsers().data ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);
  const people = users
    .filter((user) => user.status === 'active' && isCandidate(user))
    .map((user) => ({
      value: user.uid,
      label: nameOf(user) === user.email ? user.email : `${nameOf(user)} (${user.email})`,
    }));

  async function give(uid: string) {
    setRunning(true);
    const result = await add(uid);
    setRunning(false);
    announce(result);
    if (result.success) setChosen(null);
  }

  return (
    <Group gap="xs" align="flex-end">
      <Select
        className={classes.add ?? ''}
        label={label}
        placeholder={texts.personHint}
        nothingFoundMessage={texts.noAccountFound}
        data={people}
        value={chosen}
        onChange={setChosen}
        searchable
        clearable
        limit={50}
      />
      <Button
        variant="default"
        disabled={chosen === null}
        loading={isRunning}
        onClick={() => chosen !== null && void give(chosen)}
      >
        {action}
      </Button>
    </Group>
  );
}
