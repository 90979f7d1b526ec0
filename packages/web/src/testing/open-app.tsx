import type { User } from '@lamina/contract';
import { render } from '@testing-library/react';
import { type UserEvent, userEvent } from '@testing-library/user-event';
import { createMemoryRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { onTestFinished } from 'vitest';
import { App } from '../App.tsx';
import { connectAuth, initialiseAuth } from '../api/auth.ts';
import { setAuthState, signedOut } from '../api/auth-state.ts';
import { queryClient } from '../api/query-client.ts';
import { storeSignIn } from '../api/stored-sign-in.ts';
import { routes } from '../routes.tsx';
import { type Answers, type ApiCall, stubApi } from './stub-api.ts';

interface OpenAppOptions {
  /** The account whose sign-in the browser has stored; by default, no user is signed in. */
  readonly signedInAs?: User;
  /** Responses of the API by method and path, see `stubApi`; any other call fails with a network error. */
  readonly api?: Answers;
}

interface OpenApp {
  readonly person: UserEvent;
  /** Every call to the API so far, in order. */
  readonly calls: readonly ApiCall[];
  /** Current path, query and fragment. */
  readonly address: () => string;
  readonly goTo: (path: string) => Promise<void>;
  /** Presses the browser's Back button. */
  readonly goBack: () => Promise<void>;
}

/** Renders the whole app at `path`, as in a browser whose storage contains only the sign-in. */
export function openApp(path: string, { signedInAs, api = {} }: OpenAppOptions = {}): OpenApp {
  setAuthState(signedOut);
  queryClient.clear();
  const calls = stubApi({
    ...(signedInAs && { 'POST /auth/verify': { user: signedInAs, token: 'token-1' } }),
    ...api,
  });
  if (signedInAs) storeSignIn({ token: 'token-1', user: signedInAs });
  onTestFinished(connectAuth()); // `connectAuth` returns a function that disconnects
  void initialiseAuth();

  const router = createMemoryRouter(routes, { initialEntries: [path] });
  render(
    <App env="test">
      <RouterProvider router={router} useTransitions={false} />
    </App>,
  );
  return {
    person: userEvent.setup({ delay: null }), // null: no pauses between the key presses and clicks
    calls,
    address: () => {
      const { pathname, search, hash } = router.state.location;
      return pathname + search + hash;
    },
    goTo: (path) => router.navigate(path),
    goBack: () => router.navigate(-1),
  };
}
