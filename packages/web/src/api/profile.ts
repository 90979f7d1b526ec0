/**
 * API calls for the account of the signed-in user: profile, activity, password, deletion. A function that returns an
 * `ActionResult` never throws: the result says whether the call succeeded, with a message for the user.
 */
import {
  type Activity,
  AppError,
  changePassword as changePasswordEndpoint,
  deleteAccount as deleteAccountEndpoint,
  getActivity,
  getProfile,
  type Profile,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import { z } from 'zod';
import type { ActionResult } from '../notifications/action-result.ts';
import { clearSignIn, refreshUser } from './auth.ts';
import { call, codeOf, fieldOf, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { signInsKey } from './sign-ins.ts';
import { texts } from './texts.ts';

interface ProfileOptions {
  /** Interval for loading the profile again, which also happens when the page becomes visible. Omitted: loaded once. */
  readonly refetchIntervalMs?: number;
}

/** Loads the profile, and updates the stored data of the signed-in account with it. */
export function useProfile({ refetchIntervalMs }: ProfileOptions = {}) {
  return useQuery({
    queryKey: ['profile'],
    queryFn: ({ signal }) => fetchProfile(signal),
    ...(refetchIntervalMs !== undefined && {
      refetchInterval: refetchIntervalMs,
      refetchOnWindowFocus: 'always',
    }),
  });
}

/** Loads the profile and updates the stored account. @throws Error whose message is shown to the user */
async function fetchProfile(signal: AbortSignal): Promise<Profile> {
  try {
    const { user } = await call(getProfile, { signal });
    refreshUser(user);
    return user;
  } catch (error) {
    if (signal.aborted) throw error;
    // A response without a user counts as not found.
    const isMissing =
      error instanceof z.ZodError || (error instanceof AppError && error.code === 'not_found');
    throw new Error(isMissing ? texts.profileMissing : texts.profileFailed, { cause: error });
  }
}

/** Loads the recent activity of the account. */
export function useActivity() {
  return useQuery({
    queryKey: ['activity'],
    queryFn: async ({ signal }): Promise<readonly Activity[]> =>
      (await call(getActivity, { signal })).activity,
  });
}

/**
 * Changes the password of the account.
 *
 * @param currentPassword empty unless the API requires it (`reauth_required`: the sign-in is older than 15 minutes)
 */
export async function changePassword(newPassword: string, currentPassword: string): Promise<ActionResult> {
  try {
    const body = {
      new_password: newPassword,
      ...(currentPassword && { current_password: currentPassword }),
    };
    await call(changePasswordEndpoint, { body });
    void queryClient.invalidateQueries({ queryKey: signInsKey }); // the server has ended the other sign-ins
    return { success: true, message: texts.passwordChanged };
  } catch (error) {
    return {
      success: false,
      message: messageOf(error, texts.passwordFailed),
      error: codeOf(error),
      field: fieldOf(error),
    };
  }
}

/** Deletes the account. @param currentPassword empty unless the API requires it (`reauth_required`) */
export async function deleteAccount(currentPassword: string): Promise<ActionResult> {
  try {
    const body = { ...(currentPassword && { current_password: currentPassword }) };
    const { message } = await call(deleteAccountEndpoint, { body });
    clearSignIn();
    return { success: true, message: message || texts.accountDeleted };
  } catch (error) {
    return { success: false, message: messageOf(error, texts.accountDeletionFailed), error: codeOf(error) };
  }
}
