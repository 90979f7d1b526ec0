import type { RasterDescriptor, VectorDescriptor } from '@lamina/contract';
import { useEffect, useState } from 'react';
import { loadValue, pickObject } from '../../api/results.ts';
import { formatFigure } from '../../formatting/numbers.ts';
import { toImage, zoomOf } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';
import { texts } from './texts.ts';

/** The value is requested when the pointer has not moved for this time. */
const restMs = 150;
/** Objects up to this far from the pointer are picked, in CSS pixels. */
const pickPixels = 6;
const mostMeasurements = 4;

/**
 * Returns what the layer has under the resting pointer, in words; null: the pointer has not rested on the slide yet.
 *
 * @param descriptorAt returns the layer at a place of the view, 0 to 1 from the left; null: nothing is read
 */
export function useReadout(
  view: SlideView,
  descriptorAt: ((share: number) => RasterDescriptor | VectorDescriptor | null) | null,
): string | null {
  const [read, setRead] = useState<{ readonly from: unknown; readonly text: string } | null>(null);
  useEffect(() => {
    if (descriptorAt === null) return;
    const element = view.element();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let request = new AbortController();
    const onMove = ({ clientX, clientY }: PointerEvent) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const placement = view.placement();
        const { left, top, width } = element.getBoundingClientRect();
        const descriptor = descriptorAt(width === 0 ? 0 : (clientX - left) / width);
        if (placement === null || descriptor === null) return;
        request.abort();
        request = new AbortController();
        const position = toImage(placement, { x: clientX - left, y: clientY - top });
        const tolerance = pickPixels / zoomOf(placement);
        const { signal } = request;
        describe(descriptor, { ...position, tolerance }, signal).then(
          (text) => {
            if (!signal.aborted) setRead({ from: descriptorAt, text });
          },
          () => undefined, // the last readout stays
        );
      }, restMs);
    };
    element.addEventListener('pointermove', onMove);
    return () => {
      element.removeEventListener('pointermove', onMove);
      clearTimeout(timer);
      request.abort();
    };
  }, [view, descriptorAt]);
  return read !== null && read.from === descriptorAt ? read.text : null;
}

async function describe(
  descriptor: RasterDescriptor | VectorDescriptor,
  { x, y, tolerance }: { readonly x: number; readonly y: number; readonly tolerance: number },
  signal: AbortSignal,
): Promise<string> {
  if (descriptor.kind === 'raster') {
    const value = await loadValue(descriptor.id, { x, y }, signal);
    if (value === null) return texts.noValue;
    const category = descriptor.categories?.find((each) => each.value === value);
    return texts.value(
      category === undefined ? formatFigure(value) : `${category.name} (${formatFigure(value)})`,
    );
  }
  const object = await pickObject(descriptor.id, { x, y, tolerance }, signal);
  if (object === null) return texts.noValue;
  const measurements = Object.entries(object.measurements)
    .slice(0, mostMeasurements)
    .map(([name, value]) => `${name}: ${formatFigure(value)}`);
  return [object.class.name, ...measurements].join(' · ');
}
