/** The worker of `CorrectingDecoder`: decodes tiles and corrects their colours outside the page's main thread. */
import type { ColourTable } from '../colours/colour-table.ts';
import { decodeCorrected } from './decode.ts';

/** Messages to the worker: a colour table, which applies to all tiles sent after it, or a tile. */
export type CorrectingMessage =
  | { readonly table: ColourTable }
  | { readonly id: number; readonly blob: Blob };

/** Messages from the worker, with the `id` of the message with which the page sent the tile. */
export type CorrectedTile =
  | { readonly id: number; readonly bitmap: ImageBitmap }
  /** The worker could not decode the tile; `name` and `message` are those of the error. */
  | { readonly id: number; readonly name: string; readonly message: string };

/** The global object of this worker, typed with its messages. */
const scope = self as unknown as {
  onmessage: (event: MessageEvent<CorrectingMessage>) => void;
  postMessage(tile: CorrectedTile, transfer?: readonly Transferable[]): void;
};
/** The last received colour table; null before the first one. */
let table: ColourTable | null = null;

scope.onmessage = ({ data }) => {
  if ('table' in data) {
    table = data.table;
    return;
  }
  const { id, blob } = data;
  if (table === null) return; // never happens: the page sends a table before the first tile
  decodeCorrected(blob, table).then(
    (bitmap) => scope.postMessage({ id, bitmap }, [bitmap]), // transferred, not copied
    ({ name, message }: Error) => scope.postMessage({ id, name, message }),
  );
};
