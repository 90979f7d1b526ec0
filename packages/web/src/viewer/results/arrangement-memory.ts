/** React context through which the viewer reads and writes the arrangement of result layers in the page's URL. Without a provider nothing is stored. */
import { createContext } from 'react';

export interface ArrangementMemory {
  /** Returns the stored text of `formatArrangement`; null: nothing is stored. The text is untrusted. */
  readonly read: () => string | null;
  /** Stores a text. @param imageId the slide whose layers it arranges */
  readonly write: (imageId: string, text: string) => void;
  /** Changes when the back or forward button of the browser has changed the stored text. */
  readonly historyStep: string;
}

const noMemory: ArrangementMemory = { read: () => null, write: () => undefined, historyStep: '' };

export const ArrangementMemoryContext = createContext<ArrangementMemory>(noMemory);
