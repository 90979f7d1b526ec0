/**
 * API calls for cases (the slides of one specimen) and their registrations (transforms that align two slides of a
 * case). A function that returns an `ActionResult` never throws: the result says whether the call succeeded, with a
 * message for the user.
 */
import {
  type BodyInputOf,
  type Case,
  createCase,
  deleteCase,
  listCases,
  type RegistrationMatrix,
  type ResponseOf,
  registerCaseSlides,
  updateCase,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import type { ActionResult } from '../notifications/action-result.ts';
import { call, codeOf, messageOf } from './client.ts';
import { queryClient } from './query-client.ts';
import { texts, imageTexts as viewerTexts } from './texts.ts';

export type NewCase = BodyInputOf<typeof createCase>;
export type CaseChanges = BodyInputOf<typeof updateCase>;
export type NewRegistration = BodyInputOf<typeof registerCaseSlides>;

const casesKey = ['cases'];
const casesStaleMs = 60_000; // age after which cached cases are loaded again

interface CasesOptions {
  /** Loads only the cases of this dataset; null loads all cases. */
  readonly dataset?: string | null;
  readonly isEnabled?: boolean;
}

/** Loads the cases with slides that the account may view, sorted by dataset and name in natural order (2 before 10). */
export function useCases({ dataset = null, isEnabled = true }: CasesOptions = {}) {
  return useQuery({
    queryKey: [...casesKey, dataset],
    queryFn: async ({ signal }): Promise<readonly Case[]> =>
      (await call(listCases, { query: dataset === null ? {} : { dataset }, signal })).cases,
    staleTime: casesStaleMs,
    enabled: isEnabled,
  });
}

export function makeCase(newCase: NewCase): Promise<ActionResult> {
  return runAndReloadCases(texts.caseSaved, texts.caseFailed, () => call(createCase, { body: newCase }));
}

export function changeCase(caseId: string, changes: CaseChanges): Promise<ActionResult> {
  return runAndReloadCases(texts.caseSaved, texts.caseFailed, () =>
    call(updateCase, { params: { caseId }, body: changes }),
  );
}

export function removeCase(caseId: string): Promise<ActionResult> {
  return runAndReloadCases(texts.caseDeleted, texts.caseNotDeleted, () =>
    call(deleteCase, { params: { caseId } }),
  );
}

/** Makes all screens load the cases again after slides have changed, because a case does not list removed slides. */
export function invalidateCases(): void {
  void queryClient.invalidateQueries({ queryKey: casesKey });
}

/** Runs a request, reloads the cases, and returns the result. */
async function runAndReloadCases(
  successMessage: string,
  failureMessage: string,
  request: () => Promise<unknown>,
): Promise<ActionResult> {
  try {
    await request();
    return { success: true, message: successMessage };
  } catch (error) {
    return { success: false, message: messageOf(error, failureMessage), error: codeOf(error) };
  } finally {
    await queryClient.invalidateQueries({ queryKey: casesKey });
  }
}

/** Registers two slides of a case. @returns the transform between the slides, or a message for the user */
export async function registerSlides(
  caseId: string,
  registration: NewRegistration,
): Promise<ResponseOf<typeof registerCaseSlides> | { readonly error: string }> {
  try {
    return await call(registerCaseSlides, { params: { caseId }, body: registration });
  } catch (error) {
    return { error: messageOf(error, viewerTexts.registrationFailed) };
  } finally {
    await queryClient.invalidateQueries({ queryKey: casesKey });
  }
}

/** The transform from pixels of one slide (`from`) to pixels of another (`to`). `from` and `to` are image ids. */
export interface Registration {
  readonly from: string;
  readonly to: string;
  readonly matrix: RegistrationMatrix;
}

/** Returns the registration of two slides of any case, in either direction; null if there is none. */
export function registrationOf(
  cases: readonly Case[],
  imageId: string | null,
  otherId: string | null,
): Registration | null {
  for (const { registrations } of cases) {
    for (const { from_image: from, to_image: to, matrix } of registrations) {
      const connectsBoth = (from === imageId && to === otherId) || (from === otherId && to === imageId);
      if (connectsBoth) return { from, to, matrix };
    }
  }
  return null;
}
