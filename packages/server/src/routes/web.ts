/** Routes of the web app: its files, and its single HTML page for the path of every screen. */
import fs from 'node:fs/promises';
import path from 'node:path';
import compress from '@fastify/compress';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { compression } from '../http/compression.ts';
import type { Config } from '../platform/config.ts';
import type { Services } from '../services.ts';

/** Paths of the screens, except those of a collection. For an unknown path outside `/api` and `/assets`, the page has status 404. */
const screens: ReadonlySet<string> = new Set([
  '/',
  '/auth',
  '/auth/login',
  '/auth/callback',
  '/auth/register',
  '/auth/confirm',
  '/auth/password-reset',
  '/account-status',
  '/dashboard',
  '/dashboard/profile',
  '/wsi-viewer',
  '/collections',
  '/shared',
  '/admin',
  '/admin/users',
  '/admin/datasets',
  '/admin/slides',
  '/admin/cases',
  '/admin/audit',
  '/admin/api-tokens',
]);

/** Matches the paths of the screens of one collection, for example `/collections/<id>/edit`. */
const collectionScreen = /^\/collections\/[\w-]+(\/(edit|answers))?$/;

const builtWebApp = path.join(import.meta.dirname, '../../../web/dist');
const notBuilt = 'The web app has not been built yet. Stop the server and start it with: npm start\n';
const yearMs = 365 * 24 * 3_600_000;
const hourMs = 3_600_000;

/** @param folder folder of the built web app */
export async function webRoutes(
  app: FastifyInstance,
  { config }: Pick<Services, 'config'>,
  folder: string = builtWebApp,
): Promise<void> {
  const files = await filesIn(folder);
  await app.register(async (web) => {
    await web.register(compress, compression);
    // `serve: false`: the library only adds `reply.sendFile`; `preCompressed`: it prefers files that the build has compressed.
    await web.register(fastifyStatic, { root: folder, serve: false, preCompressed: true });

    web.get('/*', { config: { isPublic: true } }, async (request, reply) => {
      const urlPath = request.url.split('?', 1)[0] ?? '/';
      if (urlPath === '/api' || urlPath.startsWith('/api/')) return reply.callNotFound();
      const file = urlPath.slice(1);
      // The build puts scripts and styles into `assets` and adds a hash of the content to the name, so such a file never changes.
      const isHashed = file.startsWith('assets/');
      if (!files.has(file)) {
        if (isHashed) return reply.callNotFound();
        const screen = urlPath === '/' ? urlPath : urlPath.replace(/\/$/, ''); // a trailing slash does not matter
        const isScreen = screens.has(screen) || collectionScreen.test(screen);
        return sendPage(reply, isScreen ? 200 : 404);
      }
      return reply.sendFile(file, { maxAge: isHashed ? yearMs : hourMs, immutable: isHashed });
    });
  });

  async function sendPage(reply: FastifyReply, status: 200 | 404): Promise<FastifyReply> {
    const page = await fs.readFile(path.join(folder, 'index.html'), 'utf8').catch(() => null);
    reply.header('Cache-Control', 'no-cache');
    if (page === null) return reply.code(503).type('text/plain; charset=utf-8').send(notBuilt);
    return reply.code(status).type('text/html; charset=utf-8').send(withSettings(page, config));
  }
}

/** Returns the relative paths (with `/`) of all files except index.html, which `sendPage` sends; none if the web app is not built. */
async function filesIn(folder: string): Promise<ReadonlySet<string>> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return new Set(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'),
      )
      .filter((file) => file !== 'index.html'),
  );
}

/**
 * Inserts the settings of this installation into the HTML page. They are not in a separate script, which other sites
 * could load.
 */
function withSettings(
  page: string,
  { productName, tokenSyncUrl, contact, privacyNotice, registrationHideExisting, signIn }: Config,
): string {
  const { embedded, external } = signIn;
  const provider = external && { issuer: external.issuer, clientId: external.clientId, name: external.name };
  const settings = JSON.stringify({
    productName,
    tokenSyncUrl,
    contact,
    privacyNotice,
    confirmsRegistrations: registrationHideExisting, // then a registration must be confirmed by e-mail
    signIn: { embedded, external: provider },
  });
  // Functions return the replacements, because `replaceAll` would interpret `$` in a replacement string.
  return page
    .replaceAll('__SETTINGS__', () => escapeHtml(settings))
    .replaceAll('__PRODUCT_NAME__', () => escapeHtml(productName));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
