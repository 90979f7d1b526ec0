/** React context that stores the arrangement of result layers, in the page's URL. Without a provider nothing is stored. */
import { createContext } from 'react';

export interface ArrangementMemory {
  /** The text of `formatArrangement`; null: nothing is kept. It may be hostile. */
  readonly read: () => string | null;
  readonly write: (imageId: string, text: string) => void;
  /** Another one when the browser's back and forward have changed what is kept. */
  readonly occasion: string;
}

const none: ArrangementMemory = { read: () => null, write: () => undefined, occasion: '' };

export const ArrangementMemoryContext = createContext<ArrangementMemory>(none);
