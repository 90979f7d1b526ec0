import type { LikelyDuplicate, UserDetails } from '@lamina/contract';
import { Alert, Button, Checkbox, Group, Text, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { announce } from '../../announce.ts';
import { approve } from '../../api/users.ts';
import { formatDateAndTime } from '../../dates.ts';
import { nameOf } from '../../person.ts';
import { statusLabel } from '../../texts.ts';
import classes from './Applications.module.css';
import { texts } from './texts.ts';

interface ApplicationRowProps {
  readonly user: UserDetails;
  readonly duplicates: readonly LikelyDuplicate[];
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
  readonly onApproveWith: () => void;
  readonly onReject: () => void;
}

/** One application: who it is, what they say, whom they resemble, and the decision. */
export function ApplicationRow({
  user,
  duplicates,
  isChosen,
  onChoose,
  onApproveWith,
  onReject,
}: ApplicationRowProps) {
  const approval = useMutation({ mutationFn: () => approve(user.uid, 'user'), onSuccess: announce });
  const name = nameOf(user);
  const said = [
    [texts.affiliation, user.affiliation],
    [texts.purpose, user.purpose],
  ] as const;

  return (
    <li className={classes.row}>
      <Checkbox
        mt={4}
        checked={isChosen}
        aria-label={texts.choose(name)}
        onChange={(event) => onChoose(event.currentTarget.checked)}
      />
      <div className={classes.rowBody}>
        <div>
          <Title order={3} size="h5">
            {name}
          </Title>
          <Text c="dimmed" size="sm">
            {name === user.email ? '' : `${user.email} · `}
            {formatDateAndTime(user.createdAt)}
          </Text>
        </div>
        {said.some(([, text]) => text !== null) && (
          <dl className={classes.said}>
            {said.map(
              ([label, text]) =>
                text !== null && (
                  <div key={label}>
                    <dt>{label}</dt>
                    <dd>{text}</dd>
                  </div>
                ),
            )}
          </dl>
        )}
        {duplicates.length > 0 && (
          <Alert
            color="eosin"
            variant="default"
            className={classes.alike ?? ''}
            icon={<IconAlertTriangle aria-hidden />}
            title={texts.duplicates}
          >
            <ul className={classes.duplicates}>
              {duplicates.map((other) => (
                <li key={other.uid}>
                  {nameOf(other)}
                  {nameOf(other) === other.email ? '' : ` (${other.email})`}: {texts.likeness[other.why]},{' '}
                  {statusLabel(other.status)}
                </li>
              ))}
            </ul>
          </Alert>
        )}
        <Group gap="xs">
          <Button size="sm" loading={approval.isPending} onClick={() => approval.mutate()}>
            {texts.approve}
          </Button>
          <Button size="sm" variant="default" disabled={approval.isPending} onClick={onApproveWith}>
            {texts.approveWith}
          </Button>
          <Button size="sm" variant="default" disabled={approval.isPending} onClick={onReject}>
            {texts.reject}
          </Button>
        </Group>
      </div>
    </li>
  );
}
