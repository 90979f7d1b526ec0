/** Routes of the API's documentation: the OpenAPI document, and pages that show it. */
import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { apiBase, endpoints } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../http/openapi.ts';

/** Base path of the HTML pages; every path below it needs no credential. */
export const documentationBase = '/api/docs';

/** The OpenAPI document. All servers of a process share it, because creating it takes 0.1 s of CPU time. */
let document: ReturnType<typeof openApiDocument> | null = null;

export async function documentationRoutes(app: FastifyInstance): Promise<void> {
  document ??= openApiDocument(endpoints);
  app.get(`${apiBase}/openapi.json`, { config: { isPublic: true } }, (_, reply) =>
    reply.header('Cache-Control', 'no-cache').send(document),
  );
  await app.register(swagger, {
    mode: 'static',
    // The document is OpenAPI 3.1, but the types of the library only cover OpenAPI 3.0.
    specification: { document: document as unknown as NonNullable<StaticDocumentSpec['document']> },
  });
  await app.register(swaggerUi, {
    routePrefix: documentationBase,
    theme: { title: 'API' },
    // `supportedSubmitMethods` is empty, so the pages only describe the endpoints and have no button that calls them.
    uiConfig: { deepLinking: true, defaultModelsExpandDepth: 0, supportedSubmitMethods: [] },
  });
}
