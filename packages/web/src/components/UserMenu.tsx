import type { User } from '@lamina/contract';
import { Avatar, Box, Menu, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconLogout, IconUser } from '@tabler/icons-react';
import { type ReactNode, useId } from 'react';
import { Link, useLocation } from 'react-router';
import {
  chooseLanguage,
  type LanguageChoice,
  languageChoiceLabel,
  offeredLanguages,
  useLanguage,
} from '../language.ts';
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
  const language = useLanguage();
  const languageLabelId = useId();
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
        <UnstyledButton className={classes.target} data-language-choice>
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
        <Menu.Divider />
        {/* A new language draws everything anew: who chose it by keyboard goes on at the button of this menu. */}
        <Menu.Label id={languageLabelId}>{languageChoiceLabel}</Menu.Label>
        <Box role="group" aria-labelledby={languageLabelId}>
          <Menu.RadioGroup value={language} onChange={(choice) => chooseLanguage(choice as LanguageChoice)}>
            {offeredLanguages.map(({ choice, name, lang: nameLang }) => (
              <Menu.RadioItem key={choice} value={choice} lang={nameLang}>
                {name}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
        </Box>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={18} aria-hidden />} onClick={onLogout}>
          {logoutLabel}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
