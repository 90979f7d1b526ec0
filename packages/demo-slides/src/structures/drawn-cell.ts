import type { PlacedStamp } from '../stain/stamp.ts';

/** Classes of immune cells, which the results of the demonstration slide outline. */
export type ImmuneClass = 'Lymphocyte' | 'Plasma cell' | 'Eosinophil' | 'Follicle centre cell';

/** An immune cell that was drawn on the slide. */
export interface DrawnCell extends PlacedStamp {
  readonly name: ImmuneClass;
}
