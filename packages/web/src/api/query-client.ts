/** The cache of server responses, which `auth.ts` clears when a sign-in begins or ends. */
import { QueryClient } from '@tanstack/react-query';

export const queryClient = new QueryClient({
  defaultOptions: {
    // Requests are not retried, because the screens have a retry button. They are sent even when the browser reports
    // that it is offline, because a browser in a hospital network without internet access may report this wrongly.
    queries: { retry: false, refetchOnWindowFocus: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});
