/** Two-step verification of the own account. */
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

/** Setup data for an authenticator app. */
export interface SecondFactorSecret {
  /** Base32, for typing. */
  readonly secret: string;
  /** otpauth://…, for a QR code. */
  readonly uri: string;
}

type Failure = Extract<ActionResult, { success: false }>;
type With<Value> = ({ readonly success: true; readonly message: string } & Value) | Failure;

/** @param currentPassword empty unless the API requires it (`reauth_required`) */
export async function beginSecondFactor(currentPassword: string): Promise<With<SecondFactorSecret>> {
  try {
    return {
      success: true,
      message: '',
      ...(await call(startSecondFactor, { body: bodyOf(currentPassword) })),
    };
  } catch (error) {
    return failure(error);
  }
}

/** @returns the recovery codes, which the API returns only once */
export async function finishSecondFactor(
  code: string,
): Promise<With<{ readonly recoveryCodes: readonly string[] }>> {
  try {
    const { recovery_codes: recoveryCodes, message } = await call(confirmSecondFactor, { body: { code } });
    return { success: true, message, recoveryCodes };
  } catch (error) {
    return failure(error);
  }
}

/** Updates the card, after the recovery codes have been read. */
export function invalidateSecondFactor(): void {
  void queryClient.invalidateQueries({ queryKey: secondFactorKey });
}

/** @param currentPassword as in `beginSecondFactor` */
export async function switchSecondFactorOff(currentPassword: string): Promise<ActionResult> {
  try {
    const { message } = await call(removeSecondFactor, { body: bodyOf(currentPassword) });
    invalidateSecondFactor();
    return { success: true, message };
  } catch (error) {
    return failure(error);
  }
}

function bodyOf(currentPassword: string) {
  return { ...(currentPassword && { current_password: currentPassword }) };
}

function failure(error: unknown): Failure {
  return { success: false, message: messageOf(error, texts.secondFactorFailed), error: codeOf(error) };
}
