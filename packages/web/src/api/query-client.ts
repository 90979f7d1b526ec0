/** The cache of server responses, which `auth.ts` clears when a sign-in begins or ends. */
import { AppError } from '@lamina/contract';
import { QueryClient } from '@tanstack/react-query';
import { UnexpectedResponseError } from './client.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    // Requests are not retried, because the screens have a retry button. They are sent even when the browser reports
    // that it is offline, because a browser in a hospital network without internet access may report this wrongly.
    queries: { retry: false, refetchOnWindowFocus: false, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});

/** Interval at which a failed request is repeated without a click. */
const retryIntervalMs = 5000;

/** Returns false after an error response that a repeated request would get again, that is, all but 429 and 5xx. */
export function isTemporary(error: Error | null): boolean {
  const isErrorResponse = error instanceof AppError || error instanceof UnexpectedResponseError;
  return !isErrorResponse || error.status >= 500 || error.status === 429;
}

/** The state of a query as far as `retryInterval` needs it. */
interface FailedQuery {
  readonly state: { readonly data: unknown; readonly error: Error | null };
}

/**
 * A `refetchInterval` for what lies over a slide, because the slide without it could mislead: repeats a query without data after a
 * failure that may be temporary.
 *
 * @returns the interval in milliseconds; false when the query is not repeated
 */
export function retryInterval({ state: { data, error } }: FailedQuery): number | false {
  return data === undefined && error !== null && isTemporary(error) ? retryIntervalMs : false;
}
