import type { LikelyDuplicate, UserDetails } from '@lamina/contract';
import { Alert, Button, Checkbox, Group, Text, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { memo, useRef } from 'react';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { nameOf } from '../../formatting/person.ts';
import { statusLabel } from '../../language/texts.ts';
import classes from './Applications.module.css';
import { texts } from './texts.ts';

interface ApplicationRowProps {
  readonly user: UserDetails;
  readonly duplicates: readonly LikelyDuplicate[];
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
  /** The row keeps its place while the buttons are disabled, such as after a change of the list. */
  readonly isDisabled: boolean;
  /** The approval is on its way. */
  readonly isApproving: boolean;
  /** @param height of the row, in pixels */
  readonly onApprove: (height: number) => void;
  readonly onApproveWith: () => void;
  readonly onReject: () => void;
}

/**
 * One application: person, institution and purpose, likely duplicates, and the decision. Rendered again only when its data
 * or its state changes: the handlers of the list work the same in every render.
 */
export const ApplicationRow = memo(function ApplicationRow({
  user,
  duplicates,
  isChosen,
  onChoose,
  isDisabled,
  isApproving,
  onApprove,
  onApproveWith,
  onReject,
}: ApplicationRowProps) {
  const row = useRef<HTMLLIElement>(null);
  const name = nameOf(user);
  const said = [
    [texts.affiliation, user.affiliation],
    [texts.purpose, user.purpose],
  ] as const;

  return (
    <li className={classes.row} ref={row}>
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
        <Group gap="xs" className={classes.actions ?? ''}>
          <Button
            size="sm"
            loading={isApproving}
            disabled={isDisabled}
            onClick={() => onApprove(row.current?.offsetHeight ?? 0)}
          >
            {texts.approve}
          </Button>
          <Button size="sm" variant="default" disabled={isApproving || isDisabled} onClick={onApproveWith}>
            {texts.approveWith}
          </Button>
          <Button size="sm" variant="default" disabled={isApproving || isDisabled} onClick={onReject}>
            {texts.reject}
          </Button>
        </Group>
      </div>
    </li>
  );
}, isSameRow);

function isSameRow(before: ApplicationRowProps, after: ApplicationRowProps): boolean {
  return (
    before.user === after.user &&
    before.duplicates === after.duplicates &&
    before.isChosen === after.isChosen &&
    before.isDisabled === after.isDisabled &&
    before.isApproving === after.isApproving
  );
}
