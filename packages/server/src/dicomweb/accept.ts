/** Content negotiation of DICOMweb: chooses the form of a response from the Accept header (DICOM PS3.18 section 8.7). */
import { AppError } from '@lamina/contract';
import { type MediaRange, mediaRangesOf } from '../domain/media-ranges.ts';

/** Parses the Accept header. @throws AppError not_acceptable for more than 2048 characters */
function rangesOf(accept: string | undefined): readonly MediaRange[] {
  const ranges = mediaRangesOf(accept);
  if (ranges === null) throw new AppError('not_acceptable');
  return ranges;
}

/** Checks that the client accepts DICOM JSON. @throws AppError not_acceptable */
export function requireJson(accept: string | undefined): void {
  const isAccepted = rangesOf(accept).some(({ type }) =>
    ['*/*', 'application/*', 'application/json', 'application/dicom+json'].includes(type),
  );
  if (!isAccepted) throw new AppError('not_acceptable');
}

/** Checks that the client accepts JPEG. @throws AppError not_acceptable */
export function requireJpeg(accept: string | undefined): void {
  const isAccepted = rangesOf(accept).some(({ type }) => ['*/*', 'image/*', 'image/jpeg'].includes(type));
  if (!isAccepted) throw new AppError('not_acceptable');
}

/** The form of a response with bulk data (frames or an ICC profile). */
export interface BulkForm {
  /** False: the body contains only the bytes. */
  readonly isMultipart: boolean;
  /** Media type of each part of a multipart body, or of the whole body. */
  readonly type: string;
}

/** Returns a name of the form for ETags, such as `parts-jpeg`: the responses of one URL in different forms have different bytes. */
export const formNameOf = ({ isMultipart, type }: BulkForm) =>
  `${isMultipart ? 'parts' : 'one'}-${type.slice(type.indexOf('/') + 1)}`;

/**
 * Chooses the form of a response with bulk data: the media range that the client prefers among those that the server can satisfy. A
 * transfer syntax is the encoding of the pixels. A media range that names no transfer syntax accepts the encoding in the slide file.
 *
 * @param offered.types media types by which the bytes can be sent, the preferred one first
 * @param offered.transferSyntax UID of the transfer syntax of a frame; null for other data
 * @param offered.mayBeSingle whether there is only one part, which can be sent without a multipart body
 * @throws AppError not_acceptable
 */
export function bulkFormOf(
  accept: string | undefined,
  offered: {
    readonly types: readonly string[];
    readonly transferSyntax: string | null;
    readonly mayBeSingle: boolean;
  },
): BulkForm {
  const { types, transferSyntax, mayBeSingle } = offered;
  const [preferred = 'application/octet-stream'] = types;
  const firstMatchOf = (range: string) => types.find((type) => isInRange(type, range));
  for (const { type, parameters } of rangesOf(accept)) {
    const acceptedSyntax = parameters.get('transfer-syntax');
    const isOtherSyntax =
      acceptedSyntax !== undefined && acceptedSyntax !== '*' && acceptedSyntax !== transferSyntax;
    if (isOtherSyntax) continue;
    if (type === '*/*') return { isMultipart: true, type: preferred }; // multipart is the usual form in DICOMweb
    if (type === 'multipart/related' || type === 'multipart/*') {
      const partType = firstMatchOf(parameters.get('type')?.toLowerCase() ?? preferred);
      if (partType !== undefined) return { isMultipart: true, type: partType };
    }
    const singleType = mayBeSingle ? firstMatchOf(type) : undefined;
    if (singleType !== undefined) return { isMultipart: false, type: singleType };
  }
  throw new AppError('not_acceptable');
}

/** Returns whether a media type is in a range: the type itself, a wildcard such as `image/*`, or any type. */
function isInRange(type: string, range: string): boolean {
  if (range === '*/*' || range === type) return true;
  return range.endsWith('/*') && type.startsWith(range.slice(0, -1));
}
