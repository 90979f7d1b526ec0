/** Routes of the API's documentation: the OpenAPI document, and pages that show it. */
import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { apiBase, endpoints } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../http/openapi.ts';

/** Base path of the pages; every address below it is public. */
export const documentationBase = '/api/docs';

/** The same for every server of a process. To create it takes a tenth of a second of a processor. */
let document: ReturnType<typeof openApiDocument> | null = null;

export async function documentationRoutes(app: FastifyInstance): Promise<void> {
  document ??= openApiDocument(endpoints);
  app.get(`${apiBase}/openapi.json`, { config: { open: true } }, (_, reply) =>
    reply.header('Cache-Control', 'no-cache').send(document),
  );
  await app.register(swagger, {
    mode: 'static',
    // Its types stop at OpenAPI 3.0.
    specification: { document: document as unknown as NonNullable<StaticDocumentSpec['document']> },
  });
  await app.register(swaggerUi, {
    routePrefix: documentationBase,
    theme: { title: 'API' },
    uiConfig: { deepLinking: true, defaultModelsExpandDepth: 0, supportedSubmitMethods: [] },
  });
}
