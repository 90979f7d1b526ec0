import './browser/zod-without-eval.ts';
import '@fontsource-variable/inter';
import './fonts/inter.css'; // after the package: of two files for a letter, the browser takes the last one
import './mantine.css';
import './global.css';
import { connectAuth, initialiseAuth } from './api/auth.ts';
import { connectLanguage } from './api/language.ts';
import { preloadLogin, preloadShared, preloadViewer } from './preload.ts';

moveStyleSheetToHead();
connectAuth();
connectLanguage();
void preloadViewer(location.pathname, initialiseAuth());
preloadShared(location);
preloadLogin(location);
void import('./start.tsx').then(({ start }) => start());

/**
 * Moves the style sheet of the app before those of the screens, which are added at the end of the head. The page has it in its
 * body, behind the name of the product, which is then visible at once (vite.config.ts).
 */
function moveStyleSheetToHead(): void {
  for (const link of document.body.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')) {
    const moved = link.cloneNode() as HTMLLinkElement;
    // From the cache of the browser; until then the first one stays, so that nothing is drawn without it.
    moved.addEventListener('load', () => link.remove());
    document.head.append(moved);
  }
}
