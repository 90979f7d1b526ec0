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
  /** Accounts that may belong to the same person, for example because of the same name. */
  readonly duplicates: readonly LikelyDuplicate[];
  readonly isSelected: boolean;
  readonly onSelect: (isSelected: boolean) => void;
  /** Disables the buttons. The parent sets it for 700 ms after rows have moved, because a click could hit the wrong row. */
  readonly isDisabled: boolean;
  /** Whether the call that approves the applicant is running. */
  readonly isApproving: boolean;
  /** @param rowHeight in CSS pixels; the row that replaces this one gets the same height */
  readonly onApprove: (rowHeight: number) => void;
  /** Opens the dialog in which the role, the datasets and the end date are chosen. */
  readonly onOpenApproveDialog: () => void;
  readonly onOpenRejectDialog: () => void;
}

/**
 * Row of one applicant (a user whose account waits for approval) with name, institution, purpose, likely duplicates, and buttons that
 * approve or reject. The row renders again only when its data or state changes. `isSameRow` ignores new handler functions, because the
 * handlers of all renderings do the same.
 */
export const ApplicationRow = memo(function ApplicationRow({
  user,
  duplicates,
  isSelected,
  onSelect,
  isDisabled,
  isApproving,
  onApprove,
  onOpenApproveDialog,
  onOpenRejectDialog,
}: ApplicationRowProps) {
  const row = useRef<HTMLLIElement>(null);
  const name = nameOf(user);
  // What the applicant wrote when registering; null when the field was left empty.
  const statements = [
    [texts.affiliation, user.affiliation],
    [texts.purpose, user.purpose],
  ] as const;

  return (
    <li className={classes.row} ref={row}>
      <Checkbox
        mt={4}
        checked={isSelected}
        aria-label={texts.selectPerson(name)}
        onChange={(event) => onSelect(event.currentTarget.checked)}
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
        {statements.some(([, text]) => text !== null) && (
          <dl className={classes.statements}>
            {statements.map(
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
            color="eosin" // the theme's rose, named after the stain
            variant="default"
            className={classes.duplicatesAlert ?? ''}
            icon={<IconAlertTriangle aria-hidden />}
            title={texts.duplicates}
          >
            <ul className={classes.bulletList}>
              {duplicates.map((duplicate) => (
                <li key={duplicate.uid}>
                  {nameOf(duplicate)}
                  {nameOf(duplicate) === duplicate.email ? '' : ` (${duplicate.email})`}:{' '}
                  {texts.likeness[duplicate.why]}, {statusLabel(duplicate.status)}
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
          <Button
            size="sm"
            variant="default"
            disabled={isApproving || isDisabled}
            onClick={onOpenApproveDialog}
          >
            {texts.approveWith}
          </Button>
          <Button
            size="sm"
            variant="default"
            disabled={isApproving || isDisabled}
            onClick={onOpenRejectDialog}
          >
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
    before.isSelected === after.isSelected &&
    before.isDisabled === after.isDisabled &&
    before.isApproving === after.isApproving
  );
}
