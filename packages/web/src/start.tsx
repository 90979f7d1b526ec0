/** Renders the app. Loaded beside main.ts, which needs less code and begins to load data in the meantime. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { App } from './App.tsx';
import { routes } from './routes.tsx';

export function start(): void {
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
