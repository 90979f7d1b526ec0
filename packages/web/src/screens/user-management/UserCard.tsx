import type { UserDetails } from '@lamina/contract';
import { Avatar, Button, Group, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { Link } from 'react-router';
import { announce } from '../../announce.ts';
import type { ActionResult } from '../../api/action-result.ts';
import { removeSecondFactor } from '../../api/users.ts';
import { RoleBadge, StatusBadge } from '../../components/AccountBadge.tsx';
import { FieldList } from '../../components/FieldList.tsx';
import { formatDateAndTime } from '../../dates.ts';
import { initialsOf, nameOf } from '../../person.ts';
import { texts as shared } from '../../texts.ts';
import { AccessDialog } from './AccessDialog.tsx';
import { actionsOf } from './actions-of.ts';
import { SetPasswordDialog } from './SetPasswordDialog.tsx';
import { texts } from './texts.ts';
import classes from './UserCard.module.css';

interface UserCardProps {
  readonly user: UserDetails;
}

/** One account and what can be done with it. Drawn again only when this account changes. */
export const UserCard = memo(function UserCard({ user }: UserCardProps) {
  const [isSettingPassword, setSettingPassword] = useState(false);
  const [isEditingAccess, setEditingAccess] = useState(false);
  const action = useMutation({
    mutationFn: (run: (uid: string) => Promise<ActionResult>) => run(user.uid),
    onSuccess: announce,
  });

  return (
    <li className={classes.card}>
      <Group gap="sm" wrap="nowrap">
        <Avatar color="haematoxylin" aria-hidden>
          {initialsOf(user)}
        </Avatar>
        <Title order={3} size="h5" className={classes.name}>
          {nameOf(user)}
        </Title>
      </Group>
      <FieldList
        fields={[
          [shared.email, user.email],
          [shared.displayName, user.displayName ?? shared.notGiven],
          [shared.status, <StatusBadge key="status" status={user.status} />],
          [shared.role, <RoleBadge key="role" role={user.role} />],
          [texts.adminApproved, user.adminApproved ? texts.yes : texts.no],
          [shared.createdAt, formatDateAndTime(user.createdAt)],
          [shared.updatedAt, formatDateAndTime(user.updatedAt)],
          [shared.approvalDate, formatDateAndTime(user.approvalDate)],
          ...known([
            [texts.expiresAt, user.expiresAt && formatDateAndTime(user.expiresAt)],
            [texts.affiliation, user.affiliation],
            [texts.purpose, user.purpose],
            [texts.decisionReason, user.decisionReason],
            [texts.datasets, user.datasets.join(', ')],
          ]),
          [shared.uid, user.uid],
        ]}
      />
      <Group gap="xs" className={classes.actions}>
        {actionsOf(user).map(({ name, isMain, run }) => (
          <Button
            key={name}
            size="sm"
            variant={isMain ? 'filled' : 'default'}
            disabled={action.isPending}
            onClick={() => action.mutate(run)}
          >
            {texts[name]}
          </Button>
        ))}
        {user.status === 'active' && user.role !== 'admin' && (
          <Button
            size="sm"
            variant="default"
            disabled={action.isPending}
            onClick={() => setEditingAccess(true)}
          >
            {texts.editAccess}
          </Button>
        )}
        {user.status !== 'deactivated' && (
          <Button
            size="sm"
            variant="default"
            disabled={action.isPending}
            onClick={() => setSettingPassword(true)}
          >
            {texts.setPassword}
          </Button>
        )}
        {user.secondFactor && (
          <Button
            size="sm"
            variant="default"
            disabled={action.isPending}
            onClick={() => action.mutate(removeSecondFactor)}
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
          {texts.records}
        </Button>
      </Group>
      {isEditingAccess && <AccessDialog user={user} onClose={() => setEditingAccess(false)} />}
      {isSettingPassword && <SetPasswordDialog user={user} onClose={() => setSettingPassword(false)} />}
    </li>
  );
});

/** What nobody has said, or nobody has set, takes no line. */
function known(fields: readonly (readonly [label: string, value: string | null])[]) {
  return fields.flatMap(([label, value]) => (value ? [[label, value] as const] : []));
}
