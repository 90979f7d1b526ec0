import type { Dataset } from '@lamina/contract';
import { Badge, Button, Group, Switch, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { announce } from '../../announce.ts';
import type { ActionResult } from '../../api/action-result.ts';
import { revoke, setDatasetAccess, setDatasetListed } from '../../api/datasets.ts';
import { formatDateAndTime } from '../../dates.ts';
import { nameOf } from '../../person.ts';
import classes from './DatasetManagement.module.css';
import { DatasetRequestItem } from './DatasetRequestItem.tsx';
import { GrantAccess } from './GrantAccess.tsx';
import { texts } from './texts.ts';

/** One dataset: whether it is open, who asks for it, and who may see it while it is not. */
export function DatasetCard({ dataset }: { readonly dataset: Dataset }) {
  const { name, access, listed, images, grants, requests } = dataset;
  const isRestricted = access === 'restricted';
  const action = useMutation({
    mutationFn: (run: () => Promise<ActionResult>) => run(),
    onSuccess: announce,
  });

  return (
    <li className={classes.card}>
      <Group justify="space-between" gap="sm">
        <div className={classes.name}>
          <Title order={2} size="h4">
            {name}
          </Title>
          <Text c="dimmed" size="sm">
            {texts.slides(images)}
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
          disabled={action.isPending}
          onChange={() =>
            action.mutate(() => setDatasetAccess(name, isRestricted ? 'open' : 'restricted', listed))
          }
        />
        {isRestricted && (
          <Switch
            label={texts.list}
            description={texts.listHint}
            checked={listed}
            disabled={action.isPending}
            onChange={() => action.mutate(() => setDatasetListed(name, !listed))}
          />
        )}
      </Group>
      {isRestricted && requests.length > 0 && (
        <section className={classes.part} aria-label={texts.requests}>
          <Title order={3} size="h6">
            {texts.requests}
          </Title>
          <ul className={classes.people}>
            {requests.map((request) => (
              <DatasetRequestItem key={request.id} request={request} />
            ))}
          </ul>
        </section>
      )}
      {isRestricted && (
        <section className={classes.part} aria-label={texts.people}>
          <Title order={3} size="h6">
            {texts.people}
          </Title>
          <Text size="sm" c="dimmed">
            {grants.length === 0 ? texts.nobody : texts.adminsToo}
          </Text>
          <ul className={classes.people}>
            {grants.map((grant) => (
              <li key={grant.uid} className={classes.person}>
                <div>
                  <Text>{nameOf(grant)}</Text>
                  <Text size="sm" c="dimmed">
                    {nameOf(grant) === grant.email ? '' : `${grant.email} · `}
                    {formatDateAndTime(grant.at)}
                  </Text>
                </div>
                <Button
                  size="xs"
                  variant="default"
                  disabled={action.isPending}
                  aria-label={texts.revokeFrom(nameOf(grant))}
                  onClick={() => action.mutate(() => revoke(name, grant.uid))}
                >
                  {texts.revoke}
                </Button>
              </li>
            ))}
          </ul>
          <GrantAccess dataset={dataset} />
        </section>
      )}
    </li>
  );
}
