import { useEffect, useId } from 'react';
import type { SlideView } from '../slide-view.ts';
import { type ColourAdjustment, isAsScanned } from './adjustment.ts';
import { ColourFilter } from './ColourFilter.tsx';
import type { ColourTable } from './colour-table.ts';

interface ShownColoursProps {
  readonly view: SlideView;
  readonly adjustment: ColourAdjustment;
  /** Corrects the scanner's colours; null leaves them as scanned. */
  readonly table: ColourTable | null;
}

/**
 * Gives the view the colour table of the slide and the adjustment of the user. A view without WebGL cannot apply the adjustment
 * itself: this component then renders an SVG filter for it.
 */
export function ShownColours({ view, adjustment, table }: ShownColoursProps) {
  // Each slide of the page has its own colour filter.
  const id = `slide-colours-${useId()}`;
  const isFiltered = !isAsScanned(adjustment);
  const cssFilter = isFiltered ? `url(#${id})` : ''; // a view with WebGL ignores the filter
  useEffect(() => view.showColours({ adjustment, table }, cssFilter), [view, adjustment, table, cssFilter]);
  return isFiltered && !view.adjustsColours ? <ColourFilter id={id} adjustment={adjustment} /> : null;
}
