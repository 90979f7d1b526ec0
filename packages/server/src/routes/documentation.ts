/** The API's documentation: as a document for programs, and readable. */
import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { apiBase, endpoints } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../http/openapi.ts';

/** Where the readable form is; every address below it is open to anyone. */
export const documentationBase = '/api/docs';

export async function documentationRoutes(app: FastifyInstance): Promise<void> {
  const document = openApiDocument(endpoints);
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
