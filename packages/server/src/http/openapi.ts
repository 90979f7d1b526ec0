/** Converts the contract to an OpenAPI 3.1 document. */
import {
  apiBase,
  type DocumentedParameter,
  type DocumentedResponse,
  declaredErrors,
  type Endpoint,
  ErrorBody,
  errors,
} from '@lamina/contract';
import { z } from 'zod';

type Json = { readonly [key: string]: unknown };

// Names of the security schemes in the document.
const bearer = 'bearerToken';
const imageSession = 'imageSession';
const apiToken = 'apiToken';

export function openApiDocument(endpoints: Readonly<Record<string, Endpoint>>): Json {
  const schemas: Record<string, Json> = {};
  const paths: Record<string, Record<string, Json>> = {};
  // Collects schemas with a name in `schemas` and returns a reference to them.
  const schemaOf: SchemaOf = (schema, io) => jsonSchemaOf(schema, io, schemas);
  for (const [name, endpoint] of Object.entries(endpoints)) {
    const pathTemplate = endpoint.path.replace(/:(\w+)/g, '{$1}').replace('*', '{path}');
    paths[pathTemplate] ??= {};
    paths[pathTemplate][endpoint.method.toLowerCase()] = operationOf(name, endpoint, schemaOf);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Slides, accounts and image sessions',
      version: 'v1',
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      description:
        'Errors carry a code that never changes its meaning and a sentence for the user. A 401 with `WWW-Authenticate: Bearer` ends the sign-in; one with `WWW-Authenticate: ImageSession` asks for a new image session.',
    },
    servers: [{ url: apiBase }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        [bearer]: { type: 'http', scheme: 'bearer' },
        [imageSession]: { type: 'apiKey', in: 'query', name: 'session' },
        [apiToken]: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API token, `lam_…`, with the scope that the call names',
        },
      },
    },
  };
}

/**
 * Converts a Zod schema to JSON Schema.
 *
 * @param io `input`: a request, in which fields with a default are optional; `output`: a response
 */
type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => Json;

function operationOf(name: string, endpoint: Endpoint, schemaOf: SchemaOf): Json {
  return {
    operationId: name,
    summary: endpoint.summary,
    description: accessSentence(endpoint),
    tags: [tagOf(endpoint.path)],
    security: securityOf(endpoint),
    parameters: [
      ...pathParameters(endpoint),
      ...queryParameters(endpoint, schemaOf),
      ...(endpoint.documented?.parameters ?? []).map((parameter) => documentedParameter(parameter, schemaOf)),
      ...(endpoint.hasEtag ? [documentedParameter(ifNoneMatch, schemaOf)] : []),
    ],
    ...(endpoint.body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaOf(endpoint.body, 'input') } },
      },
    }),
    ...(endpoint.upload && {
      requestBody: { required: true, content: { [endpoint.upload.contentType]: {} } },
    }),
    // The content type that the tus protocol prescribes for a part of a file.
    ...(endpoint.isStreamed && {
      requestBody: { required: true, content: { 'application/offset+octet-stream': {} } },
    }),
    responses: { ...successResponses(endpoint, schemaOf), ...errorResponses(endpoint, schemaOf) },
  };
}

/** What the document states about endpoints with an ETag. */
const etagHeader = { ETag: 'Identifies the content of the response' } as const;
const ifNoneMatch: DocumentedParameter = {
  name: 'If-None-Match',
  in: 'header',
  description:
    'ETags of the responses that the client has; the status is 304 when the current one is among them',
};
const unchangedResponse: DocumentedResponse = { description: 'The client has the current response' };

function accessSentence({ access, needsFreshSignIn, apiTokenScope, allowsVisitors }: Endpoint): string {
  if (access === 'anyone') return 'Anyone may call this.';
  if (access === 'reader-or-visitor') {
    return 'Needs the permission `catalogue.read`, or the image session of a share link.';
  }
  const scopeSentence = apiTokenScope === undefined ? '' : ` API tokens need the scope \`${apiTokenScope}\`.`;
  if (access === 'image-session') {
    return `Needs an image session; the bearer token of a sign-in does not open it.${scopeSentence}`;
  }
  const passwordSentence = needsFreshSignIn
    ? ' When the sign-in is older than 15 minutes, `current_password` is required.'
    : '';
  const orShareLink = allowsVisitors ? ', or the image session of a share link' : '';
  return `Needs the permission \`${access}\`${orShareLink}.${passwordSentence}${scopeSentence}`;
}

/** Returns the alternative credentials of an endpoint; an empty list means that it needs none. */
function securityOf({ access, path, apiTokenScope, allowsVisitors }: Endpoint): Json[] {
  // An image session in the path is documented as a path parameter, not as a security scheme.
  if (access === 'anyone' || path.includes(':sessionId/')) return [];
  if (access === 'reader-or-visitor') return [{ [bearer]: [] }, { [imageSession]: [] }];
  const mainCredential = { [access === 'image-session' ? imageSession : bearer]: [] };
  const visitorSession = allowsVisitors && access !== 'image-session' ? [{ [imageSession]: [] }] : [];
  return [
    mainCredential,
    ...visitorSession,
    ...(apiTokenScope === undefined ? [] : [{ [apiToken]: [apiTokenScope] }]),
  ];
}

