import type { User } from '@lamina/contract';
import { Button, Group, Select } from '@mantine/core';
import { useState } from 'react';
import { messageOf } from '../../api/client.ts';
import { useAllUsers } from '../../api/users.ts';
import { OptionsFailed } from '../../components/OptionsFailed.tsx';
import { nameOf } from '../../formatting/person.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import type { ActionResult } from '../../notifications/action-result.ts';
import { announce } from '../../notifications/notify.ts';
import classes from './DatasetManagement.module.css';
import { texts } from './texts.ts';

interface AddPersonProps {
  readonly fieldLabel: string;
  readonly buttonLabel: string;
  /** Returns whether the field offers this account; inactive accounts are never offered. */
  readonly isCandidate: (user: Pick<User, 'uid' | 'role'>) => boolean;
  /** Grants the right to the dataset to this account. */
  readonly add: (uid: string) => Promise<ActionResult>;
}

/** Field and button with which an administrator grants another user a right to a dataset: to view it, or to download its files. */
export function AddPerson({ fieldLabel, buttonLabel, isCandidate, add }: AddPersonProps) {
  const users = useAllUsers();
  const [chosenUid, setChosenUid] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);
  const options = (users.data ?? [])
    .filter((user) => user.status === 'active' && isCandidate(user))
    .map((user) => ({
      value: user.uid,
      label: nameOf(user) === user.email ? user.email : `${nameOf(user)} (${user.email})`,
    }));

  async function addPerson(uid: string) {
    setRunning(true);
    const result = await add(uid);
    setRunning(false);
    announce(result);
    if (result.success) setChosenUid(null);
  }

  return (
    <Group gap="xs" align="flex-end">
      <Select
        className={classes.personField ?? ''}
        label={fieldLabel}
        placeholder={texts.personHint}
        nothingFoundMessage={users.data === undefined ? sharedTexts.loading : texts.noAccountFound}
        error={
          users.isLoadingError && (
            <OptionsFailed
              message={messageOf(users.error, texts.accountsFailed)}
              onRetry={() => void users.refetch()}
            />
          )
        }
        data={options}
        value={chosenUid}
        onChange={setChosenUid}
        searchable
        clearable
        limit={50} // suggestions shown at a time
      />
      <Button
        variant="default"
        disabled={chosenUid === null}
        loading={isRunning}
        onClick={() => chosenUid !== null && void addPerson(chosenUid)}
      >
        {buttonLabel}
      </Button>
    </Group>
  );
}
