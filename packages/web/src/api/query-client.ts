/** Cache of server responses. Cleared when a sign-in begins or ends. */
import { QueryClient } from '@tanstack/react-query';

export const queryClient = new QueryClient({
  defaultOptions: {
    // No automatic retries: every failed load has a retry button. No network check: a hospital's network may have
    // no internet, which browsers report as offline.
    queries: { retry: false, refetchOnWindowFocus: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});
