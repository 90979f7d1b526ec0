import type { Dataset } from '@lamina/contract';
import { Button, Group, Select } from '@mantine/core';
import { useState } from 'react';
import { announce } from '../../announce.ts';
import { grant } from '../../api/datasets.ts';
import { useUsers } from '../../api/users.ts';
import { nameOf } from '../../person.ts';
import classes from './DatasetManagement.module.css';
import { texts } from './texts.ts';

/** Lets one more person see a restricted dataset. */
export function GrantAccess({ dataset: { name, grants } }: { readonly dataset: Dataset }) {
  const users = useUsers().data ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);
  const granted = new Set(grants.map(({ uid }) => uid));
  const people = users
    .filter(({ uid, status, role }) => status === 'active' && role !== 'admin' && !granted.has(uid))
    .map((user) => ({
      value: user.uid,
      label: nameOf(user) === user.email ? user.email : `${nameOf(user)} (${user.email})`,
    }));

  async function give(uid: string) {
    setRunning(true);
    const result = await grant(name, uid);
    setRunning(false);
    announce(result);
    if (result.success) setChosen(null);
  }

  return (
    <Group gap="xs" align="flex-end">
      <Select
        className={classes.add ?? ''}
        label={texts.person}
        placeholder={texts.personHint}
        nothingFoundMessage={texts.nobodyFound}
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
        {texts.grant}
      </Button>
    </Group>
  );
}
