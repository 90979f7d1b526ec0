/** What the browser remembers of the server's answers. Emptied whenever a sign-in begins or ends. */
import { QueryClient } from '@tanstack/react-query';

export const queryClient = new QueryClient({
  defaultOptions: {
    // Every failed load shows its own button to try again; and a hospital's network may have no
    // internet, which browsers report as being offline.
    queries: { retry: false, refetchOnWindowFocus: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});
