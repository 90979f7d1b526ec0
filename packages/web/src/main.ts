/** Entry point of the web app: connects the API client to sign-in and language, preloads the first screen, and starts the app. */
import './browser/zod-without-eval.ts';
import '@fontsource-variable/inter';
import './fonts/inter.css'; // after the package: if several font files contain a character, the browser uses the last one
import './mantine.css';
import './global.css';
import { connectAuth, initialiseAuth } from './api/auth.ts';
import { connectLanguage } from './api/language.ts';
import { preloadLogin, preloadShared, preloadViewer } from './preload.ts';

moveStyleSheetToHead();
connectAuth();
connectLanguage();
const signInChecked = initialiseAuth();
void preloadViewer(location.pathname, signInChecked);
preloadShared(location);
preloadLogin(location);
void import('./start.tsx').then(({ start }) => start());

/**
 * Moves the app's style sheet from the body to the head, so that it precedes the style sheets of the screens, which are added to the
 * head later. The build (vite.config.ts) puts it into the body, after the product name that the page shows while it loads: the name is
 * visible before the style sheet is loaded.
 */
function moveStyleSheetToHead(): void {
  for (const link of document.body.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')) {
    const copy = link.cloneNode() as HTMLLinkElement;
    // The copy comes from the browser's cache. The original stays until the copy is loaded: the page always has styles.
    copy.addEventListener('load', () => link.remove());
    document.head.append(copy);
  }
}
