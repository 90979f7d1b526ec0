/** Renders the app. Loaded beside main.ts, which needs less code and begins to load data in the meantime. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { App } from './App.tsx';
import { isLoginNext } from './preload.ts';
import { preloadScreen, routes } from './routes.tsx';

export async function start(): Promise<void> {
  // Without showing in between that it is loading: React would show that for 0.3 s at least.
  const pathname = isLoginNext(location) ? '/auth/login' : location.pathname;
  await preloadScreen(pathname).catch(() => undefined);
  const place = document.getElementById('root');
  if (place === null) throw new Error('The page has no #root to draw into.');
  document.getElementById('loading')?.remove();
  createRoot(place).render(
    <StrictMode>
      <App>
        {/* Without transitions: a new screen, or that it is loading, shows as soon as its address does. */}
        <RouterProvider router={createBrowserRouter(routes)} useTransitions={false} />
      </App>
    </StrictMode>,
  );
}
