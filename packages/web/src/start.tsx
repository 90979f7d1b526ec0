/** Renders the app. The small `main.ts` loads first, imports this file, and requests the first data meanwhile. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { App } from './App.tsx';
import { isLoginNext } from './preload.ts';
import { preloadScreen, routes } from './routes.tsx';

export async function start(): Promise<void> {
  // Loads the code of the first screen before the first rendering, because React shows a loading indicator for at least 0.3 s.
  const pathname = isLoginNext(location) ? '/auth/login' : location.pathname;
  await preloadScreen(pathname).catch(() => undefined); // the route loads the code again and shows the failure
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
