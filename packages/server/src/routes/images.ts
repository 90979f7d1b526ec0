import compress from '@fastify/compress';
import {
  deleteImage,
  getImage,
  getImagePosition,
  listImageGroups,
  listImageRows,
  listImages,
  updateImage,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import type { Origin } from '../audit/audit-recorder.ts';
import { matchesEtag } from '../domain/if-none-match.ts';
import type { Caller } from '../http/caller.ts';
import { compression } from '../http/compression.ts';
import { StreamedJson, serve, unchanged } from '../http/serve.ts';
import type { Services } from '../services.ts';

/** Routes of the catalogue: the slides that an account may see, as one list or grouped by dataset, and edits by administrators. */
export async function imageRoutes(
  app: FastifyInstance,
  { catalogue }: Pick<Services, 'catalogue'>,
): Promise<void> {
  const groups = catalogue.imageGroups;
  await app.register(async (compressedApp) => {
    await compressedApp.register(compress, compression);

    serve(compressedApp, listImages, async ({ query, caller, reply }) => {
      const etag = await catalogue.etagOf(query, caller.user);
      reply.header('ETag', etag);
      if (matchesEtag(etag, reply.request.headers['if-none-match'])) return unchanged; // 304
      const { limit } = query;
      // Without a limit, the response is the whole list. The server streams it, because it may be long.
      return limit === undefined
        ? new StreamedJson(await catalogue.listAll(query, caller.user))
        : catalogue.list({ ...query, limit }, caller.user);
    });

    serve(compressedApp, listImageGroups, async ({ query, caller, reply }) => {
      const etag = await groups.etagOf(query, caller.user);
      reply.header('ETag', etag);
      const isKnown = matchesEtag(etag, reply.request.headers['if-none-match']);
      return isKnown ? unchanged : groups.groups(query, caller.user);
    });

    // A row is an entry. Rows are numbered across all groups; `getImagePosition` returns the number of an entry's row.
    serve(compressedApp, listImageRows, ({ query, caller }) => groups.rows(query, caller.user));

    serve(compressedApp, getImagePosition, ({ params, query, caller }) =>
      groups.position(params.imageId, query, caller.user),
    );

    serve(compressedApp, getImage, async ({ params, caller }) => ({
      image: await catalogue.get(params.imageId, caller.user),
    }));
  });

  serve(app, updateImage, async ({ params, body, caller, origin }) => ({
    image: await catalogue.update(params.imageId, body, editorOf(caller, origin)),
  }));

  serve(app, deleteImage, ({ params, caller, origin }) =>
    catalogue.remove(params.imageId, editorOf(caller, origin)),
  );
}

/** Returns the administrator who edits an image, for the audit log. */
function editorOf({ user }: Caller, origin: Origin) {
  return { uid: user.uid, origin };
}
