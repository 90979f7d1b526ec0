import { UnstyledButton, VisuallyHidden } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, NavLink, useLocation } from 'react-router';
import { languageNow } from '../language.ts';
import { settings } from '../settings.ts';
import { texts } from '../texts.ts';
import { Logo } from './Logo.tsx';
import classes from './TopBar.module.css';

interface TopBarLink {
  readonly to: string;
  readonly label: string;
  /** Language of the label, where it is not that of the page. */
  readonly lang?: string;
  /** Current only at exactly this address. */
  readonly end?: boolean;
  /** What waits there; null when nothing does. */
  readonly waiting?: { readonly count: number; readonly label: string } | null;
}

interface TopBarProps {
  /** Where the product's name leads. */
  readonly home: string;
  readonly links: readonly TopBarLink[];
  /** What the links are, for who does not see them. */
  readonly navigationLabel: string;
  /** At the right end. */
  readonly children: ReactNode;
  /** Language of the bar, where it is not that of the page. */
  readonly lang?: string;
}

/** Without a change of the address: a screen may keep something of its own there. */
function skipToContent(): void {
  document.querySelector('main')?.focus();
}

/** The navigation bar: the product's name, links, the user menu. */
export function TopBar({ home, links, navigationLabel, children, lang }: TopBarProps) {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // In a narrow window the links scroll sideways: the one of this screen is always seen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address has another current link
  useEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>('[aria-current="page"]');
    if (nav.current && current) nav.current.scrollLeft = current.offsetLeft - nav.current.offsetLeft;
  }, [pathname]);
  return (
    <header className={classes.bar} lang={lang}>
      <UnstyledButton className={classes.skip} lang={languageNow('tr')} onClick={skipToContent}>
        {texts.skipToContent}
      </UnstyledButton>
      <Link className={classes.product} to={home}>
        <Logo size={30} />
        <span>{settings.productName}</span>
      </Link>
      <nav ref={nav} className={classes.links} aria-label={navigationLabel}>
        {links.map(({ to, label, lang: labelLang, end = false, waiting = null }) => (
          <NavLink key={to} to={to} end={end} lang={labelLang} className={classes.link ?? ''}>
            {label}
            {waiting !== null && (
              <>
                <span className={classes.waiting} title={waiting.label} aria-hidden>
                  {waiting.count}
                </span>
                <VisuallyHidden> ({waiting.label})</VisuallyHidden>
              </>
            )}
          </NavLink>
        ))}
      </nav>
      {children}
    </header>
  );
}
