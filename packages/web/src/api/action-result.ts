import type { ErrorCode } from '@lamina/contract';

/** How an action of the person ended, with the sentence to show. */
export type ActionResult =
  | { readonly success: true; readonly message: string }
  | {
      readonly success: false;
      readonly message: string;
      /** Why the API refused; null when it did not answer or answered nonsense. */
      readonly error: ErrorCode | null;
      /** The field of the form that the sentence is about, as the API calls it; null when it is about none. */
      readonly field?: string | null;
    };
