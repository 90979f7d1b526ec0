/** Cache of server responses. Cleared when a sign-in begins or ends. */
import { QueryClient } from '@tanstack/react-query';

export const queryClient = new QueryClient({
  defaultOptions: {
    // No automatic retries, because the screens have a retry button for failed requests. `networkMode: 'always'`, because browsers may report
    // a hospital network without internet access as offline.
    queries: { retry: false, refetchOnWindowFocus: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});
