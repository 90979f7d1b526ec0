/**
 * Endpoints for the image sessions of accounts: credentials for loading pixels for a limited time. An image session is not a sign-in.
 * A visitor of a share link gets one from `openShareLink`; a program sends its API token instead.
 */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';

export const createImageSession = endpoint({
  method: 'POST',
  path: '/auth/image-session',
  summary: 'Create an image session',
  access: 'session.own',
  defaultMessageLanguage: 'en',
  response: z.object({
    session_id: z.string(),
    expires_in: z.number().int().meta({ description: 'Seconds for which the session is valid' }),
  }),
  status: 201,
  errors: ['rate_limited'],
});

export const ImageSessionStats = z
  .object({
    active_sessions: z.number().int(),
    sessions: z.array(
      z.object({
        session_id: z.string().meta({ description: 'The first 8 characters of the id' }),
        created_at: z.iso.datetime(),
        expires_in: z.number().int().meta({ description: 'Seconds left' }),
        age: z.number().int().meta({ description: 'Seconds since the session was created' }),
        request_count: z.number().int(),
      }),
    ),
  })
  .meta({ id: 'ImageSessionStats' });
export type ImageSessionStats = z.infer<typeof ImageSessionStats>;

export const getImageSessionStats = endpoint({
  method: 'GET',
  path: '/auth/image-session/stats',
  summary: "The caller's own image sessions",
  access: 'session.own',
  defaultMessageLanguage: 'en',
  response: ImageSessionStats,
  status: 200,
  errors: [],
});

export const deleteImageSession = endpoint({
  method: 'DELETE',
  path: '/auth/image-session/:sessionId',
  summary: 'End an image session of the caller',
  access: 'session.own',
  defaultMessageLanguage: 'en',
  response: null,
  status: 204,
  errors: ['not_found'],
});
