/** Reads a list of features while it arrives, so that the first annotations are drawn before the last ones are here. */

/** The features of a layer as the server sends them, not yet checked. */
export interface FeatureBatch {
  readonly features: readonly unknown[];
  /** Display names by uid. */
  readonly authors: Readonly<Record<string, string>>;
  /** Of the layer. */
  readonly version: number;
}

const listStart = '"features":[';
/** Ends one feature and begins the next: inside a text the quotation marks would be escaped. */
const boundary = '},{"type":"Feature"';

/**
 * Yields the features of a FeatureCollection in parts.
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
  let head: Partial<FeatureBatch> | null = null;
  let text = '';
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += decoder.decode(part.value, { stream: true });
      if (head === null) {
        const start = text.indexOf(listStart);
        if (start < 0) continue;
        head = JSON.parse(`${text.slice(0, start + listStart.length)}]}`) as Partial<FeatureBatch>;
        text = text.slice(start + listStart.length);
      }
      const end = text.lastIndexOf(boundary);
      if (end < 0) continue;
      const features = JSON.parse(`[${text.slice(0, end + 1)}]`) as unknown[];
      text = text.slice(end + 2);
      yield batchOf({ ...head, features });
    }
    const rest = head === null ? text : `{${listStart}${text}`;
    yield batchOf({ ...head, ...(JSON.parse(rest) as Partial<FeatureBatch>) });
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
