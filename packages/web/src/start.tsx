/** Renders the app. The small `main.ts` is loaded first; it requests the first data while it imports this file. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { App } from './App.tsx';
import { isLoginNext } from './preload.ts';
import { preloadScreen, routes } from './routes.tsx';

export async function start(): Promise<void> {
  // Loads the first screen before the first rendering. Otherwise React would show a loading indicator for at least 0.3 s.
  const pathname = isLoginNext(location) ? '/auth/login' : location.pathname; // not signed in: the login comes first
  await preloadScreen(pathname).catch(() => undefined); // after a failure, the route loads the screen again
  const rootElement = document.getElementById('root');
  if (rootElement === null) throw new Error('The page has no element #root for the app.');
  document.getElementById('loading')?.remove();
  createRoot(rootElement).render(
    <StrictMode>
      <App>
        {/* Without transitions, a new screen or its loading indicator appears as soon as the URL changes. */}
        <RouterProvider router={createBrowserRouter(routes)} useTransitions={false} />
      </App>
    </StrictMode>,
  );
}
