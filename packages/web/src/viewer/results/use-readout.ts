/** Describes what a result layer (objects, a mask or a heatmap that a program computed) shows under the pointer. */
import type { RasterDescriptor, VectorDescriptor } from '@lamina/contract';
import { useEffect, useState } from 'react';
import { loadValue, pickObject } from '../../api/results.ts';
import { formatMeasuredValue } from '../../formatting/numbers.ts';
import { toImage, zoomOf } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';
import { texts } from './texts.ts';

/** The value under the pointer is requested when neither the pointer nor the view has moved for this time. */
const hoverDelayMs = 150;
/** Maximum distance between the pointer and the object that the text describes, in CSS pixels. */
const pickRadius = 6;
/** Maximum number of measurements in the description of an object. */
const maxMeasurements = 4;

/**
 * Returns a text that describes the value or object of a result layer under the pointer. Returns null when the value could not be read,
 * and until the pointer has rested on the slide for the first time since `descriptorAt` changed.
 *
 * @param descriptorAt returns the layer shown at a horizontal position of the view, 0 to 1 from the left, because a divider may
 *   separate two compared layers; null where there is none. If `descriptorAt` itself is null, nothing is read
 */
export function useReadout(
  view: SlideView,
  descriptorAt: ((viewX: number) => RasterDescriptor | VectorDescriptor | null) | null,
): string | null {
  /** The last text, and the `descriptorAt` with which it was read (`source`): when the layers change, the text is outdated. */
  const [readout, setReadout] = useState<{ readonly source: unknown; readonly text: string } | null>(null);
  useEffect(() => {
    if (descriptorAt === null) return;
    const element = view.element();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let request = new AbortController();
    /** Where the pointer was last over the slide, in CSS pixels of the window; null before it is there. */
    let pointer: { readonly clientX: number; readonly clientY: number } | null = null;
    const scheduleRead = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (pointer === null) return;
        const { clientX, clientY } = pointer;
        const placement = view.placement();
        const { left, top, width } = element.getBoundingClientRect();
        const descriptor = descriptorAt(width === 0 ? 0 : (clientX - left) / width);
        if (placement === null || descriptor === null) return;
        request.abort();
        request = new AbortController();
        const position = toImage(placement, { x: clientX - left, y: clientY - top });
        const tolerance = pickRadius / zoomOf(placement);
        const { signal } = request;
        describe(descriptor, { ...position, tolerance }, signal).then(
          (text) => {
            if (!signal.aborted) setReadout({ source: descriptorAt, text });
          },
          () => {
            if (!signal.aborted) setReadout(null);
          },
        );
      }, hoverDelayMs);
    };
    const onMove = ({ clientX, clientY }: PointerEvent) => {
      pointer = { clientX, clientY };
      scheduleRead();
    };
    element.addEventListener('pointermove', onMove);
    // The wheel and the keyboard can move the slide under a resting pointer.
    const stopWatching = view.watch(scheduleRead);
    return () => {
      element.removeEventListener('pointermove', onMove);
      stopWatching();
      clearTimeout(timer);
      request.abort();
    };
  }, [view, descriptorAt]);
  return readout !== null && readout.source === descriptorAt ? readout.text : null;
}

/** Loads the value or object at a position and describes it. Position and tolerance are in image pixels. */
async function describe(
  descriptor: RasterDescriptor | VectorDescriptor,
  { x, y, tolerance }: { readonly x: number; readonly y: number; readonly tolerance: number },
  signal: AbortSignal,
): Promise<string> {
  if (descriptor.kind === 'raster') {
    const value = await loadValue(descriptor.id, { x, y }, signal);
    if (value === null) return texts.noValue;
    const category = descriptor.categories?.find((candidate) => candidate.value === value);
    return texts.value(
      category === undefined
        ? formatMeasuredValue(value)
        : `${category.name} (${formatMeasuredValue(value)})`,
    );
  }
  const object = await pickObject(descriptor.id, { x, y, tolerance }, signal);
  if (object === null) return texts.noValue;
  const measurements = Object.entries(object.measurements)
    .slice(0, maxMeasurements)
    .map(([name, value]) => `${name}: ${formatMeasuredValue(value)}`);
  return [object.class.name, ...measurements].join(' · ');
}
