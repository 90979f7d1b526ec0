/**
 * Endpoints for share links. With the URL of a link, a visitor without an account can view a slide, case, collection or saved view.
 * The secret of the link is in the fragment of the URL, which browsers do not send to servers. The server stores only a hash of the secret.
 */
import { z } from 'zod';
import { QuestionInResponse } from './collections.ts';
import { endpoint } from './endpoint.ts';
import { reason } from './error-reasons.ts';
import { FieldOfView, ItemTitle } from './saved-views.ts';
import { Id } from './text.ts';

export const ShareTargetType = z.enum(['slide', 'case', 'collection', 'view']);
export type ShareTargetType = z.infer<typeof ShareTargetType>;

const Target = z.object({ type: ShareTargetType, id: z.string() });

/** Number of days until a link expires if its creator sets no end. */
export const shareLinkDefaultDays = 7;
/** The largest maximum number of openings that a link can have. */
export const maxShareLinkOpenings = 1_000_000;

export const ShareLink = z
  .object({
    id: z.string(),
    title: z.string(),
    target: Target,
    owner: z.string().meta({ description: 'uid of the creator' }),
    owner_name: z.string().nullable().meta({ description: 'Display name; without one, the e-mail address' }),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    openings: z.number().int(), // number of times that the link was opened
    max_openings: z.number().int().nullable(), // null: no limit
    has_password: z.boolean(),
    show_annotations: z.boolean(),
    free_movement: z.boolean().meta({ description: 'The page lets visitors move and zoom the slides' }),
    ended: z.boolean().meta({
      description:
        'True if the link has ended for good. A link that has not ended cannot be opened while its slides may not be shared',
    }),
  })
  .meta({ id: 'ShareLink' });
export type ShareLink = z.infer<typeof ShareLink>;

export const createShareLink = endpoint({
  method: 'POST',
  path: '/share-links',
  summary: 'Create a share link; only this response contains its URL with the secret',
  access: 'sharing.own',
  defaultMessageLanguage: 'en', // sent by the viewer, whose texts are English (ACC-10)
  body: z.object({
    target: z.object({ type: ShareTargetType, id: Id }),
    title: ItemTitle,
    expires_at: z.iso
      .datetime({ offset: true })
      .or(z.iso.date())
      .optional()
      .meta({ description: 'At most a year from now; default: 7 days from now' }),
    max_openings: z.number().int().min(1).max(maxShareLinkOpenings).nullable().optional(),
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
  summary: "The caller's share links, or all of them for administrators, newest first",
  access: 'sharing.own',
  defaultMessageLanguage: 'tr',
  response: z.object({ share_links: z.array(ShareLink) }),
  status: 200,
  errors: [],
});

export const endShareLink = endpoint({
  method: 'DELETE',
  path: '/share-links/:linkId',
  summary:
    'End a share link of the caller, or any for administrators; the sessions of its visitors end at once',
  access: 'sharing.own',
  defaultMessageLanguage: 'tr',
  response: null,
  status: 204,
  errors: ['not_found'],
});

/** A slide as a visitor sees it, without the names of its file and dataset. */
export const SharedItem = z.object({
  image_id: z.string(),
  title: z.string(),
  text: z.string().nullable(),
  mpp_x: z.number().nullable().meta({ description: 'Width of a pixel in µm; null when not known exactly' }),
  mpp_y: z.number().nullable().meta({ description: 'Height of a pixel in µm; null when not known exactly' }),
  objective_power: z.number().nullable(),
  field: FieldOfView.optional(), // the field of view of a saved view
  colours: z
    .unknown()
    .optional()
    .meta({ description: 'Colour settings of a saved view, as the web app stored them' }),
  item: z.number().int().optional().meta({ description: 'Position in the collection, from 0' }),
  question: QuestionInResponse.optional(),
});
export type SharedItem = z.infer<typeof SharedItem>;

export const openShareLink = endpoint({
  method: 'POST',
  path: '/share-links/open',
  summary:
    'Exchange the secret of a share link for an image session with access to its slides, or extend this session',
  access: 'anyone',
  defaultMessageLanguage: 'tr',
  body: z.object({
    secret: z.string().min(1).max(200),
    password: z.string().max(200).optional(),
    session_id: z.string().max(200).optional().meta({
      description:
        'A session that this link has opened, valid or expired less than 12 hours ago: it is extended, which does not count as an opening',
    }),
  }),
  response: z.object({
    session_id: z.string(),
    expires_in: z.number().int().meta({ description: 'Seconds for which the session is valid' }),
    title: z.string(),
    items: z.array(SharedItem),
    free_movement: z.boolean(),
    show_annotations: z.boolean(),
    collection_id: z
      .string()
      .optional()
      .meta({ description: 'The shown collection, to follow its presentation and answer its questions' }),
  }),
  status: 200,
  errors: ['not_found', 'password_required', 'password_invalid', 'rate_limited'],
});
