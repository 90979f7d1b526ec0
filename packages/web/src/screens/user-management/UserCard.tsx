import type { UserDetails } from '@lamina/contract';
import { Avatar, Button, Group, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { memo, type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import { useAuth } from '../../api/auth-state.ts';
import { RoleBadge, StatusBadge } from '../../components/AccountBadge.tsx';
import { announceAction } from '../../components/announce-action.tsx';
import { useSettled } from '../../components/use-settled.ts';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { initialsOf, nameOf } from '../../formatting/person.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import { AccessDialog } from './AccessDialog.tsx';
import { actionsOf, type UserAction } from './actions-of.ts';
import { DeactivateDialog } from './DeactivateDialog.tsx';
import { RejectDialog } from './RejectDialog.tsx';
import { RemoveSecondFactorDialog } from './RemoveSecondFactorDialog.tsx';
import { RoleDialog } from './RoleDialog.tsx';
import { SetPasswordDialog } from './SetPasswordDialog.tsx';
import { texts } from './texts.ts';
import classes from './UserCard.module.css';

interface UserCardProps {
  readonly user: UserDetails;
}

type CardDialog = 'access' | 'role' | 'reject' | 'password' | 'deactivate' | 'second-factor';

/** Card of one account in the user management, with its fields and actions. In a wide window, the style sheet turns the card into a row. */
export const UserCard = memo(function UserCard({ user }: UserCardProps) {
  const isOwn = useAuth().user?.uid === user.uid;
  const [dialog, setDialog] = useState<CardDialog | null>(null);
  const closeDialog = () => setDialog(null);
  const runAction = useMutation({
    mutationFn: async ({ run, undo }: UserAction) => {
      const result = await run(user.uid);
      announceAction(result, { about: nameOf(user), ...(undo && { undo: () => undo(user) }) });
    },
  });
  // After an action, another button may be under the pointer. All buttons are disabled for 700 ms, so that a double click has no effect.
  const isSettled = useSettled(`${user.status} ${user.role}`);
  const isDisabled = runAction.isPending || !isSettled;

  return (
    <li className={classes.card}>
      <Group gap="sm" wrap="nowrap" className={classes.person}>
        <Avatar color="haematoxylin" aria-hidden>
          {initialsOf(user)}
        </Avatar>
        <Title order={3} size="h5" className={classes.name}>
          {nameOf(user)}
        </Title>
      </Group>
      <dl className={classes.fields}>
        {fieldsOf(user).map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {isOwn && (
        <Text size="sm" c="dimmed" className={classes.own ?? ''}>
          {texts.ownAccount}
        </Text>
      )}
      <Group gap="xs" className={classes.actions}>
        {actionsOf(user, isOwn).map((action) => (
          <Button
            key={action.name}
            size="sm"
            variant={action.isMain ? 'filled' : 'default'}
            disabled={isDisabled}
            onClick={() =>
              action.opensDeactivateDialog ? setDialog('deactivate') : runAction.mutate(action)
            }
          >
            {texts[action.name]}
          </Button>
        ))}
        {user.status === 'pending' && (
          <Button size="sm" variant="default" disabled={isDisabled} onClick={() => setDialog('reject')}>
            {texts.reject}
          </Button>
        )}
        {user.status === 'active' && !isOwn && (
          <Button size="sm" variant="default" disabled={isDisabled} onClick={() => setDialog('role')}>
            {texts.changeRole}
          </Button>
        )}
        {/* Administrators see every dataset and have no end date. */}
        {user.status === 'active' && user.role !== 'admin' && (
          <Button size="sm" variant="default" disabled={isDisabled} onClick={() => setDialog('access')}>
            {texts.editAccess}
          </Button>
        )}
        {user.status !== 'deactivated' && (
          <Button size="sm" variant="default" disabled={isDisabled} onClick={() => setDialog('password')}>
            {texts.setPassword}
          </Button>
        )}
        {user.secondFactor && (
          <Button
            size="sm"
            variant="default"
            disabled={isDisabled}
            onClick={() => setDialog('second-factor')}
          >
            {texts.removeSecondFactor}
          </Button>
        )}
        <Button
          component={Link}
          to={`/admin/audit?who=${encodeURIComponent(user.uid)}`}
          size="sm"
          variant="subtle"
        >
          {texts.auditRecords}
        </Button>
      </Group>
      {dialog === 'access' && <AccessDialog user={user} onClose={closeDialog} />}
      {dialog === 'role' && <RoleDialog user={user} onClose={closeDialog} />}
      {dialog === 'reject' && <RejectDialog applicants={[user]} onClose={closeDialog} />}
      {dialog === 'password' && <SetPasswordDialog user={user} onClose={closeDialog} />}
      {dialog === 'deactivate' && <DeactivateDialog user={user} onClose={closeDialog} />}
      {dialog === 'second-factor' && <RemoveSecondFactorDialog user={user} onClose={closeDialog} />}
    </li>
  );
});

function fieldsOf(user: UserDetails): readonly (readonly [label: string, value: ReactNode])[] {
  return [
    [sharedTexts.email, user.email],
    [sharedTexts.displayName, user.displayName ?? sharedTexts.notGiven],
    [sharedTexts.status, <StatusBadge key="status" status={user.status} />],
    [sharedTexts.role, <RoleBadge key="role" role={user.role} />],
    [texts.adminApproved, user.adminApproved ? texts.yes : texts.no],
    [sharedTexts.createdAt, formatDateAndTime(user.createdAt)],
    [sharedTexts.updatedAt, formatDateAndTime(user.updatedAt)],
    [sharedTexts.approvalDate, formatDateAndTime(user.approvalDate)],
    ...nonEmpty([
      [texts.expiresAt, user.expiresAt && formatDateAndTime(user.expiresAt)],
      [texts.affiliation, user.affiliation],
      [texts.purpose, user.purpose],
      [texts.decisionReason, user.decisionReason],
      [texts.datasets, user.datasets.join(', ')],
    ]),
    [sharedTexts.uid, user.uid],
  ];
}

/** Returns only the fields that have a value. */
function nonEmpty(fields: readonly (readonly [label: string, value: string | null])[]) {
  return fields.flatMap(([label, value]) => (value ? [[label, value] as const] : []));
}
