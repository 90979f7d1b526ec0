/** Endpoints for API tokens: credentials for programs, with scopes, datasets and an end date. */
import { z } from 'zod';
import { ApiTokenScope } from './api-token-scopes.ts';
import { endpoint } from './endpoint.ts';
import { may, type Role, type Status } from './permissions.ts';
import { ComparedName, SingleLine } from './text.ts';
import { Timestamp } from './timestamp.ts';

/** Start of every API token, by which the server and secret scanners distinguish it from the token of a sign-in. */
export const apiTokenPrefix = 'lam_';

const readScopes: readonly ApiTokenScope[] = ['slides:read', 'annotations:read'];

/** Returns the scopes that an account may give to its tokens. Viewers may only read, and only administrators may upload slides. */
export function grantableScopes(account: {
  readonly status: Status;
  readonly role: Role;
}): readonly ApiTokenScope[] {
  if (!may(account, 'api-tokens.own')) return [];
  if (account.role === 'viewer') return readScopes;
  const mayUpload = may(account, 'catalogue.write');
  return ApiTokenScope.options.filter((scope) => scope !== 'slides:upload' || mayUpload);
}

/** Lifetime of an API token in days. */
export const apiTokenDays = { default: 90, max: 365 } as const;

/** Maximum number of valid tokens per account. */
export const maxApiTokens = 50;

export const ApiToken = z
  .object({
    id: z.string(),
    prefix: z.string().meta({ description: 'First characters of the token, to recognise it by' }),
    name: z.string(),
    scopes: z.array(ApiTokenScope),
    datasets: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Null: every dataset that the owner may see' }),
    created_at: Timestamp,
    expires_at: Timestamp,
    last_used_at: Timestamp.nullable().meta({
      description: 'Accurate to a minute; null before the first use',
    }),
  })
  .meta({ id: 'ApiToken' });
export type ApiToken = z.infer<typeof ApiToken>;

export const listApiTokens = endpoint({
  method: 'GET',
  path: '/user/api-tokens',
  summary: "The caller's valid API tokens, newest first",
  access: 'api-tokens.own',
  defaultMessageLanguage: 'tr',
  response: z.object({ tokens: z.array(ApiToken) }),
  status: 200,
  errors: [],
});

export const createApiToken = endpoint({
  method: 'POST',
  path: '/user/api-tokens',
  summary: 'Create an API token. Only this response contains the token; the server stores its hash',
  access: 'api-tokens.own',
  defaultMessageLanguage: 'tr',
  body: z.object({
    name: SingleLine.min(1).max(100),
    scopes: z
      .array(ApiTokenScope)
      .min(1)
      .max(20)
      .transform((scopes) => ApiTokenScope.options.filter((scope) => scopes.includes(scope))), // removes duplicates
    datasets: z.array(ComparedName.trim().min(1).max(255)).min(1).max(500).nullable().optional(),
    expires_in_days: z.number().int().min(1).max(apiTokenDays.max).default(apiTokenDays.default),
  }),
  response: ApiToken.omit({ created_at: true, last_used_at: true }).extend({ token: z.string() }),
  status: 201,
  errors: ['not_found', 'too_many_api_tokens', 'rate_limited'],
});

export const deleteApiToken = endpoint({
  method: 'DELETE',
  path: '/user/api-tokens/:tokenId',
  summary: 'Revoke an API token of the caller',
  access: 'api-tokens.own',
  defaultMessageLanguage: 'tr',
  response: null,
  status: 204,
  errors: ['not_found'],
});

/** An API token with its owner, as administrators see it. */
export const OwnedApiToken = ApiToken.extend({
  uid: z.string(),
  email: z.string(),
  displayName: z.string().nullable(),
}).meta({ id: 'OwnedApiToken' });
export type OwnedApiToken = z.infer<typeof OwnedApiToken>;

export const listAllApiTokens = endpoint({
  method: 'GET',
  path: '/admin/api-tokens',
  summary: 'The valid API tokens of all accounts, newest first',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  response: z.object({ tokens: z.array(OwnedApiToken) }),
  status: 200,
  errors: [],
});

export const revokeApiToken = endpoint({
  method: 'DELETE',
  path: '/admin/api-tokens/:tokenId',
  summary: 'Revoke an API token of any account',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  response: null,
  status: 204,
  errors: ['not_found'],
});
