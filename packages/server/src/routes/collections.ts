/**
 * Routes of saved views (a slide with a field of view) and of collections: lists of slides, cases and saved views, with questions,
 * answers and live presentations. The caller of a request is an account (`user`). To answer a question or to follow a presentation, it
 * can also be the visitor of a share link, without `user`.
 */
import { Readable } from 'node:stream';
import {
  answerQuestion,
  createCollection,
  createSavedView,
  deleteCollection,
  deleteSavedView,
  followPresentation,
  getCollection,
  getSavedView,
  listAnswers,
  listCollections,
  listSavedViews,
  may,
  present,
  updateCollection,
  updateSavedView,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { answersCsv } from '../collections/answers.ts';
import { type Follower, requireMayFollow } from '../collections/followers.ts';
import { PlainText, serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { actorOf } from './actor.ts';

type CollectionServices = Pick<
  Services,
  'db' | 'savedViews' | 'collections' | 'answers' | 'presentations' | 'signIn' | 'imageSessions'
>;

export function collectionRoutes(app: FastifyInstance, services: CollectionServices): void {
  const { savedViews, collections, answers } = services;

  serve(app, listSavedViews, async ({ caller }) => ({ saved_views: await savedViews.list(caller.user.uid) }));
  serve(app, createSavedView, (request) => savedViews.create(actorOf(request), request.body));
  serve(app, getSavedView, ({ params, caller }) => savedViews.get(caller.user.uid, params.viewId));
  serve(app, updateSavedView, (request) =>
    savedViews.update(actorOf(request), request.params.viewId, request.body),
  );
  serve(app, deleteSavedView, (request) => savedViews.delete(actorOf(request), request.params.viewId));

  serve(app, listCollections, async ({ caller }) => ({ collections: await collections.list(caller.user) }));
  serve(app, createCollection, (request) => collections.create(actorOf(request), request.body));
  serve(app, getCollection, ({ params, caller }) => collections.get(caller.user, params.collectionId));
  serve(app, updateCollection, (request) =>
    collections.update(actorOf(request), request.params.collectionId, request.body),
  );
  serve(app, deleteCollection, (request) =>
    collections.delete(actorOf(request), request.params.collectionId),
  );

  serve(app, answerQuestion, ({ params, body, caller }) => answers.give(caller, params.collectionId, body));

  serve(app, listAnswers, async ({ params, query, caller }) => {
    const answerList = await answers.list(caller.user.uid, params.collectionId);
    if (query.format === 'json') return { answers: answerList };
    return new PlainText(answersCsv(answerList), 'text/csv; charset=utf-8', 'answers.csv');
  });

  presentationRoutes(app, services);
}

function presentationRoutes(
  app: FastifyInstance,
  { db, presentations, signIn, imageSessions }: CollectionServices,
): void {
  serve(app, present, ({ params, body, caller }) =>
    presentations.show(caller.user.uid, params.collectionId, body),
  );

  // Streams server-sent events. Each contains the item and the field of view that the presenter shows at that time.
  serve(app, followPresentation, async ({ params, query, caller, signal, reply }) => {
    const { collectionId } = params;
    await requireMayFollow(db, caller, collectionId); // throws not_found without access

    /** Returns whether the credential of the request still gives access. The access may end while the stream is open. */
    async function mayFollow(): Promise<boolean> {
      try {
        const follower = await currentFollower();
        if (follower === null) return false;
        await requireMayFollow(db, follower, collectionId);
        return true;
      } catch {
        // There is no access any more, or the check failed. The stream then ends.
        return false;
      }
    }

    /** Reads the account or image session of the request again; null if its access has ended. */
    async function currentFollower(): Promise<Follower | null> {
      if ('user' in caller) {
        const user = await signIn.currentHolder(caller.tokenHash); // does not count as a use, so the sign-in can expire
        return user !== null && may(user, 'catalogue.read') ? { user } : null;
      }
      return imageSessions.resolve(query.session ?? ''); // a request without an account always has `session`
    }

    const followerId = 'user' in caller ? caller.user.uid : caller.hash; // a visitor has no account
    const hasNoBody = reply.request.method === 'HEAD';
    const waitMs = query.wait === undefined ? Infinity : query.wait * 1000; // `wait`: seconds after which the stream ends
    reply.header('X-Accel-Buffering', 'no'); // tells nginx to forward each event at once
    return {
      stream: hasNoBody
        ? Readable.from([])
        : Readable.from(
            presentations.follow(collectionId, { follower: followerId, signal, waitMs, mayFollow }),
          ),
      type: followPresentation.response,
      fileName: null, // an event stream is not saved as a file
    };
  });
}
