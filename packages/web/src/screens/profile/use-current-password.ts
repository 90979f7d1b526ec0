import { useMemo, useState } from 'react';
import { z } from 'zod';
import { failWith } from '../../forms/validation.ts';
import { texts as shared } from '../../language/texts.ts';
import type { ActionResult } from '../../notifications/action-result.ts';

/** What a form with this field has among its values; empty until it is asked for. */
export interface CurrentPassword {
  readonly currentPassword: string;
}

/**
 * The current password of a form: asked for only when the API wants it, because the sign-in is an older one.
 * Its field is CurrentPasswordField.
 */
export function useCurrentPassword() {
  const [isAsked, setAsked] = useState(false);
  const schema = useMemo(
    () =>
      isAsked
        ? z.string().min(
            1,
            failWith(() => shared.currentPasswordRequired),
          )
        : z.string(),
    [isAsked],
  );
  return {
    isAsked,
    schema,
    /** What to say beside the field; null when the action failed for another reason. */
    apiErrorOf(result: ActionResult): { readonly message: string } | null {
      if (result.success) return null;
      if (result.error === 'credentials_invalid') return { message: shared.currentPasswordWrong };
      if (result.error !== 'reauth_required') return null;
      setAsked(true);
      return { message: result.message };
    },
    /** After the action has succeeded: the next one asks again only if the API does. */
    forget: () => setAsked(false),
  };
}
