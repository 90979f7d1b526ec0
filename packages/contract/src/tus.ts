/** The headers of tus, a protocol for resumable uploads (tus.io, version 1.0.0), for the OpenAPI document. */
import { z } from 'zod';
import type { DocumentedParameter, Endpoint } from './endpoint.ts';

type Documented = NonNullable<Endpoint['documented']>;

const byteCount = z.number().int().min(0);
const versionHeader = { 'Tus-Resumable': 'Version of the protocol: `1.0.0`' } as const;
const offsetHeader = { 'Upload-Offset': 'Number of bytes that the server has received' } as const;

const uploadLength = {
  name: 'Upload-Length',
  in: 'header',
  description: 'Size of the file in bytes',
  schema: byteCount,
} as const satisfies DocumentedParameter;

/** The request that creates the file of an upload. @param metadata describes `Upload-Metadata`; undefined if the endpoint ignores it */
export function tusCreation(metadata?: string): Documented {
  const metadataParameter = {
    name: 'Upload-Metadata',
    in: 'header',
    description: metadata ?? '',
    isRequired: true,
  } as const;
  return {
    parameters: [
      { ...uploadLength, isRequired: true },
      ...(metadata === undefined ? [] : [metadataParameter]),
    ],
    responses: {
      201: {
        description: 'Done',
        headers: { ...versionHeader, Location: 'Path to which the parts of the file are sent' },
      },
    },
  };
}

/** The request for the state of a file. @param body schema of the response @param extraHeaders further headers of the response */
export function tusState(body: z.ZodType, extraHeaders: Readonly<Record<string, string>> = {}): Documented {
  const headers = {
    ...versionHeader,
    ...offsetHeader,
    'Upload-Length': 'Size of the file in bytes',
    ...extraHeaders,
  };
  return { responses: { 200: { description: 'Done', content: { 'application/json': body }, headers } } };
}

/** The request with a part of a file. @param options.mayStateLength the endpoint reads `Upload-Length` with the first part */
export function tusPart({ mayStateLength = false } = {}): Documented {
  return {
    parameters: [
      { name: 'Tus-Resumable', in: 'header', description: versionHeader['Tus-Resumable'], isRequired: true },
      {
        name: 'Upload-Offset',
        in: 'header',
        description:
          'Position of the first byte of the part in the file: the number of bytes that the server has received',
        schema: byteCount,
        isRequired: true,
      },
      ...(mayStateLength ? [uploadLength] : []),
    ],
    responses: { 204: { description: 'Done', headers: { ...versionHeader, ...offsetHeader } } },
  };
}
