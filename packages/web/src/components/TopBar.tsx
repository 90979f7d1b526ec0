import { UnstyledButton } from '@mantine/core';
import { type ReactNode, type RefObject, Suspense, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Link, NavLink } from 'react-router';
import { settings } from '../browser/settings.ts';
import { chosenLanguageOr } from '../language/language.ts';
import { texts } from '../language/texts.ts';
import { Logo } from './Logo.tsx';
import { FailureBoundary } from './lazy-part.tsx';
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
  /** Language of the bar; omitted when it is that of the page. */
  readonly lang?: string;
}

/** Focuses the content. A link to `#content` would change the URL, in which a screen may keep its state. */
function skipToContent(): void {
  document.querySelector('main')?.focus();
}

/** Returns whether the links overflow the space for them, which depends on the language, the counts and the user's name. */
function useLinksOverflow(linksElement: RefObject<HTMLElement | null>, linkCount: number): boolean {
  const [linksOverflow, setLinksOverflow] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the number of links changes, the new elements must be observed
  useLayoutEffect(() => {
    const element = linksElement.current;
    if (element === null) return undefined;
    // The browser calls the observer before it paints. `flushSync` renders at once, so that truncated links are never visible.
    const observer = new ResizeObserver(
      () => flushSync(() => setLinksOverflow(element.scrollWidth > element.clientWidth + 1)), // 1 px: both widths are rounded
    );
    for (const observed of [element, ...element.children]) observer.observe(observed);
    return () => observer.disconnect();
  }, [linksElement, linkCount]);
  return linksOverflow;
}

/** A bar with more links than this moves them into a menu when they do not fit; up to this number, they scroll sideways. */
const maxLinksWithoutMenu = 2;

/**
 * The navigation bar: the product's name, the links, and the user menu as children. With `data-tight`, the style sheet shows the menu
 * and makes the links invisible; they stay in the page, so that their width can still be measured.
 */
export function TopBar({ home, links, navigationLabel, children, lang }: TopBarProps) {
  // True if the script of the menu cannot be loaded. The links then stay visible.
  const [hasMenuFailed, setMenuFailed] = useState(false);
  const hasMenu = links.length > maxLinksWithoutMenu && !hasMenuFailed;
  const linksElement = useRef<HTMLElement>(null);
  const isMenuShown = useLinksOverflow(linksElement, links.length) && hasMenu;
  return (
    <header className={classes.bar} lang={lang} data-tight={isMenuShown || undefined}>
      <UnstyledButton className={classes.skip} lang={chosenLanguageOr('tr')} onClick={skipToContent}>
        {texts.skipToContent}
      </UnstyledButton>
      <Link className={classes.product} to={home}>
        <Logo size={30} />
        <span>{settings.productName}</span>
      </Link>
      <div className={classes.linksPlace}>
        <nav ref={linksElement} className={classes.links} aria-label={navigationLabel}>
          {links.map(({ to, label, isExact = false, waiting = null }) => (
            <NavLink key={to} to={to} end={isExact} className={classes.link ?? ''}>
              {label}
              <WaitingCount waiting={waiting} />
            </NavLink>
          ))}
        </nav>
        {hasMenu && (
          <FailureBoundary renderFailed={() => null} onFailed={() => setMenuFailed(true)}>
            <Suspense fallback={null}>
              <LinksMenu links={links} navigationLabel={navigationLabel} />
            </Suspense>
          </FailureBoundary>
        )}
      </div>
      {children}
    </header>
  );
}
