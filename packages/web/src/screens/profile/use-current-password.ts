import { useMemo, useState } from 'react';
import { z } from 'zod';
import { failWith } from '../../forms/validation.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import type { ActionResult } from '../../notifications/action-result.ts';

/** The form values of `CurrentPasswordField`; the password is empty until the API requires it. */
export interface CurrentPassword {
  readonly currentPassword: string;
}

/**
 * State of `CurrentPasswordField` in a form of the profile. The API requires the current password for some actions when the sign-in is
 * not recent. The form shows the field only after the API has rejected the action for this reason.
 */
export function useCurrentPassword() {
  const [isRequired, setRequired] = useState(false);
  const schema = useMemo(
    () =>
      isRequired
        ? z.string().min(
            1,
            failWith(() => sharedTexts.currentPasswordRequired), // a function, because the language may change
          )
        : z.string(),
    [isRequired],
  );
  return {
    isRequired,
    schema,
    /**
     * Returns the error for the field when the action failed because the password is missing or wrong; otherwise null. A missing
     * password also makes the field appear.
     */
    handlePasswordError(result: ActionResult): { readonly message: string } | null {
      if (result.success) return null;
      if (result.error === 'credentials_invalid') return { message: sharedTexts.currentPasswordWrong };
      if (result.error !== 'reauth_required') return null;
      setRequired(true);
      return { message: result.message };
    },
    /** Call after the action has succeeded; hides the field until the API requires the password again. */
    reset: () => setRequired(false),
  };
}
