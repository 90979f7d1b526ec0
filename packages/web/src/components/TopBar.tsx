import { UnstyledButton } from '@mantine/core';
import { type ReactNode, type RefObject, Suspense, useLayoutEffect, useRef, useState } from 'react';
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

/** Whether the links are wider than their place: this depends on language, counts and the name of the person. */
function useTightness(links: RefObject<HTMLElement | null>, linkCount: number): boolean {
  const [isTight, setTight] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other links are other elements
  useLayoutEffect(() => {
    const element = links.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setTight(element.scrollWidth > element.clientWidth + 1));
    for (const each of [element, ...element.children]) observer.observe(each);
    return () => observer.disconnect();
  }, [links, linkCount]);
  return isTight;
}

/** More links than this stand in a menu where the bar is too narrow for them. */
const mostLinksInNarrowBar = 2;

/** The navigation bar: the product's name, links, the user menu. */
export function TopBar({ home, links, navigationLabel, children, lang }: TopBarProps) {
  const hasMenu = links.length > mostLinksInNarrowBar;
  const list = useRef<HTMLElement>(null);
  const isTight = useTightness(list, links.length) && hasMenu;
  return (
    <header className={classes.bar} lang={lang} data-tight={isTight || undefined}>
      <UnstyledButton className={classes.skip} lang={languageNow('tr')} onClick={skipToContent}>
        {texts.skipToContent}
      </UnstyledButton>
      <Link className={classes.product} to={home}>
        <Logo size={30} />
        <span>{settings.productName}</span>
      </Link>
      <div className={classes.linksPlace}>
        <nav ref={list} className={classes.links} aria-label={navigationLabel}>
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
      </div>
      {children}
    </header>
  );
}
