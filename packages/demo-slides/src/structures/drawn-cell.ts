import type { PlacedStamp } from '../stain/stamp.ts';

/** Classes of the immune cells that the results beside a demonstration slide outline. */
export type ImmuneClass = 'Lymphocyte' | 'Plasma cell' | 'Eosinophil' | 'Follicle centre cell';

/** An immune cell that was drawn on the slide. */
export interface DrawnCell extends PlacedStamp {
  readonly name: ImmuneClass;
}
