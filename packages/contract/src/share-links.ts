/**
 * Share links: a visitor with the address opens what the link names, without an account. The secret is in the fragment of the
 * address, which browsers send to no server, and the server stores its hash alone.
 */
import { z } from 'zod';
import { ShownQuestion } from './collections.ts';
import { endpoint } from './endpoint.ts';
import { reason } from './error-reasons.ts';
import { Field, ItemTitle } from './saved-views.ts';
import { Id } from './text.ts';

export const ShareTargetType = z.enum(['slide', 'case', 'collection', 'view']);
export type ShareTargetType = z.infer<typeof ShareTargetType>;

const Target = z.object({ type: ShareTargetType, id: z.string() });

/** Days until a link ends if its creator sets no end. */
export const shareLinkDefaultDays = 7;
export const ShareLink = z
  .object({
    id: z.string(),
    title: z.string(),
    target: Target,
    owner: z.string().meta({ description: 'uid of the maker' }),
    owner_name: z.string().nullable().meta({ description: 'Display name, else e-mail address' }),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    openings: z.number().int(),
    max_openings: z.number().int().nullable(),
    has_password: z.boolean(),
    show_annotations: z.boolean(),
    free_movement: z.boolean(),
    ended: z.boolean().meta({ description: 'It opens nothing any more' }),
  })
  .meta({ id: 'ShareLink' });
export type ShareLink = z.infer<typeof ShareLink>;

export const createShareLink = endpoint({
  method: 'POST',
  path: '/share-links',
  summary: 'Make a share link; the address with its secret is answered once',
  access: 'sharing.own',
  language: 'en',
  body: z.object({
    target: z.object({ type: ShareTargetType, id: Id }),
    title: ItemTitle,
    expires_at: z.iso
      .datetime({ offset: true })
      .or(z.iso.date())
      .optional()
      .meta({ description: 'At most a year from now; default: 7 days from now' }),
    max_openings: z.number().int().min(1).max(1_000_000).nullable().optional(),
    password: z.string().max(200, reason('text_too_long')).nullable().optional(),
    show_annotations: z.boolean().default(false),
    free_movement: z.boolean().default(true),
  }),
  response: ShareLink.extend({ url: z.string() }),
  status: 201,
  errors: ['not_found', 'sharing_off', 'rate_limited'],
});

export const listShareLinks = endpoint({
  method: 'GET',
  path: '/share-links',
  summary: 'Own share links; for administrators all of them; newest first',
  access: 'sharing.own',
  language: 'en',
  response: z.object({ share_links: z.array(ShareLink) }),
  status: 200,
  errors: [],
});

export const endShareLink = endpoint({
  method: 'DELETE',
  path: '/share-links/:linkId',
  summary: 'End an own share link, or as an administrator any; what it has opened ends at once',
  access: 'sharing.own',
  language: 'en',
  response: null,
  status: 204,
  errors: ['not_found'],
});

/** The properties of a slide that a visitor sees; they contain no name of a file or dataset. */
export const SharedItem = z.object({
  image_id: z.string(),
  title: z.string(),
  text: z.string().nullable(),
  mpp_x: z.number().nullable().meta({ description: 'µm per pixel; null when it is not known' }),
  mpp_y: z.number().nullable(),
  objective_power: z.number().nullable(),
  field: Field.optional(),
  colours: z.unknown().optional().meta({ description: 'Of a saved view, as the web app stored them' }),
  item: z.number().int().optional().meta({ description: 'Position in the collection' }),
  question: ShownQuestion.optional(),
});
export type SharedItem = z.infer<typeof SharedItem>;

export const openShareLink = endpoint({
  method: 'POST',
  path: '/share-links/open',
  summary: 'Exchange the secret of a share link for an image session that opens exactly what the link names',
  access: 'anyone',
  language: 'en',
  body: z.object({
    secret: z.string().min(1).max(200),
    password: z.string().max(200).optional(),
  }),
  response: z.object({
    session_id: z.string(),
    expires_in: z.number().int().meta({ description: 'Seconds' }),
    title: z.string(),
    items: z.array(SharedItem),
    free_movement: z.boolean(),
    show_annotations: z.boolean(),
    collection_id: z.string().optional().meta({ description: 'For the calls of presentations and answers' }),
  }),
  status: 200,
  errors: ['not_found', 'password_required', 'password_invalid', 'rate_limited'],
});
