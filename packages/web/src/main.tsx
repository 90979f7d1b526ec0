import './zod-without-eval.ts';
import '@fontsource-variable/inter';
import '@mantine/core/styles.css';
import './global.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { App } from './App.tsx';
import { connectAuth, initialiseAuth } from './api/auth.ts';
import { routes } from './routes.tsx';

const place = document.getElementById('root');
if (place === null) throw new Error('The page has no #root to draw into.');

connectAuth();
void initialiseAuth();

createRoot(place).render(
  <StrictMode>
    <App>
      {/* Without transitions: a new screen, or that it is loading, shows as soon as its address does. */}
      <RouterProvider router={createBrowserRouter(routes)} useTransitions={false} />
    </App>
  </StrictMode>,
);
