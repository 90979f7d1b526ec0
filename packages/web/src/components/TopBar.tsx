import { UnstyledButton } from '@mantine/core';
import { type ReactNode, type RefObject, Suspense, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
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
  /** Path that the product's name links to. */
  readonly home: string;
  readonly links: readonly TopBarLink[];
  /** Accessible name of the navigation. */
  readonly navigationLabel: string;
  /** Shown at the right end of the bar. */
  readonly children: ReactNode;
  /** Language of the bar, if it differs from the page's. */
  readonly lang?: string;
}

/** Moves the focus without changing the URL (as a link to `#content` would): a screen may keep its own state there. */
function skipToContent(): void {
  document.querySelector('main')?.focus();
}

/** Returns whether the links are wider than the space between the other parts of the bar: this depends on language, counts and the user's name. */
function useAreLinksTooWide(linksElement: RefObject<HTMLElement | null>, linkCount: number): boolean {
  const [areTooWide, setTooWide] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: with another number of links, other elements are observed
  useLayoutEffect(() => {
    const element = linksElement.current;
    if (element === null) return undefined;
    // Rendered at once: the browser calls the observer before it paints, so that cut links are never seen.
    const observer = new ResizeObserver(() =>
      flushSync(() => setTooWide(element.scrollWidth > element.clientWidth + 1)),
    );
    for (const each of [element, ...element.children]) observer.observe(each);
    return () => observer.disconnect();
  }, [linksElement, linkCount]);
  return areTooWide;
}

/** When the links do not fit, a bar with more links than this shows them in a menu. */
const maxLinksWithoutMenu = 2;

/** The navigation bar: the product's name, the links, and the user menu as children. */
export function TopBar({ home, links, navigationLabel, children, lang }: TopBarProps) {
  const hasMenu = links.length > maxLinksWithoutMenu;
  const linksElement = useRef<HTMLElement>(null);
  const isMenuShown = useAreLinksTooWide(linksElement, links.length) && hasMenu;
  return (
    <header className={classes.bar} lang={lang} data-tight={isMenuShown || undefined}>
      <UnstyledButton className={classes.skip} lang={languageNow('tr')} onClick={skipToContent}>
        {texts.skipToContent}
      </UnstyledButton>
      <Link className={classes.product} to={home}>
        <Logo size={30} />
        <span>{settings.productName}</span>
      </Link>
      <div className={classes.linksPlace}>
        <nav ref={linksElement} className={classes.links} aria-label={navigationLabel}>
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
