import type { User } from '@lamina/contract';
import { Avatar } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { initialsOf, nameOf } from '../formatting/person.ts';
import classes from './UserMenu.module.css';

interface UserNameProps {
  readonly user: Pick<User, 'displayName' | 'email'>;
  readonly badge: ReactNode;
}

/** The content of the user menu's button: initials, name (marked as Turkish, so that screen readers pronounce it in Turkish) and badge. */
export function UserName({ user, badge }: UserNameProps) {
  return (
    <>
      <Avatar size={34} color="haematoxylin" variant="filled" aria-hidden>
        {initialsOf(user)}
      </Avatar>
      <span className={classes.name} lang="tr" title={nameOf(user)}>
        {nameOf(user)}
      </span>
      <span className={classes.badge}>{badge}</span>
      <IconChevronDown size={16} aria-hidden className={classes.chevron} />
    </>
  );
}
