/** Applications: the people who wait for approval, and decisions about several of them at once. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { GrantableRole, Status } from './permissions.ts';
import { Id } from './text.ts';
import { AccessTerms, Offset, PeopleSearch } from './user-management.ts';
import { lenient, Reason, UserDetails } from './users.ts';

/** An account that may belong to the same person as an applicant, and the reason. */
export const LikelyDuplicate = z
  .object({
    uid: z.string(),
    email: z.string(),
    displayName: z.string().nullable(),
    status: lenient(Status),
    why: z.enum(['same-name', 'same-mailbox', 'similar-email']),
  })
  .meta({ id: 'LikelyDuplicate' });
export type LikelyDuplicate = z.infer<typeof LikelyDuplicate>;

/** Default number of applications in a response, those that have waited longest first. */
export const applicationsAtOnce = 200;
export const applicationsMaxLimit = 1000;

export const listApplications = endpoint({
  method: 'GET',
  path: '/admin/applications',
  summary: 'Applicants, longest waiting first, with accounts that may belong to the same person',
  access: 'users.manage',
  language: 'tr',
  query: z.object({
    q: PeopleSearch,
    limit: z.coerce.number().int().min(1).max(applicationsMaxLimit).default(applicationsAtOnce),
    offset: Offset,
  }),
  response: z.object({
    applications: z.array(
      z.object({
        user: UserDetails,
        duplicates: z.array(LikelyDuplicate).meta({ description: 'The likeliest first, at most 5' }),
      }),
    ),
    total: z.number().int().optional().meta({ description: 'Applicants that match the search' }),
    waiting: z.number().int().meta({ description: 'All applicants, whether they match or not' }),
  }),
  status: 200,
  errors: [],
});

/** Maximum number of people in one call. The web app splits larger selections into several calls. */
export const decisionsAtOnce = 50;

const Applicants = z.array(Id).min(1).max(decisionsAtOnce);

/** One person's outcome: `error` is null when the decision was carried out. */
export const DecisionResult = z
  .object({
    uid: z.string(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'DecisionResult' });
export type DecisionResult = z.infer<typeof DecisionResult>;

const Results = z.object({ results: z.array(DecisionResult) });

/**
 * Each approval is a separate change with an e-mail and an audit entry. Only pending accounts are approved, so
 * that an application which another administrator rejects meanwhile stays rejected.
 */
export const approveApplications = endpoint({
  method: 'POST',
  path: '/admin/applications/approve',
  summary: 'Approve several applicants on the same terms, with an outcome for each',
  access: 'users.manage',
  language: 'tr',
  body: z.object({ uids: Applicants, role: GrantableRole.optional(), ...AccessTerms }),
  response: Results,
  status: 200,
  errors: [],
});

export const rejectApplications = endpoint({
  method: 'POST',
  path: '/admin/applications/reject',
  summary: 'Reject several applicants with the same reason, with an outcome for each',
  access: 'users.manage',
  language: 'tr',
  body: z.object({ uids: Applicants, reason: Reason }),
  response: Results,
  status: 200,
  errors: [],
});
