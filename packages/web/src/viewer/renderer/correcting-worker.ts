/** The thread of correcting-decoder.ts: the page stays usable while tiles are corrected. */
import type { ColourTable } from '../colours/colour-table.ts';
import { decodeCorrected } from './decode.ts';

/** A table applies to all tiles that are sent after it. */
export type CorrectingOrder = { readonly table: ColourTable } | { readonly id: number; readonly blob: Blob };

export type CorrectedTile =
  | { readonly id: number; readonly bitmap: ImageBitmap }
  /** `name` and `message` of the DOMException or Error. */
  | { readonly id: number; readonly name: string; readonly message: string };

const scope = self as unknown as {
  onmessage: (event: MessageEvent<CorrectingOrder>) => void;
  postMessage(answer: CorrectedTile, transfer?: readonly Transferable[]): void;
};
let table: ColourTable | null = null;

scope.onmessage = ({ data }) => {
  if ('table' in data) {
    table = data.table;
    return;
  }
  const { id, blob } = data;
  if (table === null) return;
  decodeCorrected(blob, table).then(
    (bitmap) => scope.postMessage({ id, bitmap }, [bitmap]),
    ({ name, message }: Error) => scope.postMessage({ id, name, message }),
  );
};
