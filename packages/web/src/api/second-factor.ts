/** API calls for the second factor (two-step verification) of the signed-in account. */
import {
  confirmSecondFactor,
  getSecondFactor,
  removeSecondFactor,
  type SecondFactor,
  startSecondFactor,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import type { ActionResult } from '../notifications/action-result.ts';
import { call, codeOf, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { texts } from './texts.ts';

const secondFactorKey = ['second-factor'];

export function useSecondFactor() {
  return useQuery({
    queryKey: secondFactorKey,
    queryFn: ({ signal }): Promise<SecondFactor> => call(getSecondFactor, { signal }),
  });
}

/** The secret that an authenticator app needs. */
export interface SecondFactorSecret {
  /** The secret in Base32, for typing. */
  readonly secret: string;
  /** The secret as URI (otpauth://…), for a QR code. */
  readonly uri: string;
}

type Failure = Extract<ActionResult, { success: false }>;
type ResultWith<Value> = ({ readonly success: true; readonly message: string } & Value) | Failure;

/** Requests a new secret. @param currentPassword empty unless the API requires it (error `reauth_required`) */
export async function beginSecondFactor(currentPassword: string): Promise<ResultWith<SecondFactorSecret>> {
  try {
    return {
      success: true,
      message: '', // the API sends none; the screen shows the secret
      ...(await call(startSecondFactor, { body: passwordBodyOf(currentPassword) })),
    };
  } catch (error) {
    return failureOf(error);
  }
}

/** Activates the second factor with a code of the authenticator app. @returns the recovery codes, which the API returns only once */
export async function finishSecondFactor(
  code: string,
): Promise<ResultWith<{ readonly recoveryCodes: readonly string[] }>> {
  try {
    const { recovery_codes: recoveryCodes, message } = await call(confirmSecondFactor, { body: { code } });
    return { success: true, message, recoveryCodes };
  } catch (error) {
    return failureOf(error);
  }
}

/** Reloads the state of the second factor; called when the setup is closed (finished or cancelled), and after the removal. */
export function invalidateSecondFactor(): void {
  void queryClient.invalidateQueries({ queryKey: secondFactorKey });
}

/** Removes the second factor. @param currentPassword empty unless the API requires it (error `reauth_required`) */
export async function disableSecondFactor(currentPassword: string): Promise<ActionResult> {
  try {
    const { message } = await call(removeSecondFactor, { body: passwordBodyOf(currentPassword) });
    invalidateSecondFactor();
    return { success: true, message };
  } catch (error) {
    return failureOf(error);
  }
}

function passwordBodyOf(currentPassword: string) {
  return { ...(currentPassword && { current_password: currentPassword }) };
}

function failureOf(error: unknown): Failure {
  return { success: false, message: messageOf(error, texts.secondFactorFailed), error: codeOf(error) };
}
