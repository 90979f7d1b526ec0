import type { ErrorCode } from '@lamina/contract';

/** Result of an action, with the message to show. */
export type ActionResult =
  | { readonly success: true; readonly message: string }
  | {
      readonly success: false;
      readonly message: string;
      /** Error code of the API; null when it did not answer or the answer was invalid. */
      readonly error: ErrorCode | null;
      /** The form field that the message is about, by its API name; null when there is none. */
      readonly field?: string | null;
    };
