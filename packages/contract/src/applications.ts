/** Endpoints for applications: administrators list pending accounts, and approve or reject several of them at once. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { GrantableRole, Status } from './permissions.ts';
import { Id } from './text.ts';
import { AccessTerms, Offset, PeopleSearch } from './user-management.ts';
import { Reason, UserDetails, withUnknownValues } from './users.ts';

/** A possible second account of an applicant. `same-mailbox`: both e-mail addresses are equal without a `+tag`. */
export const LikelyDuplicate = z
  .object({
    uid: z.string(),
    email: z.string(),
    displayName: z.string().nullable(),
    status: withUnknownValues(Status), // also accepts a status that a later version has added
    why: z.enum(['same-name', 'same-mailbox', 'similar-email']),
  })
  .meta({ id: 'LikelyDuplicate' });
export type LikelyDuplicate = z.infer<typeof LikelyDuplicate>;

/** Default number of applications in a response. */
export const applicationsDefaultLimit = 200;
export const applicationsMaxLimit = 1000;

export const listApplications = endpoint({
  method: 'GET',
  path: '/admin/applications',
  summary: 'Applicants, oldest application first, with accounts that may belong to the same person',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  query: z.object({
    q: PeopleSearch,
    limit: z.coerce.number().int().min(1).max(applicationsMaxLimit).default(applicationsDefaultLimit),
    offset: Offset,
  }),
  response: z.object({
    applications: z.array(
      z.object({
        user: UserDetails,
        duplicates: z
          .array(LikelyDuplicate)
          .meta({ description: 'At most 5, the most likely duplicate first' }),
      }),
    ),
    total: z.number().int().optional().meta({ description: 'Applicants that match the search' }),
    waiting: z.number().int().meta({ description: 'All applicants, including those that do not match' }),
  }),
  status: 200,
  errors: [],
});

/** Maximum number of applicants in one approval or rejection request. The web app splits larger selections into several requests. */
export const maxDecisionsPerRequest = 50;

const ApplicantUids = z.array(Id).min(1).max(maxDecisionsPerRequest);

/** The result for one applicant. `error` is null if the decision was carried out. */
export const DecisionResult = z
  .object({
    uid: z.string(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'DecisionResult' });
export type DecisionResult = z.infer<typeof DecisionResult>;

const DecisionResults = z.object({ results: z.array(DecisionResult) });

/**
 * `AccessTerms` are the granted datasets and the end date. Each approval is a separate change with an e-mail and an audit event. Only
 * pending accounts are approved: an application that another administrator has rejected since the caller loaded the list stays rejected.
 */
export const approveApplications = endpoint({
  method: 'POST',
  path: '/admin/applications/approve',
  summary: 'Approve several applicants on the same terms; the response has a result for each',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  body: z.object({ uids: ApplicantUids, role: GrantableRole.optional(), ...AccessTerms }),
  response: DecisionResults,
  status: 200,
  errors: [],
});

export const rejectApplications = endpoint({
  method: 'POST',
  path: '/admin/applications/reject',
  summary: 'Reject several applicants with the same reason; the response has a result for each',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  body: z.object({ uids: ApplicantUids, reason: Reason }),
  response: DecisionResults,
  status: 200,
  errors: [],
});
