import type { Dataset } from '@lamina/contract';
import { Alert, Button, Switch, Text, Title } from '@mantine/core';
import { setDownloadAllowed, setIdentifiableDownloads } from '../../api/datasets.ts';
import { nameOf } from '../../formatting/person.ts';
import type { ActionResult } from '../../notifications/action-result.ts';
import { AddPerson } from './AddPerson.tsx';
import classes from './DatasetManagement.module.css';
import { texts } from './texts.ts';

interface OriginalDownloadsProps {
  readonly dataset: Dataset;
  /** Whether an action on this dataset is running; the buttons of the dataset are disabled meanwhile. */
  readonly isPending: boolean;
  /** False for 700 ms after rows have moved, because a click could then hit the wrong row. */
  readonly isSettled: boolean;
  readonly runAction: (action: {
    /** Name of the affected person; omitted when the action changes the dataset itself. */
    readonly about?: string;
    readonly run: () => Promise<ActionResult>;
    readonly undo: () => Promise<ActionResult>;
  }) => void;
}

/**
 * Part of a dataset card: who may download original slide files, and whether these people may also download files from which identifiers of
 * patients cannot be removed.
 */
export function OriginalDownloads({ dataset, isPending, isSettled, runAction }: OriginalDownloadsProps) {
  const { name, grants, identifiable_originals: includesIdentifiable } = dataset;
  const downloaders = grants.filter(({ download }) => download);
  const downloaderUids = new Set(downloaders.map(({ uid }) => uid));
  return (
    <section className={classes.section} aria-label={texts.originalsOf(name)}>
      <Title order={3} size="h6">
        {texts.originals}
      </Title>
      <Text size="sm" c="dimmed">
        {texts.originalsHint} {downloaders.length === 0 && texts.noDownloaders}
      </Text>
      <ul className={classes.people}>
        {downloaders.map((person) => (
          <li key={person.uid} className={classes.person}>
            <div>
              <Text>{nameOf(person)}</Text>
              {nameOf(person) !== person.email && (
                <Text size="sm" c="dimmed">
                  {person.email}
                </Text>
              )}
            </div>
            <Button
              size="xs"
              variant="default"
              disabled={isPending || !isSettled}
              aria-label={texts.endDownloadOf(nameOf(person))}
              onClick={() =>
                runAction({
                  about: nameOf(person),
                  run: () => setDownloadAllowed(name, person.uid, false),
                  undo: () => setDownloadAllowed(name, person.uid, true),
                })
              }
            >
              {texts.revoke}
            </Button>
          </li>
        ))}
      </ul>
      <AddPerson
        fieldLabel={texts.downloader}
        buttonLabel={texts.allowDownload}
        // The role `viewer` may not download files; administrators need this permission like all others.
        isCandidate={({ uid, role }) => (role === 'user' || role === 'admin') && !downloaderUids.has(uid)}
        add={(uid) => setDownloadAllowed(name, uid, true)}
      />
      <Switch
        label={texts.identifiable}
        description={texts.identifiableHint}
        checked={includesIdentifiable}
        disabled={isPending}
        onChange={() =>
          runAction({
            run: () => setIdentifiableDownloads(name, !includesIdentifiable),
            undo: () => setIdentifiableDownloads(name, includesIdentifiable),
          })
        }
      />
      {includesIdentifiable && (
        <Alert color="eosin" variant="light">
          {texts.identifiableWarning}
        </Alert>
      )}
    </section>
  );
}
