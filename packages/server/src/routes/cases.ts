import { createCase, deleteCase, getCase, listCases, registerCaseSlides, updateCase } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { actorOf } from './actor.ts';

/**
 * Routes of cases. A case groups the slides of one specimen. Accounts read cases, and register two slides of a case (compute the
 * transform that aligns them). Administrators create, change and delete cases.
 */
export function caseRoutes(app: FastifyInstance, { cases }: Pick<Services, 'cases'>): void {
  serve(app, listCases, async ({ query, caller }) => ({
    cases: await cases.list(caller.user, query.dataset),
  }));

  serve(app, getCase, ({ params, caller }) => cases.get(caller.user, params.caseId));

  serve(app, createCase, (request) => cases.create(actorOf(request), request.body));

  serve(app, updateCase, (request) => cases.update(actorOf(request), request.params.caseId, request.body));

  serve(app, deleteCase, (request) => cases.delete(actorOf(request), request.params.caseId));

  serve(app, registerCaseSlides, (request) =>
    cases.register(actorOf(request), request.params.caseId, request.body),
  );
}
