/** The settings of the deployment, which the server writes into the page's `<meta name="settings">`. */
import { z } from 'zod';

const Settings = z.object({
  productName: z.string().min(1),
  /** URL at which the app reports each sign-in, with its token, and each sign-out (api/token-sync.ts); null for none. */
  tokenSyncUrl: z.string().nullable(),
  /** E-mail address or telephone number of the administrators, for people without access; null for none. */
  contact: z.string().nullable().default(null),
  /** Data-protection notice of the registration form; null for none. */
  privacyNotice: z.string().nullable().default(null),
  /** Whether a registration counts only after the link in an e-mail has been opened. */
  confirmsRegistrations: z.boolean().default(false),
  signIn: z.object({
    /** Whether people can sign in with e-mail and password. */
    embedded: z.boolean(),
    /** OpenID Connect provider; null for none. A null `name` is shown as "your institution's account". */
    external: z.object({ issuer: z.string(), clientId: z.string(), name: z.string().nullable() }).nullable(),
  }),
});
type Settings = z.infer<typeof Settings>;

function readSettings(): Settings {
  const content = document.querySelector('meta[name="settings"]')?.getAttribute('content');
  return Settings.parse(JSON.parse(content ?? '')); // throws without the element, which the server writes
}

export const settings: Settings = readSettings();
