import { UnstyledButton } from '@mantine/core';
import { type ReactNode, Suspense } from 'react';
import { Link, NavLink } from 'react-router';
import { settings } from '../browser/settings.ts';
import { languageNow } from '../language/language.ts';
import { texts } from '../language/texts.ts';
import { Logo } from './Logo.tsx';
import { preloadable } from './preloadable.tsx';
import classes from './TopBar.module.css';
import type { TopBarLink } from './top-bar-link.ts';
import { WaitingCount } from './WaitingCount.tsx';

const LinksMenu = preloadable(async () => (await import('./LinksMenu.tsx')).LinksMenu);

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
      {hasMenu && (
        <Suspense fallback={null}>
          <LinksMenu links={links} navigationLabel={navigationLabel} />
        </Suspense>
      )}
      {children}
    </header>
  );
}
