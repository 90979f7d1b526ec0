/** Endpoints for saved views: parts of slides that a user has saved with a title (permission `sharing.own`). */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { reason } from './error-reasons.ts';
import { Id, MultiLine, SingleLine } from './text.ts';

/** A field of view: the part of a slide that the viewer shows. */
export const FieldOfView = z
  .object({
    x: z.number().meta({ description: 'Centre, in pixels of full resolution' }),
    y: z.number(),
    zoom: z.number().positive().meta({ description: 'CSS pixels per pixel of full resolution' }),
    rotation: z.number().default(0).meta({ description: 'Degrees, clockwise' }),
    mirrored: z.boolean().default(false),
  })
  .meta({ id: 'Field' });
export type FieldOfView = z.infer<typeof FieldOfView>;

/** Maximum number of saved views that an account may own. */
export const maxSavedViews = 2000;

/** Maximum length of the settings as JSON. */
const maxSettingsChars = 20_000;

/** Maximum nesting of lists and objects in the settings. Those of the web app have a few levels; thousands make JSON.stringify fail. */
const maxSettingsDepth = 20;

/** Settings of the viewer, which the server stores without interpreting them. */
const Settings = z
  .unknown()
  .refine((value) => isNestedAtMost(value, maxSettingsDepth), { abort: true })
  .refine((value) => (JSON.stringify(value) ?? '').length <= maxSettingsChars, {
    message: reason('text_too_long'),
    params: { limit: maxSettingsChars },
  });

function isNestedAtMost(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isNestedAtMost(member, levels - 1));
}

/** Title of a saved view, a collection or a share link. */
export const ItemTitle = SingleLine.min(1).max(200, reason('text_too_long'));
/** Text of a saved view, a collection or its items. */
export const ItemText = MultiLine.max(4000, reason('text_too_long'));

export const SavedView = z
  .object({
    id: z.string(),
    version: z.number().int(),
    image_id: z.string(),
    title: z.string(),
    text: z.string().nullable(),
    field: FieldOfView,
    colours: z.unknown().meta({ description: 'Colour settings as the web app stored them; null: none' }),
    layers: z.unknown().meta({ description: 'Layer settings as the web app stored them; null: none' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'SavedView' });
export type SavedView = z.infer<typeof SavedView>;

const changeableProperties = {
  title: ItemTitle,
  text: ItemText.nullable().optional(),
  field: FieldOfView,
  colours: Settings.optional(),
  layers: Settings.optional(),
};

export const listSavedViews = endpoint({
  method: 'GET',
  path: '/saved-views',
  summary: "The caller's saved views, last changed first",
  access: 'sharing.own',
  defaultMessageLanguage: 'tr',
  response: z.object({ saved_views: z.array(SavedView) }),
  status: 200,
  errors: [],
});

export const createSavedView = endpoint({
  method: 'POST',
  path: '/saved-views',
  summary: 'Save a view of a slide',
  access: 'sharing.own',
  defaultMessageLanguage: 'en', // sent by the viewer, whose texts are English (ACC-10)
  body: z.object({ image_id: Id, ...changeableProperties }),
  response: SavedView,
  status: 201,
  errors: ['not_found', 'too_many_saved_views', 'rate_limited'],
});

export const getSavedView = endpoint({
  method: 'GET',
  path: '/saved-views/:viewId',
  summary: 'One saved view of the caller',
  access: 'sharing.own',
  defaultMessageLanguage: 'en',
  response: SavedView,
  status: 200,
  errors: ['not_found'],
});

export const updateSavedView = endpoint({
  method: 'PATCH',
  path: '/saved-views/:viewId',
  summary: 'Change a saved view; fields that are left out stay unchanged',
  access: 'sharing.own',
  defaultMessageLanguage: 'en',
  body: z.object({
    ...changeableProperties,
    image_id: Id.optional(),
    title: ItemTitle.optional(),
    field: FieldOfView.optional(),
    version: z.number().int().optional(),
  }),
  response: SavedView,
  status: 200,
  errors: ['not_found', 'conflict', 'rate_limited'],
});

export const deleteSavedView = endpoint({
  method: 'DELETE',
  path: '/saved-views/:viewId',
  summary: 'Delete a saved view',
  access: 'sharing.own',
  defaultMessageLanguage: 'tr',
  response: null,
  status: 204,
  errors: ['not_found'],
});
