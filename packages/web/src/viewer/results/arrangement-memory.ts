/** Where the arrangement of result layers is kept: in the page's address. Without a provider it is not kept. */
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
