/** The own sign-ins, and ending them. */
import { endSignIn as endSignInEndpoint, endSignIns, listSignIns, type SignIn } from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import type { ActionResult } from '../notifications/action-result.ts';
import { endSession } from './auth.ts';
import { call, codeOf, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { texts } from './texts.ts';

const signInsKey = ['sign-ins'];

/** Sorted by last use, newest first. */
export function useSignIns() {
  return useQuery({
    queryKey: signInsKey,
    queryFn: async ({ signal }): Promise<readonly SignIn[]> => (await call(listSignIns, { signal })).sign_ins,
  });
}

export function endSignIn(id: string): Promise<ActionResult> {
  return end(call(endSignInEndpoint, { params: { id } }), texts.signInEnded);
}

export function endOtherSignIns(): Promise<ActionResult> {
  return end(call(endSignIns, { query: { except: 'current' } }), texts.otherSignInsEnded);
}

/** Ends all sign-ins including this one: the browser is signed out. */
export async function endAllSignIns(): Promise<ActionResult> {
  const result = await end(call(endSignIns, { query: {} }), texts.allSignInsEnded);
  if (result.success) endSession();
  return result;
}

async function end(called: Promise<unknown>, done: string): Promise<ActionResult> {
  try {
    await called;
    return { success: true, message: done };
  } catch (error) {
    return { success: false, message: messageOf(error, texts.signInsFailed), error: codeOf(error) };
  } finally {
    void queryClient.invalidateQueries({ queryKey: signInsKey });
  }
}
