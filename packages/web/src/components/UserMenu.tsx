import type { User } from '@lamina/contract';
import { Avatar, Menu, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconLogout, IconUser } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'react-router';
import { initialsOf, nameOf } from '../person.ts';
import classes from './UserMenu.module.css';

interface UserMenuProps {
  readonly user: Pick<User, 'displayName' | 'email'>;
  /** After the name; where it is narrow, inside the menu. */
  readonly badge?: ReactNode;
  readonly profileLabel: string;
  readonly logoutLabel: string;
  readonly onLogout: () => void;
  /** Language of the labels. */
  readonly lang: string;
}

/** Initials and name; opened, the ways to the profile and out. */
export function UserMenu({ user, badge, profileLabel, logoutLabel, onLogout, lang }: UserMenuProps) {
  const { pathname } = useLocation();
  return (
    // A new key at every address: the menu closes on the way to another screen.
    <Menu
      key={pathname}
      position="bottom-end"
      width={220}
      shadow="md"
      withinPortal={false}
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>
        <UnstyledButton className={classes.target}>
          <Avatar size={34} color="haematoxylin" variant="filled" aria-hidden>
            {initialsOf(user)}
          </Avatar>
          <span className={classes.name} lang="tr">
            {nameOf(user)}
          </span>
          <span className={classes.badge}>{badge}</span>
          <IconChevronDown size={16} aria-hidden className={classes.chevron} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown lang={lang}>
        <Menu.Label className={classes.account}>
          {user.email} <span className={classes.badgeInside}>{badge}</span>
        </Menu.Label>
        <Menu.Item component={Link} to="/dashboard/profile" leftSection={<IconUser size={18} aria-hidden />}>
          {profileLabel}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={18} aria-hidden />} onClick={onLogout}>
          {logoutLabel}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
