import { createShareLink, endShareLink, listShareLinks, openShareLink } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { actorOf } from './actor.ts';
import { setSessionCookie } from './session-cookie.ts';

/** Routes that list, create, end and open share links, with which people without an account view slides. */
export function shareLinkRoutes(
  app: FastifyInstance,
  { shareLinks, config }: Pick<Services, 'shareLinks' | 'config'>,
): void {
  serve(app, listShareLinks, async ({ caller }) => ({ share_links: await shareLinks.list(caller.user) }));

  serve(app, createShareLink, (request) => shareLinks.create(actorOf(request), request.body));

  serve(app, endShareLink, (request) => shareLinks.end(actorOf(request), request.params.linkId));

  serve(app, openShareLink, async ({ body, origin, reply }) => {
    const opened = await shareLinks.open(body, origin);
    setSessionCookie(reply, config, opened);
    return opened;
  });
}
