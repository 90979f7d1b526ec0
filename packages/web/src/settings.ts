/** What a deployment decides, written by the server into the page's `<meta name="settings">`. */
import { z } from 'zod';

const Settings = z.object({
  productName: z.string().min(1),
  /** Address to tell of a new or ended sign-in; null for none. */
  tokenSyncUrl: z.string().nullable(),
});
type Settings = z.infer<typeof Settings>;

function readSettings(): Settings {
  const content = document.querySelector('meta[name="settings"]')?.getAttribute('content');
  return Settings.parse(JSON.parse(content ?? ''));
}

export const settings: Settings = readSettings();
