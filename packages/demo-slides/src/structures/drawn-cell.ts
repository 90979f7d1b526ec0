import type { PlacedStamp } from '../stain/stamp.ts';

/** Classes of immune cells; the result files of a demonstration slide contain the outlines of their nuclei. */
export type ImmuneClass = 'Lymphocyte' | 'Plasma cell' | 'Eosinophil' | 'Follicle centre cell';

/** An immune cell that was drawn on the slide. */
export interface DrawnCell extends PlacedStamp {
  readonly immuneClass: ImmuneClass;
}
