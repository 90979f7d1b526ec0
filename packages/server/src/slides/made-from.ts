import type { DeepZoomAddress, SlideLocation } from '@lamina/slide';

/** The file, and what it was when somebody last looked: a picture of another file is never answered. */
export interface MadeFrom {
  readonly location: SlideLocation;
  readonly fingerprint: string;
}

/** Names the tile among the pictures of its slide. */
export const tileNameIn = ({ dziLevel, column, row }: DeepZoomAddress): string =>
  `${dziLevel}_${column}_${row}`;
