import type { Dataset } from '@lamina/contract';
import { Badge, Button, Group, Switch, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import {
  grantAccess,
  revokeAccess,
  setDatasetAccess,
  setDatasetListed,
  setDatasetSharing,
} from '../../api/datasets.ts';
import { announceAction } from '../../components/announce-action.tsx';
import { useSettled } from '../../components/use-settled.ts';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { nameOf } from '../../formatting/person.ts';
import type { ActionResult } from '../../notifications/action-result.ts';
import { AddPerson } from './AddPerson.tsx';
import classes from './DatasetManagement.module.css';
import { DatasetRequestItem } from './DatasetRequestItem.tsx';
import { OriginalDownloads } from './OriginalDownloads.tsx';
import { texts } from './texts.ts';

/** A change of the dataset or of a person's right to it. A toast shows the result, with an undo button. */
interface DatasetAction {
  /** Name of the affected person; undefined when the action changes the dataset itself. */
  readonly about?: string;
  readonly run: () => Promise<ActionResult>;
  readonly undo: () => Promise<ActionResult>;
}

/**
 * Card of one dataset: who may view it, whether others see its name (`listed`), whether share links may open its slides
 * (`sharing`), grants, access requests, and downloads of original files. All members (approved users) may view an open
 * dataset; only administrators and people with a grant may view a restricted one.
 */
export function DatasetCard({ dataset }: { readonly dataset: Dataset }) {
  const { name, access, images: slideCount, grants, requests, listed: isListed, sharing: isShared } = dataset;
  const isRestricted = access === 'restricted';
  const runAction = useMutation({
    mutationFn: async ({ about, run, undo }: DatasetAction) =>
      announceAction(await run(), { about: about ?? name, undo }),
  });
  // When a row disappears, the next row moves under the pointer. The buttons of all rows are then disabled for 700 ms, so that the
  // second click of a double click has no effect.
  const isSettled = useSettled([...requests.map(({ id }) => id), ...grants.map(({ uid }) => uid)].join());

  return (
    <li className={classes.card}>
      <Group justify="space-between" gap="sm">
        <div className={classes.name}>
          <Title order={2} size="h4">
            {name}
          </Title>
          <Text c="dimmed" size="sm">
            {texts.slides(slideCount)}
          </Text>
        </div>
        <Badge color={isRestricted ? 'eosin' : 'haematoxylin'} variant="light" size="lg">
          {isRestricted ? texts.restricted : texts.open}
        </Badge>
      </Group>
      <Group gap="xl">
        <Switch
          label={texts.restrict}
          description={texts.restrictHint}
          checked={isRestricted}
          disabled={runAction.isPending}
          onChange={() =>
            runAction.mutate({
              run: () => setDatasetAccess(name, isRestricted ? 'open' : 'restricted', { isListed }),
              // The server switches sharing off when it restricts a dataset, so the undo must switch it on again.
              undo: () => setDatasetAccess(name, access, { isListed, ...(isShared && { isShared }) }),
            })
          }
        />
        {isRestricted && (
          <Switch
            label={texts.showName}
            description={texts.showNameHint}
            checked={isListed}
            disabled={runAction.isPending}
            onChange={() =>
              runAction.mutate({
                run: () => setDatasetListed(name, !isListed),
                undo: () => setDatasetListed(name, isListed),
              })
            }
          />
        )}
        <Switch
          label={texts.share}
          description={texts.shareHint}
          checked={isShared}
          disabled={runAction.isPending}
          onChange={() =>
            runAction.mutate({
              run: () => setDatasetSharing(name, !isShared),
              undo: () => setDatasetSharing(name, isShared),
            })
          }
        />
      </Group>
      {isRestricted && requests.length > 0 && (
        <section className={classes.section} aria-label={texts.requests}>
          <Title order={3} size="h6">
            {texts.requests}
          </Title>
          <ul className={classes.people}>
            {requests.map((request) => (
              <DatasetRequestItem key={request.id} request={request} isDisabled={!isSettled} />
            ))}
          </ul>
        </section>
      )}
      {isRestricted && (
        <section className={classes.section} aria-label={texts.people}>
          <Title order={3} size="h6">
            {texts.people}
          </Title>
          <Text size="sm" c="dimmed">
            {grants.length === 0 ? texts.adminsOnly : texts.adminsSeeAll}
          </Text>
          <ul className={classes.people}>
            {grants.map((person) => (
              <li key={person.uid} className={classes.person}>
                <div>
                  <Text>{nameOf(person)}</Text>
                  <Text size="sm" c="dimmed">
                    {nameOf(person) === person.email ? '' : `${person.email} · `}
                    {formatDateAndTime(person.at)}
                  </Text>
                </div>
                <Button
                  size="xs"
                  variant="default"
                  disabled={runAction.isPending || !isSettled}
                  aria-label={texts.revokeFrom(nameOf(person))}
                  onClick={() =>
                    runAction.mutate({
                      about: nameOf(person),
                      run: () => revokeAccess(name, person.uid),
                      undo: () => grantAccess(name, person.uid, person.download), // also restores the right to download
                    })
                  }
                >
                  {texts.revoke}
                </Button>
              </li>
            ))}
          </ul>
          <AddPerson
            fieldLabel={texts.person}
            buttonLabel={texts.grant}
            // Administrators may view every dataset without a grant.
            isCandidate={({ uid, role }) =>
              role !== 'admin' && !grants.some((granted) => granted.uid === uid)
            }
            add={(uid) => grantAccess(name, uid)}
          />
        </section>
      )}
      <OriginalDownloads
        dataset={dataset}
        isPending={runAction.isPending}
        isSettled={isSettled}
        runAction={runAction.mutate}
      />
    </li>
  );
}
