import compress from '@fastify/compress';
import { deleteImage, getImage, listImages, updateImage } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import type { Origin } from '../audit.ts';
import type { Caller } from '../http/access.ts';
import { compressing } from '../http/compressing.ts';
import { StreamedJson, serve, unchanged } from '../http/serve.ts';
import type { Services } from '../services.ts';

export async function imageRoutes(
  app: FastifyInstance,
  { catalogue }: Pick<Services, 'catalogue'>,
): Promise<void> {
  await app.register(async (compressed) => {
    await compressed.register(compress, compressing); // the whole list of a large catalogue is megabytes

    serve(compressed, listImages, async ({ query, caller, reply }) => {
      const etag = await catalogue.etagOf(query, caller.user);
      reply.header('ETag', etag);
      if (reply.request.headers['if-none-match'] === etag) return unchanged;
      const { limit } = query;
      return limit === undefined
        ? new StreamedJson(await catalogue.listAll(query, caller.user))
        : catalogue.list({ ...query, limit }, caller.user);
    });

    serve(compressed, getImage, async ({ params, caller }) => ({
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

function editorOf({ user }: Caller, origin: Origin) {
  return { uid: user.uid, origin };
}
