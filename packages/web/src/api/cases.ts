/** Cases: the slides of one specimen, and how two of them lie on each other. */
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
import { texts } from './texts.ts';

export type NewCase = BodyInputOf<typeof createCase>;
export type CaseChanges = BodyInputOf<typeof updateCase>;
export type NewRegistration = BodyInputOf<typeof registerCaseSlides>;

const casesKey = ['cases'];
const casesStaleMs = 60_000;

interface CasesOptions {
  /** Null: of all datasets. */
  readonly dataset?: string | null;
  readonly isEnabled?: boolean;
}

/** Cases with slides that the account may view, in natural order of dataset and name. */
export function useCases({ dataset = null, isEnabled = true }: CasesOptions = {}) {
  return useQuery({
    queryKey: [...casesKey, dataset],
    queryFn: async ({ signal }): Promise<readonly Case[]> =>
      (await call(listCases, { query: dataset === null ? {} : { dataset }, signal })).cases,
    staleTime: casesStaleMs,
    enabled: isEnabled,
  });
}

export function makeCase(wanted: NewCase): Promise<ActionResult> {
  return change(texts.caseSaved, () => call(createCase, { body: wanted }));
}

export function changeCase(caseId: string, changes: CaseChanges): Promise<ActionResult> {
  return change(texts.caseSaved, () => call(updateCase, { params: { caseId }, body: changes }));
}

export function removeCase(caseId: string): Promise<ActionResult> {
  return change(texts.caseDeleted, () => call(deleteCase, { params: { caseId } }));
}

async function change(done: string, work: () => Promise<unknown>): Promise<ActionResult> {
  try {
    await work();
    return { success: true, message: done };
  } catch (error) {
    return { success: false, message: messageOf(error, texts.caseFailed), error: codeOf(error) };
  } finally {
    await queryClient.invalidateQueries({ queryKey: casesKey });
  }
}

/** @returns the transform between the slides, or why there is none */
export async function registerSlides(
  caseId: string,
  wanted: NewRegistration,
): Promise<ResponseOf<typeof registerCaseSlides> | { readonly error: string }> {
  try {
    return await call(registerCaseSlides, { params: { caseId }, body: wanted });
  } catch (error) {
    return { error: messageOf(error, texts.caseFailed) };
  } finally {
    await queryClient.invalidateQueries({ queryKey: casesKey });
  }
}

/** How one slide lies on another: from pixels of `from` to pixels of `to`. */
export interface Registration {
  readonly from: string;
  readonly to: string;
  readonly matrix: RegistrationMatrix;
}

/** Returns the registration of two slides of any case, in either direction; null without one. */
export function registrationOf(
  cases: readonly Case[],
  one: string | null,
  other: string | null,
): Registration | null {
  for (const { registrations } of cases) {
    for (const { from_image: from, to_image: to, matrix } of registrations) {
      if ((from === one && to === other) || (from === other && to === one)) return { from, to, matrix };
    }
  }
  return null;
}