/** Headings of the documentation, by the start of the path. The first match counts, so a longer start precedes a shorter one. */
const tags: readonly (readonly [start: string, tag: string])[] = [
  ['/auth/image-session', 'Image sessions'],
  ['/auth', 'Signing in'],
  ['/user/recent-annotations', 'Annotations'],
  ['/user', 'Own account'],
  ['/admin', 'Administration'],
  ['/image-catalog/proxy', 'Pixels'],
  ['/image-catalog/overlays', 'Pixels'],
  ['/image-catalog/annotation-counts', 'Annotations'],
  ['/annotation-layers', 'Annotations'],
  ['/result-layers', 'Results'],
  ['/datasets', 'Annotations'], // the annotation classes of a dataset
  ['/image-catalog', 'Catalogue'],
  ['/iiif', 'IIIF'],
  ['/dicom-web', 'DICOMweb'],
];

function tagOf(path: string): string {
  return tags.find(([start]) => path.startsWith(start))?.[1] ?? 'Other';
}

function pathParameters({ path }: Endpoint): Json[] {
  // A `*` has no name; the document calls it `path`.
  return [...path.matchAll(/:(\w+)|\*/g)].map(([, name = 'path']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: Endpoint, schemaOf: SchemaOf): Json[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  // OpenAPI expects the description of a parameter beside its schema, not inside.
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

function documentedParameter(parameter: DocumentedParameter, schemaOf: SchemaOf): Json {
  const { name, in: place, description, schema, isRequired = false } = parameter;
  const jsonSchema = schema === undefined ? { type: 'string' } : schemaOf(schema, 'input');
  return { name, in: place, required: isRequired, description, schema: jsonSchema };
}

function successResponses({ response, status, documented, hasEtag }: Endpoint, schemaOf: SchemaOf): Json {
  const type = typeof response === 'string' ? response : 'application/json';
  const schema = typeof response === 'string' ? null : response;
  const described: Readonly<Record<number, DocumentedResponse>> = documented?.responses ?? {
    [status]: { description: 'Done', ...(response !== null && { content: { [type]: schema } }) },
  };
  return Object.fromEntries(
    Object.entries({ ...described, ...(hasEtag && { 304: unchangedResponse }) }).map(([code, answer]) => {
      const headers = { ...(hasEtag && etagHeader), ...answer.headers };
      const hasHeaders = Object.keys(headers).length > 0;
      return [code, documentedResponse({ ...answer, ...(hasHeaders && { headers }) }, schemaOf)];
    }),
  );
}

function documentedResponse({ description, content, headers }: DocumentedResponse, schemaOf: SchemaOf): Json {
  return {
    description,
    ...(content && {
      content: Object.fromEntries(
        Object.entries(content).map(([type, schema]) => [
          type,
          schema === null ? {} : { schema: schemaOf(schema, 'output') },
        ]),
      ),
    }),
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, sentence]) => [
          name,
          { description: sentence, schema: { type: 'string' } },
        ]),
      ),
    }),
  };
}

/** Returns one error response for each status, in ascending order, with all error codes of this status in the description. */
function errorResponses(endpoint: Endpoint, schemaOf: SchemaOf): Json {
  const schema = schemaOf(ErrorBody, 'output');
  const byStatus = Map.groupBy(declaredErrors(endpoint), (code) => errors[code].status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [
        status,
        {
          description: codes.map((code) => `\`${code}\`: ${errors[code].en}`).join('\n\n'),
          content: { 'application/json': { schema } },
        },
      ]),
  );
}

/** The JSON Schema that Zod returns: `$defs` contains the definitions of the named schemas within it. */
type SchemaWithDefinitions = { $schema?: string; $defs?: Record<string, Json> } & Json;

/** Converts a schema to JSON Schema. Schemas with a name are stored in `named` and replaced by references. */
function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output', named: Record<string, Json>): Json {
  const converted = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: withNamedKeys });
  const { $schema: _, $defs = {}, ...inline } = withDocumentReferences(converted) as SchemaWithDefinitions;
  for (const [id, definition] of Object.entries($defs)) named[id] = withoutId(definition);
  const id = schema.meta()?.id;
  // Zod may return a named schema as a reference to its own definition, which is among `$defs`.
  if (id === undefined || '$ref' in inline) return inline;
  named[id] = withoutId(inline);
  return { $ref: `#/components/schemas/${id}` };
}

/** Changes, in place, the schema of a record with fixed keys, such as counts by status, to the schema of an object with these keys. */
function withNamedKeys({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { propertyNames, required, additionalProperties } = jsonSchema;
  if (propertyNames === undefined || required === undefined || additionalProperties === undefined) return;
  jsonSchema.properties = Object.fromEntries(required.map((key) => [key, additionalProperties]));
  jsonSchema.additionalProperties = false;
  delete jsonSchema.propertyNames;
}

function withoutId(schema: Json): Json {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'id'));
}

/** Replaces references within the schema by references to the schemas of the document. */
function withDocumentReferences(schema: unknown): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
}
