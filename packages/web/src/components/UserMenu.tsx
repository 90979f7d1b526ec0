import type { Language, User } from '@lamina/contract';
import { Box, Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { IconLogout, IconUser } from '@tabler/icons-react';
import { type ReactNode, useId } from 'react';
import { Link, useLocation } from 'react-router';
import {
  bilingualLanguageLabel,
  chooseLanguage,
  type LanguageChoice,
  offeredLanguages,
  useLanguage,
} from '../language/language.ts';
import { themeTexts } from './texts.ts';
import classes from './UserMenu.module.css';
import { UserName } from './UserName.tsx';

const colorSchemes = ['auto', 'light', 'dark'] as const;

export interface UserMenuProps {
  readonly user: Pick<User, 'displayName' | 'email'>;
  /** Shown after the name; on narrow screens inside the menu. */
  readonly badge?: ReactNode;
  readonly profileLabel: string;
  readonly logoutLabel: string;
  readonly onLogout: () => void;
  /** Language of the labels in the menu. */
  readonly labelLanguage: Language;
}

/** A button with the user's initials and name that opens a menu: profile, language, theme and sign-out. */
export function UserMenu({ user, badge, profileLabel, logoutLabel, onLogout, labelLanguage }: UserMenuProps) {
  const { pathname } = useLocation();
  const languageChoice = useLanguage();
  const languageLabelId = useId();
  const themeLabelId = useId();
  const texts = themeTexts[labelLanguage];
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    // The key changes with the path, which closes the menu when the user opens another screen.
    <Menu
      key={pathname}
      position="bottom-end"
      width={220}
      shadow="md"
      withinPortal={false}
      withInitialFocusPlaceholder={false} // otherwise Mantine adds a hidden focusable element before the items
    >
      <Menu.Target>
        <UnstyledButton className={classes.target} data-language-choice>
          <UserName user={user} badge={badge} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown lang={labelLanguage}>
        <Menu.Label className={classes.account}>
          {user.email} <span className={classes.badgeInside}>{badge}</span>
        </Menu.Label>
        <Menu.Item component={Link} to="/dashboard/profile" leftSection={<IconUser size={18} aria-hidden />}>
          {profileLabel}
        </Menu.Item>
        <Menu.Divider />
        {/* A new language remounts all screens, which closes this menu. `App` then focuses the menu's button by `data-language-choice`. */}
        <Menu.Label id={languageLabelId}>{bilingualLanguageLabel}</Menu.Label>
        <Box role="group" aria-labelledby={languageLabelId}>
          <Menu.RadioGroup
            value={languageChoice}
            onChange={(choice) => chooseLanguage(choice as LanguageChoice)}
          >
            {offeredLanguages.map(({ choice, name, htmlLang: nameLang }) => (
              <Menu.RadioItem key={choice} value={choice} lang={nameLang}>
                {name}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
        </Box>
        <Menu.Divider />
        <Menu.Label id={themeLabelId}>{texts.theme}</Menu.Label>
        <Box role="group" aria-labelledby={themeLabelId}>
          <Menu.RadioGroup
            value={colorScheme}
            onChange={(chosen) => setColorScheme(colorSchemes.find((scheme) => scheme === chosen) ?? 'auto')}
          >
            {colorSchemes.map((scheme) => (
              <Menu.RadioItem key={scheme} value={scheme}>
                {texts[scheme]}
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
