/**
 * React context through which the viewer reads and writes, in the page's URL, the arrangement of result layers (order,
 * visibility and style of computed objects, masks and heatmaps). Without a provider, the viewer stores nothing.
 */
import { createContext } from 'react';

export interface ArrangementMemory {
  /** Returns the stored text, as `formatArrangement` formats it; null: nothing is stored. The text is untrusted input. */
  readonly read: () => string | null;
  /** Stores the text of an arrangement. @param imageId the slide to which the arranged layers belong */
  readonly write: (imageId: string, text: string) => void;
  /** Changes when the back or forward button of the browser has changed the stored text. */
  readonly historyStep: string;
}

const noMemory: ArrangementMemory = { read: () => null, write: () => undefined, historyStep: '' };

export const ArrangementMemoryContext = createContext<ArrangementMemory>(noMemory);
