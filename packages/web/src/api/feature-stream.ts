/** Parses a list of annotations (GeoJSON features) while it arrives, so that the viewer draws the first ones early. */

/** Features of a layer as the server sends them, not yet validated. */
export interface FeatureBatch {
  readonly features: readonly unknown[];
  /** Display name of each author, by account id (uid). */
  readonly authors: Readonly<Record<string, string>>;
  /** Version of the layer. */
  readonly version: number;
}

const listStart = '"features":[';
/** End of one feature and start of the next. It cannot occur inside a string of a feature, because strings escape quotation marks. */
const boundary = '},{"type":"Feature"';

/**
 * Yields the features of a GeoJSON FeatureCollection in batches.
 *
 * @throws SyntaxError when the list is incomplete
 */
export async function* readFeatures(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<FeatureBatch, void, undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const batchOf = ({ features = [], authors = {}, version = 0 }: Partial<FeatureBatch>): FeatureBatch => ({
    features,
    authors,
    version,
  });
  /** The fields before the list of features; null until they are received. */
  let head: Partial<FeatureBatch> | null = null;
  /** The text received but not parsed yet. */
  let text = '';
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      text += decoder.decode(chunk.value, { stream: true });
      if (head === null) {
        const start = text.indexOf(listStart);
        if (start < 0) continue;
        // `]}` closes the list, which is still empty, and the FeatureCollection.
        head = JSON.parse(`${text.slice(0, start + listStart.length)}]}`) as Partial<FeatureBatch>;
        text = text.slice(start + listStart.length);
      }
      // Parses the features up to the `}` of the last boundary; the remaining text begins after its comma.
      const boundaryStart = text.lastIndexOf(boundary);
      if (boundaryStart < 0) continue;
      const features = JSON.parse(`[${text.slice(0, boundaryStart + 1)}]`) as unknown[];
      text = text.slice(boundaryStart + 2);
      yield batchOf({ ...head, features });
    }
    // The remaining text has the last features and the fields after the list; it is the whole response if there was no list.
    const remainder = head === null ? text : `{${listStart}${text}`;
    yield batchOf({ ...head, ...(JSON.parse(remainder) as Partial<FeatureBatch>) });
  } finally {
    // Ends the request when the caller stops before the end of the stream.
    void reader.cancel().catch(() => undefined);
  }
}
