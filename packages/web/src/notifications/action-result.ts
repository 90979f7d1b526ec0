import type { ErrorCode } from '@lamina/contract';

/** The result of an action that a user started, with the message to show as a toast or in a form. */
export type ActionResult =
  | { readonly success: true; readonly message: string }
  | {
      readonly success: false;
      readonly message: string;
      /** Error code of the API; null when the API did not respond or its response was invalid. */
      readonly error: ErrorCode | null;
      /** API name of the form field that the message is about; null when the message is about no single field. */
      readonly field?: string | null;
    };
