/** The cache of server responses, which `auth.ts` clears when a sign-in begins or ends. */
import { AppError } from '@lamina/contract';
import { QueryClient } from '@tanstack/react-query';
import { UnexpectedResponseError } from './client.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    // By default, requests are not retried, because the screens have a retry button. Requests are sent even when the browser
    // reports that it is offline: in a hospital network without internet access, this report may be wrong.
    queries: { retry: false, refetchOnWindowFocus: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});

/** Interval at which a failed request is repeated without a click. */
const retryIntervalMs = 5000;

/** Returns whether a repeated request may succeed: true for the status 429 or 5xx, for an error without a response, and for null. */
export function isTemporary(error: Error | null): boolean {
  const isErrorResponse = error instanceof AppError || error instanceof UnexpectedResponseError;
  return !isErrorResponse || error.status >= 500 || error.status === 429;
}

/** The state of a query as far as `retryInterval` needs it. */
interface FailedQuery {
  readonly state: { readonly data: unknown; readonly error: Error | null };
}

/**
 * A `refetchInterval` that repeats a query without data after a temporary error. Used for annotations and result layers: a slide that
 * is shown without them could mislead the user.
 *
 * @returns the interval in milliseconds; false when the query is not repeated
 */
export function retryInterval({ state: { data, error } }: FailedQuery): number | false {
  return data === undefined && error !== null && isTemporary(error) ? retryIntervalMs : false;
}
