import { useEffect, useId } from 'react';
import type { SlideView } from '../slide-view.ts';
import { type ColourAdjustment, isAsScanned } from './adjustment.ts';
import { ColourFilter } from './ColourFilter.tsx';
import type { ColourTable } from './colour-table.ts';

interface ShownColoursProps {
  readonly view: SlideView;
  readonly adjustment: ColourAdjustment;
  /** Null shows the colours as scanned. */
  readonly table: ColourTable | null;
}

/** Applies colour table and adjustment to the view; without WebGL, adjustments are an SVG filter that this component renders. */
export function ShownColours({ view, adjustment, table }: ShownColoursProps) {
  // Each slide of the page has its own colour filter.
  const id = `slide-colours-${useId()}`;
  const isFiltered = !isAsScanned(adjustment);
  useEffect(
    () => view.showColours({ adjustment, table }, isFiltered ? `url(#${id})` : ''),
    [view, adjustment, table, isFiltered, id],
  );
  return isFiltered && !view.adjustsColours ? <ColourFilter id={id} adjustment={adjustment} /> : null;
}
