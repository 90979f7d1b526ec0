import { Menu, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconMenu2 } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link, matchPath, NavLink, useLocation } from 'react-router';
import { settings } from '../browser/settings.ts';
import { languageNow } from '../language/language.ts';
import { texts } from '../language/texts.ts';
import { Logo } from './Logo.tsx';
import classes from './TopBar.module.css';

interface TopBarLink {
  readonly to: string;
  readonly label: string;
  /** Language of the label, if it differs from the page's. */
  readonly lang?: string;
  /** Current only for exactly this address. */
  readonly end?: boolean;
  /** Label of what waits there; null when nothing waits. */
  readonly waiting?: { readonly count: number; readonly label: string } | null;
}

interface TopBarProps {
  /** Target of the product's name. */
  readonly home: string;
  readonly links: readonly TopBarLink[];
  /** Accessible name of the navigation. */
  readonly navigationLabel: string;
  /** At the right end. */
  readonly children: ReactNode;
  /** Language of the bar, if it differs from the page's. */
  readonly lang?: string;
}

/** Leaves the address as it is: a screen may keep its own state there. */
function skipToContent(): void {
  document.querySelector('main')?.focus();
}

/** More links than this stand in a menu where the window is too narrow for them. */
const mostLinksInNarrowBar = 2;

/** The navigation bar: the product's name, links, the user menu. */
export function TopBar({ home, links, navigationLabel, children, lang }: TopBarProps) {
  const hasMenu = links.length > mostLinksInNarrowBar;
  return (
    <header className={classes.bar} lang={lang} data-menu={hasMenu || undefined}>
      <UnstyledButton className={classes.skip} lang={languageNow('tr')} onClick={skipToContent}>
        {texts.skipToContent}
      </UnstyledButton>
      <Link className={classes.product} to={home}>
        <Logo size={30} />
        <span>{settings.productName}</span>
      </Link>
      <nav className={classes.links} aria-label={navigationLabel}>
        {links.map(({ to, label, lang: labelLang, end = false, waiting = null }) => (
          <NavLink key={to} to={to} end={end} lang={labelLang} className={classes.link ?? ''}>
            {label}
            <WaitingCount waiting={waiting} />
          </NavLink>
        ))}
      </nav>
      {hasMenu && <LinksMenu links={links} navigationLabel={navigationLabel} />}
      {children}
    </header>
  );
}

/** The links of the bar in a narrow window: a button with the name of this screen, and a menu of all of them. */
function LinksMenu({ links, navigationLabel }: Pick<TopBarProps, 'links' | 'navigationLabel'>) {
  const { pathname } = useLocation();
  const current = links.find(({ to, end = false }) => matchPath({ path: to, end }, pathname));
  const waiting = links.reduce((sum, link) => sum + (link.waiting?.count ?? 0), 0);
  return (
    // A new key at every address: the menu closes on the way to another screen.
    <Menu key={pathname} position="bottom-start" shadow="md" withinPortal={false}>
      <Menu.Target>
        <UnstyledButton className={classes.menuButton}>
          <IconMenu2 size={22} aria-hidden />
          <VisuallyHidden>
            {navigationLabel}
            {current !== undefined && ': '}
          </VisuallyHidden>
          <span className={classes.menuLabel}>{current?.label}</span>
          {waiting > 0 && (
            <span className={classes.waiting} aria-hidden>
              {waiting}
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
            {...(link.lang !== undefined && { lang: link.lang })}
            {...(link === current && { 'aria-current': 'page' as const, fw: 650 })}
          >
            {link.label}
            <WaitingCount waiting={link.waiting ?? null} />
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function WaitingCount({ waiting }: { readonly waiting: NonNullable<TopBarLink['waiting']> | null }) {
  if (waiting === null) return null;
  return (
    <>
      <span className={classes.waiting} title={waiting.label} aria-hidden>
        {waiting.count}
      </span>
      <VisuallyHidden> ({waiting.label})</VisuallyHidden>
    </>
  );
}
