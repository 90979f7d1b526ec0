/** What a deployment decides, written by the server into the page's `<meta name="settings">`. */
import { z } from 'zod';

const Settings = z.object({
  productName: z.string().min(1),
  /** Address to tell of a new or ended sign-in; null for none. */
  tokenSyncUrl: z.string().nullable(),
  signIn: z.object({
    /** With e-mail and password. */
    embedded: z.boolean(),
    /** An OpenID Connect provider beside or instead of it; `name` null: people know it as their institution's. */
    external: z.object({ issuer: z.string(), clientId: z.string(), name: z.string().nullable() }).nullable(),
  }),
});
type Settings = z.infer<typeof Settings>;

function readSettings(): Settings {
  const content = document.querySelector('meta[name="settings"]')?.getAttribute('content');
  return Settings.parse(JSON.parse(content ?? ''));
}

export const settings: Settings = readSettings();
