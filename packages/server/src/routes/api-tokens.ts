/** Routes of API tokens: users manage their own tokens; administrators list and revoke the tokens of all users. */
import {
  createApiToken,
  deleteApiToken,
  listAllApiTokens,
  listApiTokens,
  revokeApiToken,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { actorOf } from './actor.ts';

export function apiTokenRoutes(app: FastifyInstance, { apiTokens }: Pick<Services, 'apiTokens'>): void {
  serve(app, listApiTokens, async ({ caller }) => ({ tokens: await apiTokens.listOf(caller.user.uid) }));

  serve(app, createApiToken, (request) => apiTokens.create(actorOf(request), request.body));

  // Revokes a token of the caller. `revokeApiToken` below, for administrators, revokes a token of any account.
  serve(app, deleteApiToken, (request) => apiTokens.revokeOwn(actorOf(request), request.params.tokenId));

  serve(app, listAllApiTokens, async () => ({ tokens: await apiTokens.listAll() }));

  serve(app, revokeApiToken, (request) => apiTokens.revoke(actorOf(request), request.params.tokenId));
}
