/**
 * API calls for the sign-ins of the signed-in account on all devices. A function that returns an `ActionResult` never
 * throws: the result says whether the call succeeded, with a message for the user.
 */
import { endSignIn as endSignInEndpoint, endSignIns, listSignIns, type SignIn } from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import type { ActionResult } from '../notifications/action-result.ts';
import { clearSignIn } from './auth.ts';
import { call, codeOf, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { texts } from './texts.ts';

export const signInsKey = ['sign-ins'];

/** Loads the sign-ins of the signed-in account, most recently used first. */
export function useSignIns() {
  return useQuery({
    queryKey: signInsKey,
    queryFn: async ({ signal }): Promise<readonly SignIn[]> => (await call(listSignIns, { signal })).sign_ins,
  });
}

export function endSignIn(id: string): Promise<ActionResult> {
  const request = call(endSignInEndpoint, { params: { id } });
  return resultOf(request, texts.signInEnded, (signIn) => signIn.id === id);
}

export function endOtherSignIns(): Promise<ActionResult> {
  const request = call(endSignIns, { query: { except: 'current' } });
  return resultOf(request, texts.otherSignInsEnded, ({ current }) => !current);
}

/** Ends all sign-ins including this one: the browser is signed out. */
export async function endAllSignIns(): Promise<ActionResult> {
  const result = await resultOf(call(endSignIns, { query: {} }), texts.allSignInsEnded, () => false);
  if (result.success) clearSignIn();
  return result;
}

/**
 * Returns the result of a request that ends sign-ins, and reloads the list.
 *
 * @param isEnded selects the sign-ins to remove from the list at once: their buttons must not be clicked again while the list reloads
 */
async function resultOf(
  request: Promise<unknown>,
  successMessage: string,
  isEnded: (signIn: SignIn) => boolean,
): Promise<ActionResult> {
  try {
    await request;
    queryClient.setQueryData<readonly SignIn[]>(signInsKey, (signIns) =>
      signIns?.filter((signIn) => !isEnded(signIn)),
    );
    return { success: true, message: successMessage };
  } catch (error) {
    return { success: false, message: messageOf(error, texts.signInsFailed), error: codeOf(error) };
  } finally {
    void queryClient.invalidateQueries({ queryKey: signInsKey });
  }
}
