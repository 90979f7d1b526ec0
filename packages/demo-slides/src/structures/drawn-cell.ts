import type { PlacedStamp } from '../stain/stamp.ts';

/** Cells of the immune system, which the demonstration results show. */
export type ImmuneClass = 'Lymphocyte' | 'Plasma cell' | 'Eosinophil' | 'Follicle centre cell';

/** A cell that was drawn. */
export interface DrawnCell extends PlacedStamp {
  readonly name: ImmuneClass;
}
