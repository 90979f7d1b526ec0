import { Menu, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconMenu2 } from '@tabler/icons-react';
import { Link, matchPath, useLocation } from 'react-router';
import classes from './TopBar.module.css';
import type { TopBarLink } from './top-bar-link.ts';
import { WaitingCount } from './WaitingCount.tsx';

interface LinksMenuProps {
  readonly links: readonly TopBarLink[];
  /** Accessible name of the navigation. */
  readonly navigationLabel: string;
}

/**
 * A menu that replaces the links of the top bar when they do not fit. Its button has the name of the current screen, or that
 * of the navigation when no link leads to the current screen.
 */
export function LinksMenu({ links, navigationLabel }: LinksMenuProps) {
  const { pathname } = useLocation();
  const currentLink = links.find(({ to, isExact = false }) =>
    matchPath({ path: to, end: isExact }, pathname),
  );
  const waitingTotal = links.reduce((sum, link) => sum + (link.waiting?.count ?? 0), 0); // waiting items of all links, such as applicants
  return (
    // The key changes with the path, which closes the menu when the user opens another screen.
    <Menu key={pathname} position="bottom-start" shadow="md" withinPortal={false}>
      <Menu.Target>
        <UnstyledButton className={classes.menuButton}>
          <IconMenu2 size={22} aria-hidden />
          {currentLink !== undefined && <VisuallyHidden>{navigationLabel}: </VisuallyHidden>}
          <span className={classes.menuLabel}>{currentLink?.label ?? navigationLabel}</span>
          {waitingTotal > 0 && (
            <span className={classes.waiting} aria-hidden>
              {waitingTotal}
            </span>
          )}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {links.map((link) => (
          <Menu.Item
            key={link.to}
            component={Link}
            to={link.to}
            {...(link === currentLink && { 'aria-current': 'page' as const, fw: 650 })}
          >
            {link.label}
            <WaitingCount waiting={link.waiting ?? null} />
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
